package guest

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"
)

// These bounds limit how much of a value is shown, as in Node.
const (
	inspectDepth  = 2
	inspectItems  = 100
	inspectString = 10_000
	inspectWidth  = 72
	inspectTotal  = 1 << 20
)

// inspector formats values for people, in the style of Node's util.inspect but without its rarer forms. It reads
// properties by their descriptors, so that no getter runs.
type inspector struct {
	run   *run
	vm    *goja.Runtime
	depth int
	above []*goja.Object
	size  int

	customs int // number of calls of the program's own inspection methods
}

// inspect formats a value and never fails. If a value cannot be inspected, the text says so.
func (r *run) inspect(vm *goja.Runtime, value goja.Value) string {
	return r.inspectTo(vm, value, inspectDepth)
}

func (r *run) inspectTo(vm *goja.Runtime, value goja.Value, depth int) string {
	in := &inspector{run: r, vm: vm, depth: depth}
	var text string
	if ex := vm.Try(func() { text = in.value(value) }); ex != nil {
		return "[value that cannot be displayed]"
	}
	return text
}

func (in *inspector) value(value goja.Value) string {
	switch {
	case value == nil, goja.IsUndefined(value):
		return "undefined"
	case goja.IsNull(value):
		return "null"
	case goja.IsNumber(value):
		return number(value)
	case goja.IsString(value):
		return quoted(value.String())
	case goja.IsBigInt(value):
		return value.String() + "n"
	}
	switch v := value.(type) {
	case *goja.Symbol:
		return "Symbol(" + v.String() + ")"
	case *goja.Object:
		return in.object(v)
	}
	return value.String()
}

func number(value goja.Value) string {
	if f := value.ToFloat(); f == 0 && math.Signbit(f) {
		return "-0"
	}
	return value.String()
}

