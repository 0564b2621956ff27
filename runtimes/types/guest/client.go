package guest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"strconv"
	"strings"
)

// client calls the compiler over JSON-RPC 2.0. A header with Content-Length precedes each message.
type client struct {
	in       io.Writer
	out      *bufio.Reader
	last     int
	snapshot int
	project  string
}

// refusal is the error in an answer of the compiler.
type refusal struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (r *refusal) Error() string { return r.Message }

// maxMessage is the size limit of one answer in bytes.
const maxMessage = 64 << 20

// ask calls a method of the compiler for the open project.
func (c *client) ask(method string, params map[string]any, answer any) error {
	all := map[string]any{"snapshot": c.snapshot, "project": c.project}
	maps.Copy(all, params)
	return c.call(method, all, answer)
}

func (c *client) call(method string, params, answer any) error {
	c.last++
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": c.last, "method": method, "params": params})
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(c.in, "Content-Length: %d\r\n\r\n%s", len(text), text); err != nil {
		return err
	}
	for {
		text, err := c.read()
		if err != nil {
			return fmt.Errorf("%s: %w", method, err)
		}
		var said struct {
			ID     int             `json:"id"`
			Method string          `json:"method"`
			Result json.RawMessage `json:"result"`
			Error  *refusal        `json:"error"`
		}
		if err := json.Unmarshal(text, &said); err != nil {
			return fmt.Errorf("%s: %w", method, err)
		}
		switch {
		case said.Method != "" || said.ID != c.last: // a notification, such as a log message
		case said.Error != nil:
			return fmt.Errorf("%s: %w", method, said.Error)
		case answer == nil || len(said.Result) == 0:
			return nil
		default:
			return json.Unmarshal(said.Result, answer)
		}
	}
}

func (c *client) read() ([]byte, error) {
	length := -1
	for {
		line, err := c.out.ReadString('\n')
		if err != nil {
			return nil, err
		}
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if name == "" {
			break
		}
		if strings.EqualFold(name, "Content-Length") {
			if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil {
				return nil, err
			}
		}
	}
	if length < 0 || length > maxMessage {
		return nil, errors.New("a message of the compiler has no valid Content-Length")
	}
	text := make([]byte, length)
	_, err := io.ReadFull(c.out, text)
	return text, err
}

// kind is a type of the program, in the form of the compiler's API.
type kind struct {
	ID            int             `json:"id"`
	Flags         uint            `json:"flags"`
	ObjectFlags   uint            `json:"objectFlags"`
	Value         json.RawMessage `json:"value"`
	Texts         []string        `json:"texts"`
	ElementFlags  []int           `json:"elementFlags"`
	Target        int             `json:"target"`
	Symbol        int             `json:"symbol"`
	AliasSymbol   int             `json:"aliasSymbol"`
	IntrinsicName string          `json:"intrinsicName"`
}

// symbol is a named declaration in the program, in the form of the compiler's API.
type symbol struct {
	ID           int      `json:"id"`
	Name         string   `json:"name"`
	Flags        uint     `json:"flags"`
	Declarations []string `json:"declarations"` // handles of the declarations; each ends in a dot and the path of its file
}

// file returns the path of the symbol's first declaration.
func (s symbol) file() string {
	if len(s.Declarations) == 0 {
		return ""
	}
	parts := strings.SplitN(s.Declarations[0], ".", 3)
	return parts[len(parts)-1]
}

// signature is a call signature of a function.
type signature struct {
	ID         int   `json:"id"`
	Parameters []int `json:"parameters"`
}

// diagnostic is an error that the compiler reports for the program.
type diagnostic struct {
	File string `json:"fileName"`
	Pos  int    `json:"pos"` // UTF-16 offset
	Code int    `json:"code"`
	Text string `json:"text"`
}

// Flags of types and symbols.
const (
	isAny             = 1 << 0
	isUnknown         = 1 << 1
	isUndefined       = 1 << 2
	isNull            = 1 << 3
	isVoid            = 1 << 4
	isString          = 1 << 5
	isNumber          = 1 << 6
	isBigInt          = 1 << 7
	isBoolean         = 1 << 8
	isStringLiteral   = 1 << 10
	isNumberLiteral   = 1 << 11
	isBooleanLiteral  = 1 << 13
	isNonPrimitive    = 1 << 17
	isNever           = 1 << 18
	isObject          = 1 << 20
	isIndex           = 1 << 21
	isTemplateLiteral = 1 << 22
	isStringMapping   = 1 << 23
	isUnion           = 1 << 27
	isIntersection    = 1 << 28

	isReference = 1 << 2  // a flag of objectFlags
	isOptional  = 1 << 24 // a flag of a symbol
	isMethod    = 1 << 13
	isAccessor  = 1<<15 | 1<<16

	valueMeaning = 111551
)
