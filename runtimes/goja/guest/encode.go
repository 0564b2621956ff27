package guest

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"

	"github.com/atelier-run/atelier/runtimes"
)

// maxOutputDepth is the maximum nesting depth of a result.
const maxOutputDepth = 256

// encoder writes a result as JSON. JSON.stringify silently changes or omits values that JSON cannot represent, such as
// NaN, functions and maps. For such a value encoder returns an error with its path. undefined becomes null at the top
// level and in arrays, and is omitted from objects. encoder calls toJSON.
type encoder struct {
	vm    *goja.Runtime
	exact map[goja.Value]string
	limit int    // maximum size of the JSON in bytes
	root  string // first part of each path

	out   bytes.Buffer
	path  []string
	above []*goja.Object
}

// outputError describes an invalid value in a result and its path.
type outputError struct {
	kind            runtimes.ErrorType
	message, remedy string
}

func (e *outputError) Error() string { return e.message }

func (e *encoder) encode(value goja.Value) (text []byte, err error) {
	defer func() {
		if x := recover(); x != nil {
			fault, ok := x.(*outputError)
			if !ok {
				panic(x)
			}
			err = fault
		}
	}()
	if value == nil || goja.IsUndefined(value) {
		return []byte("null"), nil
	}
	e.value(value)
	e.reserve(0)
	return e.out.Bytes(), nil
}

// reserve stops the encoding if n more bytes would exceed the limit.
func (e *encoder) reserve(n int) {
	if e.out.Len()+n > e.limit {
		panic(&outputError{kind: runtimes.OutputLimit})
	}
}

// refuse stops the encoding with an error.
func (e *encoder) refuse(what, remedy string) {
	panic(&outputError{kind: runtimes.InvalidOutput, message: e.where() + ": " + what + ".", remedy: remedy})
}

func (e *encoder) where() string {
	path := e.root + strings.Join(e.path, "")
	if len(path) > 300 {
		path = strings.ToValidUTF8(path[:300], "") + "…"
	}
	return path
}

func (e *encoder) value(value goja.Value) {
	e.reserve(0)
	if object, ok := value.(*goja.Object); ok {
		e.object(object)
		return
	}
	e.primitive(value)
}

func (e *encoder) primitive(value goja.Value) {
	switch {
	case value == nil, goja.IsUndefined(value), goja.IsNull(value):
		e.out.WriteString("null")
	case goja.IsNaN(value), goja.IsInfinity(value):
		e.refuse(value.String()+" is not JSON", "Return null or a string instead.")
	case goja.IsNumber(value):
		e.out.WriteString(value.String())
	case goja.IsString(value):
		e.text(value)
	case goja.IsBigInt(value):
		digits, ok := e.exact[value]
		if !ok {
			e.refuse("a BigInt is not JSON", "Return Number(value), String(value), or JSON.rawJSON(String(value)) to write all digits.")
		}
		e.out.WriteString(digits)
	default:
		switch v := value.Export().(type) {
		case bool:
			e.out.WriteString(strconv.FormatBool(v))
		default:
			e.refuse("a symbol is not JSON", "Return its description.")
		}
	}
}

func (e *encoder) text(value goja.Value) {
	text := value.String()
	if strings.ContainsRune(text, utf8.RuneError) && !wellFormed(value) {
		e.refuse("an incomplete surrogate pair is not text", "Cut strings between characters: [...text].slice(0, n).join(\"\").")
	}
	e.quote(text)
}

