package guest

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dop251/goja"
)

// maxParseDepth is the maximum nesting for JSON.parse. It is limited because the parser is recursive and uses the
// worker's Go stack.
const maxParseDepth = 20_000

// decoder converts JSON to values of a VM. It replaces goja's JSON.parse, which has two faults: it does not limit
// nesting, and it rejects numbers beyond the range of a double, although JavaScript reads them as Infinity.
type decoder struct {
	vm    *goja.Runtime
	text  []byte
	at    int
	depth int
	// Called for each integer that a number cannot represent and that becomes a BigInt; may be nil.
	exact func(value goja.Value, digits string)
}

// jsonError is a syntax error of JSON text, worded as in V8.
type jsonError struct{ message string }

func (e *jsonError) Error() string { return e.message }

func (d *decoder) decode() (value goja.Value, err error) {
	defer func() {
		if x := recover(); x != nil {
			fault, ok := x.(*jsonError)
			if !ok {
				panic(x)
			}
			err = fault
		}
	}()
	value = d.value()
	if d.space(); d.at < len(d.text) {
		d.unexpected()
	}
	return value, nil
}

func (d *decoder) unexpected() {
	if d.at >= len(d.text) {
		panic(&jsonError{"Unexpected end of JSON input"})
	}
	c, _ := utf8.DecodeRune(d.text[d.at:])
	panic(&jsonError{fmt.Sprintf("Unexpected token %c in JSON at position %d", c, len(utf16.Encode([]rune(string(d.text[:d.at])))))})
}

func (d *decoder) space() {
	for d.at < len(d.text) {
		switch d.text[d.at] {
		case ' ', '\t', '\r', '\n':
			d.at++
		default:
			return
		}
	}
}

// next skips white space and returns the next byte, or 0 at the end.
func (d *decoder) next() byte {
	d.space()
	if d.at >= len(d.text) {
		return 0
	}
	return d.text[d.at]
}

func (d *decoder) value() goja.Value {
	switch c := d.next(); c {
	case '{':
		return d.object()
	case '[':
		return d.array()
	case '"':
		return d.str()
	case 't':
		d.word("true")
		return d.vm.ToValue(true)
	case 'f':
		d.word("false")
		return d.vm.ToValue(false)
	case 'n':
		d.word("null")
		return goja.Null()
	default:
		if c == '-' || c >= '0' && c <= '9' {
			return d.number()
		}
	}
	d.unexpected()
	return nil
}

func (d *decoder) word(word string) {
	for i := range len(word) {
		if d.at >= len(d.text) || d.text[d.at] != word[i] {
			d.unexpected()
		}
		d.at++
	}
}

func (d *decoder) deeper() {
	if d.depth++; d.depth > maxParseDepth {
		panic(&jsonError{fmt.Sprintf("JSON is nested more than %d levels deep", maxParseDepth)})
	}
}

func (d *decoder) object() goja.Value {
	d.deeper()
	object := d.vm.NewObject()
	d.at++
	if d.next() == '}' {
		d.at++
		d.depth--
		return object
	}
	for {
		if d.next() != '"' {
			d.unexpected()
		}
		key := d.key()
		if d.next() != ':' {
			d.unexpected()
		}
		d.at++
		value := d.value()
		// Defines the property instead of assigning it. So the decoder calls no setter of a prototype, and __proto__ is an
		// ordinary key.
		if err := object.DefineDataProperty(key, value, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE); err != nil {
			panic(&jsonError{err.Error()})
		}
		switch d.next() {
		case ',':
			d.at++
		case '}':
			d.at++
			d.depth--
			return object
		default:
			d.unexpected()
		}
	}
}

func (d *decoder) array() goja.Value {
	d.deeper()
	d.at++
	items := []any{}
	if d.next() == ']' {
		d.at++
		d.depth--
		return d.vm.NewArray()
	}
	for {
		items = append(items, d.value())
		switch d.next() {
		case ',':
			d.at++
		case ']':
			d.at++
			d.depth--
			return d.vm.NewArray(items...)
		default:
			d.unexpected()
		}
	}
}