func quoted(text string) string {
	more := ""
	if utf8.RuneCountInString(text) > inspectString {
		runes := []rune(text)
		more = fmt.Sprintf("... %d more characters", len(runes)-inspectString)
		text = string(runes[:inspectString])
	}
	quote := "'"
	if strings.Contains(text, "'") {
		if !strings.Contains(text, `"`) {
			quote = `"`
		} else if !strings.Contains(text, "`") && !strings.Contains(text, "${") {
			quote = "`"
		}
	}
	var out strings.Builder
	out.WriteString(quote)
	for _, c := range text {
		switch {
		case c == '\n':
			out.WriteString(`\n`)
		case c == '\t':
			out.WriteString(`\t`)
		case c == '\r':
			out.WriteString(`\r`)
		case c == '\\':
			out.WriteString(`\\`)
		case string(c) == quote:
			out.WriteString(`\` + quote)
		case c < 0x20 || c == 0x7f:
			fmt.Fprintf(&out, `\x%02X`, c)
		default:
			out.WriteRune(c)
		}
	}
	out.WriteString(quote)
	return out.String() + more
}

func (in *inspector) object(object *goja.Object) string {
	for _, outer := range in.above {
		if outer == object {
			return "[Circular]"
		}
	}
	if kindOf(object) == proxyObject {
		if object = target(object); object == nil {
			return "<Revoked Proxy>"
		}
	}
	if text, ok := in.custom(object); ok {
		return text
	}
	what := kindOf(object)
	if len(in.above) > in.depth && what != errorObject && what != dateObject && what != regExpObject && what != functionObject {
		if what == arrayObject {
			return "[Array]"
		}
		return "[" + in.name(object, "Object") + "]"
	}
	in.above = append(in.above, object)
	text := in.body(object, what)
	in.above = in.above[:len(in.above)-1]
	in.size += len(text)
	return text
}

// custom formats an object with the object's method nodejs.util.inspect.custom, which Node also calls. The method
// returns text, or another value to show in place of the object.
func (in *inspector) custom(object *goja.Object) (string, bool) {
	if in.run.inspectKey == nil {
		key, err := in.vm.RunString(`Symbol.for("nodejs.util.inspect.custom")`)
		symbol, ok := key.(*goja.Symbol)
		if err != nil || !ok {
			return "", false // the program has replaced the global Symbol
		}
		in.run.inspectKey = symbol
	}
	show, ok := goja.AssertFunction(object.GetSymbol(in.run.inspectKey))
	if !ok || in.customs >= inspectItems {
		return "", false
	}
	in.customs++
	left := in.depth - len(in.above)
	inner := func(call goja.FunctionCall) goja.Value {
		return in.vm.ToValue(in.run.inspectTo(in.vm, call.Argument(0), left))
	}
	result, err := show(object, in.vm.ToValue(left), in.vm.NewObject(), in.vm.ToValue(inner))
	if err != nil {
		panic(err)
	}
	if goja.IsString(result) {
		return result.String(), true
	}
	return in.value(result), result != object
}

func (in *inspector) body(object *goja.Object, what kind) string {
	switch what {
	case arrayObject, bytesObject:
		return in.array(object, what)
	case functionObject:
		return in.function(object)
	case numberObject, stringObject, booleanObject, bigintObject, symbolObject:
		return "[" + object.ClassName() + ": " + in.method(object, "toString") + "]"
	case mapObject, setObject:
		return in.collection(object, what)
	case promiseObject:
		return in.promise(object)
	case regExpObject:
		return in.method(object, "toString")
	case dateObject:
		return in.date(object)
	case errorObject:
		return in.failure(object)
	case bufferObject, viewObject, rawJSONObject, weakObject, plainObject, proxyObject:
	}
	prefix := in.name(object, "Object")
	if prefix == "Object" {
		prefix = ""
	}
	return in.list(prefix, "{", in.members(object), "}")
}

// method calls a method of the object's own class. It ignores exceptions.
func (in *inspector) method(object *goja.Object, name string) string {
	call, ok := goja.AssertFunction(object.Get(name))
	if !ok {
		return "?"
	}
	text, err := call(object)
	if err != nil {
		return "?"
	}
	return text.String()
}

func (in *inspector) date(object *goja.Object) string {
	if f := object.ToNumber().ToFloat(); math.IsNaN(f) {
		return "Invalid Date"
	}
	return in.method(object, "toISOString")
}

func (in *inspector) function(object *goja.Object) string {
	name, kind := "(anonymous)", "Function"
	if own := in.descriptor(object, in.vm.ToValue("name")); own != nil && goja.IsString(own.Get("value")) && own.Get("value").String() != "" {
		name = own.Get("value").String()
	}
	if strings.HasPrefix(object.String(), "class ") {
		return "[class " + name + "]"
	}
	if class := in.name(object, kind); strings.HasSuffix(class, kind) {
		kind = class
	}
	if name != "(anonymous)" {
		kind += ":"
	}
	return "[" + kind + " " + name + "]"
}

func (in *inspector) array(object *goja.Object, what kind) string {
	length := object.Get("length").ToInteger()
	prefix := in.name(object, "Array")
	if what == bytesObject || prefix != "Array" {
		prefix = fmt.Sprintf("%s(%d)", prefix, length)
	} else {
		prefix = ""
	}
	var items []string
	for i := int64(0); i < length && len(items) < inspectItems; i++ {
		key := in.vm.ToValue(strconv.FormatInt(i, 10))
		own := in.descriptor(object, key)
		if own == nil {
			items = append(items, "<empty>")
			continue
		}
		items = append(items, in.property(own))
		if in.full() {
			break
		}
	}
	if more := length - int64(len(items)); more > 0 && len(items) >= inspectItems {
		items = append(items, fmt.Sprintf("... %d more", more))
	}
	if what == arrayObject {
		items = append(items, in.named(object, true)...)
	}
	return in.list(prefix, "[", items, "]")
}

func (in *inspector) collection(object *goja.Object, what kind) string {
	var items []string
	total := int64(0)
	in.vm.ForOf(object, func(item goja.Value) bool {
		total++
		if len(items) >= inspectItems || in.full() {
			return true
		}
		if pair, ok := item.(*goja.Object); ok && what == mapObject {
			items = append(items, in.value(pair.Get("0"))+" => "+in.value(pair.Get("1")))
		} else {
			items = append(items, in.value(item))
		}
		return true
	})
	if more := total - int64(len(items)); more > 0 {
		items = append(items, fmt.Sprintf("... %d more", more))
	}
	items = append(items, in.members(object)...)
	return in.list(fmt.Sprintf("%s(%d)", in.name(object, object.ClassName()), total), "{", items, "}")
}

func (in *inspector) promise(object *goja.Object) string {
	promise, ok := object.Export().(*goja.Promise)
	if !ok || promise.State() == goja.PromiseStatePending {
		return "Promise { <pending> }"
	}
	if promise.State() == goja.PromiseStateRejected {
		return "Promise { <rejected> " + in.value(promise.Result()) + " }"
	}
	return "Promise { " + in.value(promise.Result()) + " }"
}

// failure formats an error with its stack trace in the agent's source and its other properties.
func (in *inspector) failure(object *goja.Object) string {
	text := errorText(object)
	if own := in.descriptor(object, in.vm.ToValue("stack")); own != nil {
		if v := own.Get("value"); v != nil && goja.IsString(v) {
			text = stackText(text, v.String())
		}
	}
	if len(in.above) > 1 && !strings.Contains(text, "\n") {
		text = "[" + text + "]"
	}
	var extra []string
	for _, key := range []string{"cause", "errors"} {
		if own := in.descriptor(object, in.vm.ToValue(key)); own != nil {
			extra = append(extra, "["+key+"]: "+in.property(own))
		}
	}
	for _, member := range in.members(object) {
		if key, _, _ := strings.Cut(member, ":"); key != "name" && key != "message" && key != "stack" {
			extra = append(extra, member)
		}
	}
	if len(extra) > 0 {
		return text + " {\n  " + indent(strings.Join(extra, ",\n"), "  ") + "\n}"
	}
	return indent(text, strings.Repeat("  ", len(in.above)-1))
}

// members formats the enumerable own properties.
func (in *inspector) members(object *goja.Object) []string { return in.named(object, false) }

func (in *inspector) named(object *goja.Object, list bool) []string {
	var all []string
	for _, key := range object.Keys() {
		if in.full() {
			return append(all, "...")
		}
		if list {
			if _, err := strconv.ParseUint(key, 10, 32); err == nil {
				continue
			}
		}
		own := in.descriptor(object, in.vm.ToValue(key))
		if own == nil {
			continue
		}
		shown := key
		if !isName(key) {
			shown = quoted(key)
		}
		all = append(all, shown+": "+in.property(own))
	}
	return all
}

func (in *inspector) property(descriptor *goja.Object) string {
	if get := descriptor.Get("get"); get != nil && !goja.IsUndefined(get) {
		return "[Getter]"
	}
	return in.value(descriptor.Get("value"))
}

// descriptor returns the descriptor of an own property, or nil if the object does not have it.
func (in *inspector) descriptor(object *goja.Object, key goja.Value) *goja.Object {
	global, ok := in.vm.GlobalObject().Get("Object").(*goja.Object)
	if !ok {
		return nil
	}
	get, ok := goja.AssertFunction(global.Get("getOwnPropertyDescriptor"))
	if !ok {
		return nil
	}
	result, err := get(global, object, key)
	if err != nil {
		return nil
	}
	descriptor, _ := result.(*goja.Object)
	return descriptor
}

// name returns the class name of an object.
func (in *inspector) name(object *goja.Object, otherwise string) string {
	for proto := object.Prototype(); proto != nil; proto = proto.Prototype() {
		own := in.descriptor(proto, in.vm.ToValue("constructor"))
		if own == nil {
			continue
		}
		if constructor, ok := own.Get("value").(*goja.Object); ok {
			if v := constructor.Get("name"); v != nil && v.String() != "" {
				return v.String()
			}
		}
	}
	if object.Prototype() == nil {
		return "[" + otherwise + ": null prototype]"
	}
	return otherwise
}

func (in *inspector) full() bool { return in.size > inspectTotal }

// list writes items on one line if they fit, otherwise one per line.
func (in *inspector) list(prefix, open string, items []string, end string) string {
	if prefix != "" {
		prefix += " "
	}
	if len(items) == 0 {
		return prefix + open + end
	}
	width, lines := len(prefix)+len(items), false
	for _, item := range items {
		width += len(item)
		lines = lines || strings.Contains(item, "\n")
	}
	if !lines && width <= inspectWidth {
		return prefix + open + " " + strings.Join(items, ", ") + " " + end
	}
	var out strings.Builder
	out.WriteString(prefix + open + "\n")
	for i, item := range items {
		out.WriteString("  " + indent(item, "  "))
		if i < len(items)-1 {
			out.WriteString(",")
		}
		out.WriteString("\n")
	}
	return out.String() + end
}

func isWord(c byte) bool {
	return c == '_' || c == '$' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

func isName(key string) bool {
	for i := range len(key) {
		if !isWord(key[i]) {
			return false
		}
	}
	return key != "" && (key[0] < '0' || key[0] > '9')
}