// quote writes a string. It escapes only the characters that JSON requires to be escaped, because people read the JSON
// text.
func (e *encoder) quote(text string) {
	const hex = "0123456789abcdef"
	e.reserve(len(text))
	e.out.WriteByte('"')
	start := 0
	for i := range len(text) {
		c := text[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		e.out.WriteString(text[start:i])
		start = i + 1
		switch c {
		case '"', '\\':
			e.out.WriteString(`\` + string(c))
		case '\n':
			e.out.WriteString(`\n`)
		case '\r':
			e.out.WriteString(`\r`)
		case '\t':
			e.out.WriteString(`\t`)
		default:
			e.out.WriteString(`\u00` + string(hex[c>>4]) + string(hex[c&15]))
		}
	}
	e.out.WriteString(text[start:])
	e.out.WriteByte('"')
}

func (e *encoder) object(object *goja.Object) {
	if replaced, ok := e.toJSON(object); ok {
		other, isObject := replaced.(*goja.Object)
		if !isObject {
			if goja.IsUndefined(replaced) {
				e.out.WriteString("null")
				return
			}
			e.primitive(replaced)
			return
		}
		object = other
	}
	if len(e.above) >= maxOutputDepth {
		e.refuse(fmt.Sprintf("the result is nested more than %d levels deep", maxOutputDepth), "")
	}
	for _, outer := range e.above {
		if outer == object {
			e.refuse("the object contains itself; a cycle is not JSON", "Return a copy without the circular reference.")
		}
	}
	e.above = append(e.above, object)
	defer func() { e.above = e.above[:len(e.above)-1] }()
	e.body(object)
}

func (e *encoder) toJSON(object *goja.Object) (goja.Value, bool) {
	if what := kindOf(object); what == bytesObject || what == bufferObject || what == viewObject {
		return nil, false // without this check, Buffer's toJSON would turn the bytes into a list of numbers
	}
	method, ok := goja.AssertFunction(object.Get("toJSON"))
	if !ok {
		return nil, false
	}
	key := ""
	if len(e.path) > 0 {
		key = strings.Trim(e.path[len(e.path)-1], ".[]")
	}
	value, err := method(object, e.vm.ToValue(key))
	if err != nil {
		panic(err)
	}
	return value, true
}

func (e *encoder) body(object *goja.Object) {
	what := kindOf(object)
	if what == proxyObject {
		behind := target(object)
		if behind == nil {
			panic(e.vm.NewTypeError("Cannot write a proxy that has been revoked"))
		}
		// Members are read through the proxy, so that the proxy's handlers run. Only the kind of the value comes from the
		// proxy's target.
		if what = kindOf(behind); what != arrayObject && what != functionObject {
			what = plainObject
		}
	}
	switch what {
	case arrayObject:
		e.array(object)
	case numberObject:
		e.primitive(object.ToNumber())
	case stringObject:
		e.text(object.ToString())
	case booleanObject:
		held, _ := object.Export().(bool)
		e.out.WriteString(strconv.FormatBool(held))
	case rawJSONObject:
		e.out.WriteString(object.Get("rawJSON").String())
	case functionObject:
		e.refuse("a function is not JSON", "")
	case bigintObject:
		e.refuse("a BigInt is not JSON", "Return Number(value) or String(value).")
	case symbolObject:
		e.refuse("a symbol is not JSON", "Return its description.")
	case mapObject:
		e.refuse("a Map is not JSON", "Return Object.fromEntries(map).")
	case setObject:
		e.refuse("a Set is not JSON", "Return [...set].")
	case weakObject:
		e.refuse("a weak collection is not JSON", "")
	case promiseObject:
		e.refuse("a promise is not JSON", "Await it first.")
	case regExpObject:
		e.refuse("a regular expression is not JSON", "Return its source.")
	case errorObject:
		e.refuse("an Error is not JSON", "Return its message.")
	case bufferObject, bytesObject, viewObject:
		e.refuse("bytes are not JSON", "Return text, for example Base64, or Array.from(bytes).")
	case plainObject, dateObject, proxyObject:
		e.members(object)
	}
}

func (e *encoder) array(object *goja.Object) {
	length := object.Get("length").ToInteger()
	e.out.WriteByte('[')
	for i := range length {
		if i > 0 {
			e.out.WriteByte(',')
		}
		index := strconv.FormatInt(i, 10)
		e.path = append(e.path, "["+index+"]")
		e.value(object.Get(index))
		e.path = e.path[:len(e.path)-1]
	}
	e.out.WriteByte(']')
}

func (e *encoder) members(object *goja.Object) {
	e.out.WriteByte('{')
	first := true
	for _, key := range object.Keys() {
		value := object.Get(key)
		if value == nil && strings.ContainsRune(key, utf8.RuneError) {
			e.refuse("a key with an incomplete surrogate pair is not text", "Cut strings between characters: [...text].slice(0, n).join(\"\").")
		}
		if value == nil || goja.IsUndefined(value) {
			continue
		}
		if !first {
			e.out.WriteByte(',')
		}
		first = false
		e.path = append(e.path, member(key))
		e.quote(key)
		e.out.WriteByte(':')
		e.value(value)
		e.path = e.path[:len(e.path)-1]
	}
	e.out.WriteByte('}')
}

// member returns one step of a path: .name, or ["any text"] if the name is not a plain identifier.
func member(key string) string {
	for i, c := range key {
		letter := c == '_' || c == '$' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return "[" + strconv.Quote(key) + "]"
		}
	}
	if key == "" {
		return `[""]`
	}
	return "." + key
}

// wellFormed reports whether a string has no lone surrogates.
func wellFormed(value goja.Value) bool {
	text, ok := value.ToString().(goja.String)
	if !ok {
		return true
	}
	for i := 0; i < text.Length(); i++ {
		unit := text.CharAt(i)
		if unit < 0xD800 || unit > 0xDFFF {
			continue
		}
		if unit >= 0xDC00 || i+1 >= text.Length() {
			return false
		}
		if low := text.CharAt(i + 1); low < 0xDC00 || low > 0xDFFF {
			return false
		}
		i++
	}
	return true
}
