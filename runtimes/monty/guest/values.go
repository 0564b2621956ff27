package guest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/atelier-run/atelier/internal/jcs"
	pb "github.com/atelier-run/atelier/runtimes/monty/montypb"
	"github.com/atelier-run/atelier/runtimes/sandbox/program"
)

// arena collects the values of one message. Containers refer to their children by index. A container comes after its
// children.
type arena struct{ nodes []*pb.MontyNode }

func (a *arena) add(node *pb.MontyNode) uint32 {
	a.nodes = append(a.nodes, node)
	return uint32(len(a.nodes) - 1)
}

func (a *arena) message() *pb.Arena {
	return &pb.Arena{NodeCount: uint32(len(a.nodes)), Nodes: a.nodes}
}

func (a *arena) none() uint32 {
	return a.add(&pb.MontyNode{Kind: &pb.MontyNode_None{None: &pb.Unit{}}})
}

func (a *arena) text(s string) uint32 {
	return a.add(&pb.MontyNode{Kind: &pb.MontyNode_Str{Str: strings.ToValidUTF8(s, "\uFFFD")}})
}

func (a *arena) bytes(b []byte) uint32 {
	return a.add(&pb.MontyNode{Kind: &pb.MontyNode_Bytes{Bytes: b}})
}

// object adds a dict with text values.
func (a *arena) object(values map[string]string) uint32 {
	pairs := &pb.NodePairs{}
	for name, value := range values {
		pairs.Pairs = append(pairs.Pairs, &pb.NodePair{Key: a.text(name), Value: a.text(value)})
	}
	return a.add(&pb.MontyNode{Kind: &pb.MontyNode_Dict{Dict: pairs}})
}

// json adds a JSON value. It preserves all digits of integers and the order of the names in objects.
func (a *arena) json(text []byte) (uint32, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	at, err := a.decode(dec, 0)
	if err != nil {
		return 0, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return 0, errors.New("unexpected text after the JSON value")
	}
	return at, nil
}

func (a *arena) decode(dec *json.Decoder, depth int) (uint32, error) {
	if depth > jcs.MaxDepth {
		return 0, fmt.Errorf("it is nested deeper than %d levels", jcs.MaxDepth)
	}
	token, err := dec.Token()
	if err != nil {
		return 0, err
	}
	switch v := token.(type) {
	case nil:
		return a.none(), nil
	case bool:
		return a.add(&pb.MontyNode{Kind: &pb.MontyNode_Boolean{Boolean: v}}), nil
	case string:
		return a.text(v), nil
	case json.Number:
		return a.number(string(v))
	case json.Delim:
		if v == '[' {
			return a.list(dec, depth+1)
		}
		return a.dict(dec, depth+1)
	}
	return 0, fmt.Errorf("token %v", token)
}

func (a *arena) list(dec *json.Decoder, depth int) (uint32, error) {
	items := &pb.Indexes{}
	for dec.More() {
		at, err := a.decode(dec, depth)
		if err != nil {
			return 0, err
		}
		items.Items = append(items.Items, at)
	}
	_, err := dec.Token()
	return a.add(&pb.MontyNode{Kind: &pb.MontyNode_List{List: items}}), err
}

func (a *arena) dict(dec *json.Decoder, depth int) (uint32, error) {
	pairs := &pb.NodePairs{}
	for dec.More() {
		key, err := a.decode(dec, depth)
		if err != nil {
			return 0, err
		}
		value, err := a.decode(dec, depth)
		if err != nil {
			return 0, err
		}
		pairs.Pairs = append(pairs.Pairs, &pb.NodePair{Key: key, Value: value})
	}
	_, err := dec.Token()
	return a.add(&pb.MontyNode{Kind: &pb.MontyNode_Dict{Dict: pairs}}), err
}

func (a *arena) number(text string) (uint32, error) {
	if strings.ContainsAny(text, ".eE") {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil && !math.IsInf(f, 0) { // 1e999 becomes infinity, as in Python
			return 0, err
		}
		return a.add(&pb.MontyNode{Kind: &pb.MontyNode_Float{Float: f}}), nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return a.add(&pb.MontyNode{Kind: &pb.MontyNode_Int{Int: n}}), nil
	}
	n, ok := new(big.Int).SetString(text, 10)
	if !ok {
		return 0, fmt.Errorf("number %.100q", text)
	}
	return a.add(&pb.MontyNode{Kind: &pb.MontyNode_Bigint{Bigint: &pb.BigInt{Negative: n.Sign() < 0, Magnitude: n.Bytes()}}}), nil
}

// flaw is the reason why a result cannot be encoded as JSON.
type flaw struct{ message, remedy string }

func (f *flaw) Error() string { return f.message }

// encoder encodes a value of an arena as JSON.
type encoder struct {
	nodes   []*pb.MontyNode
	largest int
	out     bytes.Buffer
}

// errTooLarge is the error for a result whose JSON is too large. Even a small arena can need a huge JSON text, because
// its values can refer to the same value many times.
var errTooLarge = fmt.Errorf("the result is too large")

