package worker

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxDepth bounds the nesting of a result. Recursive readers of a result are safe below it.
const maxDepth = 256

// checkResult returns a program's result without insignificant space, or an error that names the faulty place. A result
// must be JSON, with no duplicate key in an object and no half of a surrogate pair. Otherwise two readers of one text
// could see two values. The caller checks the size.
func checkResult(raw []byte) (json.RawMessage, error) {
	if !utf8.Valid(raw) {
		return nil, errors.New("output is not valid UTF-8")
	}
	if err := syntax(raw); err != nil {
		return nil, err
	}
	w := walker{text: string(raw)}
	if err := w.value(); err != nil {
		return nil, err
	}
	var compact bytes.Buffer
	compact.Grow(len(raw))
	if err := json.Compact(&compact, raw); err != nil {
		return nil, err
	}
	return compact.Bytes(), nil
}

// shallow reports whether JSON nests no deeper than maxDepth.
func shallow(raw []byte) bool {
	depth, inString := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '[' || c == '{':
			if depth++; depth > maxDepth {
				return false
			}
		case c == ']' || c == '}':
			depth--
		}
	}
	return true
}

// syntax checks that the text is one JSON value that nests no deeper than maxDepth.
func syntax(raw []byte) error {
	if !shallow(raw) {
		return fmt.Errorf("output is nested deeper than %d levels", maxDepth)
	}
	if json.Valid(raw) {
		return nil
	}
	var discard json.RawMessage
	err := json.Unmarshal(raw, &discard)
	var bad *json.SyntaxError
	if errors.As(err, &bad) {
		return fmt.Errorf("output is not valid JSON: %s at byte %d", bad.Error(), bad.Offset)
	}
	return errors.New("output is not valid JSON")
}

// walker walks valid JSON of bounded depth.
type walker struct {
	text string // keys are substrings of it
	at   int
	path []step
}

// step is one part of a path: an object member or an array index. It becomes text only for an error, because a result
// may have millions of members.
type step struct {
	key    string
	index  int
	object bool
}

func (w *walker) value() error {
	w.space()
	switch w.text[w.at] {
	case '{':
		return w.object()
	case '[':
		return w.array()
	case '"':
		_, err := w.str()
		return err
	default:
		for w.at < len(w.text) {
			switch w.text[w.at] {
			case ' ', '\t', '\r', '\n', ',', ']', '}':
				return nil
			}
			w.at++
		}
		return nil
	}
}

func (w *walker) object() error {
	seen := map[string]struct{}{}
	for w.at++; ; w.at++ {
		w.space()
		if w.text[w.at] == '}' {
			w.at++
			return nil
		}
		key, err := w.str()
		if err != nil {
			return err
		}
		w.path = append(w.path, step{key: key, object: true})
		if _, twice := seen[key]; twice {
			return fmt.Errorf("%s: the key appears twice in its object", w.where())
		}
		seen[key] = struct{}{}
		w.space()
		w.at++ // the colon
		if err := w.value(); err != nil {
			return err
		}
		w.path = w.path[:len(w.path)-1]
		w.space()
		if w.text[w.at] == '}' {
			w.at++
			return nil
		}
	}
}

func (w *walker) array() error {
	for i := 0; ; i++ {
		w.at++ // the bracket or the comma
		w.space()
		if w.text[w.at] == ']' {
			w.at++
			return nil
		}
		w.path = append(w.path, step{index: i})
		if err := w.value(); err != nil {
			return err
		}
		w.path = w.path[:len(w.path)-1]
		w.space()
		if w.text[w.at] == ']' {
			w.at++
			return nil
		}
	}
}

// str reads a string and returns it unquoted, so that two spellings of the same key compare equal.
func (w *walker) str() (string, error) {
	start, escaped := w.at, false
	for w.at++; w.text[w.at] != '"'; w.at++ {
		if w.text[w.at] == '\\' {
			escaped = true
			w.at++
		}
	}
	w.at++
	quoted := w.text[start:w.at]
	if !escaped {
		return quoted[1 : len(quoted)-1], nil
	}
	if loneSurrogate(quoted) {
		return "", fmt.Errorf("%s: an incomplete surrogate pair is not text", w.where())
	}
	var s string
	if err := json.Unmarshal([]byte(quoted), &s); err != nil {
		return "", fmt.Errorf("%s: %w", w.where(), err)
	}
	return s, nil
}

// loneSurrogate finds a \uD800-\uDBFF escape without its second half, or a second half alone.
func loneSurrogate(quoted string) bool {
	for i := 0; i+1 < len(quoted); i++ {
		if quoted[i] != '\\' {
			continue
		}
		i++
		unit, ok := escape(quoted, i)
		if !ok || unit < 0xD800 || unit > 0xDFFF {
			continue
		}
		if unit >= 0xDC00 || i+5 >= len(quoted) || quoted[i+5] != '\\' {
			return true
		}
		if low, ok := escape(quoted, i+6); !ok || low < 0xDC00 || low > 0xDFFF {
			return true
		}
		i += 10
	}
	return false
}

// escape reads uXXXX at i.
func escape(quoted string, i int) (uint64, bool) {
	if i+5 > len(quoted) || quoted[i] != 'u' {
		return 0, false
	}
	unit, err := strconv.ParseUint(quoted[i+1:i+5], 16, 16)
	return unit, err == nil
}

func (w *walker) space() {
	for w.at < len(w.text) {
		switch w.text[w.at] {
		case ' ', '\t', '\r', '\n':
			w.at++
		default:
			return
		}
	}
}

func (w *walker) where() string {
	const longest = 200
	var path strings.Builder
	path.WriteString("output")
	for _, s := range w.path {
		if path.Len() > longest {
			break
		}
		path.WriteString(s.String())
	}
	if path.Len() > longest {
		return strings.ToValidUTF8(path.String()[:longest], "") + "…"
	}
	return path.String()
}

// String returns .name, ["any thing"] if it is no plain name, or [index].
func (s step) String() string {
	if !s.object {
		return "[" + strconv.Itoa(s.index) + "]"
	}
	for i, c := range s.key {
		letter := c == '_' || c == '$' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return "[" + strconv.Quote(s.key) + "]"
		}
	}
	if s.key == "" {
		return `[""]`
	}
	return "." + s.key
}