// number reads a number. In the input of a program, an integer with more digits than a double can represent becomes a
// BigInt. The program can then compare it, print it and pass it on without loss. If the program mixes it with numbers
// in arithmetic, JavaScript throws an error, whereas a rounded number would give a wrong result without notice.
// JSON.parse rounds such integers, as the language specifies.
func (d *decoder) number() goja.Value {
	start, integer := d.at, true
	if d.text[d.at] == '-' {
		d.at++
	}
	if d.at < len(d.text) && d.text[d.at] == '0' {
		d.at++
	} else {
		d.digits()
	}
	if d.at < len(d.text) && d.text[d.at] == '.' {
		integer = false
		d.at++
		d.digits()
	}
	if d.at < len(d.text) && d.text[d.at]|0x20 == 'e' {
		integer = false
		d.at++
		if d.at < len(d.text) && (d.text[d.at] == '+' || d.text[d.at] == '-') {
			d.at++
		}
		d.digits()
	}
	text := string(d.text[start:d.at])
	if integer && len(text) < 16 {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil && text != "-0" {
			return d.vm.ToValue(n)
		}
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil && !math.IsInf(f, 0) {
		panic(&jsonError{"Unexpected number in JSON"})
	}
	value := d.vm.ToValue(f)
	if integer && d.exact != nil && value.String() != text && text != "-0" {
		big := d.bigint(text)
		d.exact(big, text)
		return big
	}
	return value
}

func (d *decoder) digits() {
	start := d.at
	for d.at < len(d.text) && d.text[d.at] >= '0' && d.text[d.at] <= '9' {
		d.at++
	}
	if d.at == start {
		d.unexpected()
	}
}

// key reads the name of a member. It replaces lone surrogates in the name, because Go passes names to goja as UTF-8.
func (d *decoder) key() string {
	raw, escaped := d.quoted()
	if !escaped {
		return string(raw)
	}
	return string(utf16.Decode(d.units(raw)))
}

func (d *decoder) str() goja.Value {
	raw, escaped := d.quoted()
	if !escaped {
		return d.vm.ToValue(string(raw))
	}
	return goja.StringFromUTF16(d.units(raw))
}

// quoted returns the text between the quotes and whether it contains escapes.
func (d *decoder) quoted() (raw []byte, escaped bool) {
	d.at++
	start := d.at
	for d.at < len(d.text) {
		switch c := d.text[d.at]; {
		case c == '"':
			d.at++
			return d.text[start : d.at-1], escaped
		case c == '\\':
			escaped = true
			d.at += 2
		case c < 0x20:
			d.unexpected()
		default:
			d.at++
		}
	}
	panic(&jsonError{"Unterminated string in JSON"})
}

// units decodes the escapes of a string. It returns UTF-16, because a Go string cannot contain a lone surrogate.
func (d *decoder) units(raw []byte) []uint16 {
	units := make([]uint16, 0, len(raw))
	for len(raw) > 0 {
		end := bytes.IndexByte(raw, '\\')
		if end < 0 {
			return append(units, utf16.Encode([]rune(string(raw)))...)
		}
		units = append(units, utf16.Encode([]rune(string(raw[:end])))...)
		raw = raw[end+1:]
		if len(raw) > 0 && raw[0] == 'u' && len(raw) >= 5 {
			unit, err := strconv.ParseUint(string(raw[1:5]), 16, 16)
			if err != nil {
				panic(&jsonError{"Bad Unicode escape in JSON"})
			}
			units, raw = append(units, uint16(unit)), raw[5:]
			continue
		}
		at := -1
		if len(raw) > 0 {
			at = strings.IndexByte(`"\/bfnrt`, raw[0])
		}
		if at < 0 {
			panic(&jsonError{"Bad escaped character in JSON"})
		}
		units, raw = append(units, uint16("\"\\/\b\f\n\r\t"[at])), raw[1:]
	}
	return units
}