// write appends the value at an index. path is its path in the result, for error messages.
func (e *encoder) write(at uint32, path string, depth int) error {
	switch {
	case e.out.Len() > e.largest:
		return errTooLarge
	case int(at) >= len(e.nodes):
		return &flaw{message: path + ": refers to a value that does not exist"}
	case depth > jcs.MaxDepth:
		return &flaw{message: fmt.Sprintf("%.200s: nested deeper than %d levels", path, jcs.MaxDepth)}
	}
	switch v := e.nodes[at].GetKind().(type) {
	case *pb.MontyNode_None:
		e.out.WriteString("null")
	case *pb.MontyNode_Boolean:
		e.out.WriteString(strconv.FormatBool(v.Boolean))
	case *pb.MontyNode_Int:
		e.out.WriteString(strconv.FormatInt(v.Int, 10))
	case *pb.MontyNode_Bigint:
		e.out.WriteString(integerText(v.Bigint))
	case *pb.MontyNode_Float:
		if math.IsNaN(v.Float) || math.IsInf(v.Float, 0) {
			return &flaw{path + ": float " + map[bool]string{true: "NaN", false: "Infinity"}[math.IsNaN(v.Float)] + " is not JSON", "Use None or a string instead."}
		}
		e.out.WriteString(decimal(v.Float))
	case *pb.MontyNode_Str:
		return e.text(v.Str)
	case *pb.MontyNode_List:
		return e.list(v.List.GetItems(), path, depth)
	case *pb.MontyNode_Tuple:
		return e.list(v.Tuple.GetItems(), path, depth)
	case *pb.MontyNode_NamedTuple:
		return e.list(v.NamedTuple.GetValues(), path, depth)
	case *pb.MontyNode_Dict:
		return e.dict(v.Dict.GetPairs(), path, depth)
	case *pb.MontyNode_Cycle:
		return &flaw{message: path + ": contains itself"}
	default:
		name, remedy := described(e.nodes[at])
		return &flaw{path + ": " + name + " is not JSON", remedy}
	}
	return nil
}

func (e *encoder) text(s string) error {
	text, err := program.JSON(s)
	e.out.Write(text)
	return err
}

func (e *encoder) list(items []uint32, path string, depth int) error {
	e.out.WriteByte('[')
	for i, item := range items {
		if i > 0 {
			e.out.WriteByte(',')
		}
		if err := e.write(item, fmt.Sprintf("%s[%d]", path, i), depth+1); err != nil {
			return err
		}
	}
	e.out.WriteByte(']')
	return nil
}

func (e *encoder) dict(pairs []*pb.NodePair, path string, depth int) error {
	e.out.WriteByte('{')
	for i, pair := range pairs {
		if i > 0 {
			e.out.WriteByte(',')
		}
		name, err := e.key(pair.GetKey(), path)
		if err != nil {
			return err
		}
		if err := e.text(name); err != nil {
			return err
		}
		e.out.WriteByte(':')
		if err := e.write(pair.GetValue(), path+step(name), depth+1); err != nil {
			return err
		}
	}
	e.out.WriteByte('}')
	return nil
}

// key returns a key of a dict as a JSON name. As in Python's json, None, booleans and numbers become text.
func (e *encoder) key(at uint32, path string) (string, error) {
	if int(at) >= len(e.nodes) {
		return "", &flaw{message: path + ": refers to a value that does not exist"}
	}
	switch v := e.nodes[at].GetKind().(type) {
	case *pb.MontyNode_Str:
		return v.Str, nil
	case *pb.MontyNode_None:
		return "null", nil
	case *pb.MontyNode_Boolean:
		return strconv.FormatBool(v.Boolean), nil
	case *pb.MontyNode_Int:
		return strconv.FormatInt(v.Int, 10), nil
	case *pb.MontyNode_Bigint:
		return integerText(v.Bigint), nil
	case *pb.MontyNode_Float:
		return decimal(v.Float), nil
	}
	name, _ := described(e.nodes[at])
	return "", &flaw{path + ": a key of type " + name + " is not JSON", "Use strings as keys."}
}

// step returns the part of a path for a property of an object: .name, or ["name"] if the name is not an identifier.
func step(name string) string {
	for i, c := range name {
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') {
			return "[" + strconv.Quote(name) + "]"
		}
	}
	if name == "" {
		return `[""]`
	}
	return "." + name
}

func integerText(n *pb.BigInt) string {
	v := new(big.Int).SetBytes(n.GetMagnitude())
	if n.GetNegative() {
		v.Neg(v)
	}
	return v.String()
}

// decimal writes a float as Python does.
func decimal(f float64) string {
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	text := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

// described returns the name of a value's type, and a remedy: how the program can convert the value to JSON.
func described(node *pb.MontyNode) (name, remedy string) {
	switch v := node.GetKind().(type) {
	case *pb.MontyNode_Bytes:
		return "bytes", "Decode it, or use base64."
	case *pb.MontyNode_Set, *pb.MontyNode_FrozenSet:
		return "set", "Use sorted(…) or list(…)."
	case *pb.MontyNode_Date, *pb.MontyNode_Datetime, *pb.MontyNode_Time:
		return "datetime", "Use .isoformat()."
	case *pb.MontyNode_Decimal:
		return "Decimal", "Use str(…) or float(…)."
	case *pb.MontyNode_ClassInstance:
		return "an object of a class", "Return a dict of its values."
	case *pb.MontyNode_Function:
		return "function", "Call it."
	case *pb.MontyNode_Repr:
		return fmt.Sprintf("%.100s", v.Repr), ""
	}
	return "this value", "Return dicts, lists, strings, numbers, booleans and None."
}
