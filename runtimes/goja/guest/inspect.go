package guest

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"
)

// These bounds limit the shown part of a value, as in Node.
const (
	inspectDepth  = 2
	inspectItems  = 100
	inspectString = 10_000
	inspectWidth  = 72
	inspectTotal  = 1 << 20
)

// inspector formats values for people, close to Node's util.inspect. It reads properties by their descriptors, so that
// no getter runs.
type inspector struct {
	run   *run
	vm    *goja.Runtime
	depth int
	above []*goja.Object
	refs  []*goja.Object // objects that contain themselves, in order of discovery
	size  int

	customs int // calls of the program's own methods
}

// inspect formats a value and never fails. It marks values that it cannot inspect.
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
			return fmt.Sprintf("[Circular *%d]", in.reference(object))
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
	for i, ref := range in.refs {
		if ref == object {
			text = fmt.Sprintf("<ref *%d> %s", i+1, text)
		}
	}
	in.size += len(text)
	return text
}

// custom formats an object with its own method nodejs.util.inspect.custom, which Node also calls. The method returns
// text, or another value to show in its place.
func (in *inspector) custom(object *goja.Object) (string, bool) {
	symbol, ok := in.vm.GlobalObject().Get("Symbol").(*goja.Object)
	if !ok {
		return "", false
	}
	lookup, ok := goja.AssertFunction(symbol.Get("for"))
	if !ok {
		return "", false
	}
	key, err := lookup(symbol, in.vm.ToValue("nodejs.util.inspect.custom"))
	if err != nil {
		return "", false
	}
	name, ok := key.(*goja.Symbol)
	if !ok {
		return "", false
	}
	show, ok := goja.AssertFunction(object.GetSymbol(name))
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
	if result == object {
		return "", false
	}
	return in.value(result), true
}

func (in *inspector) reference(object *goja.Object) int {
	for i, ref := range in.refs {
		if ref == object {
			return i + 1
		}
	}
	in.refs = append(in.refs, object)
	return len(in.refs)
}

func (in *inspector) body(object *goja.Object, what kind) string {
	switch what {
	case arrayObject, bytesObject:
		return in.array(object, what)
	case functionObject:
		return in.around(in.function(object), object)
	case numberObject:
		return in.around("[Number: "+number(object.ToNumber())+"]", object)
	case stringObject:
		return "[String: " + quoted(object.ToString().String()) + "]"
	case booleanObject, bigintObject, symbolObject:
		return "[" + object.ClassName() + ": " + in.method(object, "toString") + "]"
	case rawJSONObject:
		return "[RawJSON: " + object.Get("rawJSON").String() + "]"
	case mapObject, setObject:
		return in.collection(object, what)
	case weakObject:
		return object.ClassName() + " { <items unknown> }"
	case promiseObject:
		return in.promise(object)
	case regExpObject:
		return in.around(in.method(object, "toString"), object)
	case dateObject:
		return in.around(in.date(object), object)
	case errorObject:
		return in.failure(object)
	case bufferObject, viewObject:
		return fmt.Sprintf("%s { byteLength: %s }", in.name(object, "ArrayBuffer"), object.Get("byteLength"))
	case plainObject, proxyObject:
	}
	prefix := in.name(object, "Object")
	switch prefix {
	case "Object":
		prefix = ""
	case "WeakMap", "WeakSet", "WeakRef":
		return prefix + " { <items unknown> }"
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
	name := ""
	if own := in.descriptor(object, in.vm.ToValue("name")); own != nil {
		if v := own.Get("value"); v != nil && goja.IsString(v) {
			name = v.String()
		}
	}
	source := object.String()
	if strings.HasPrefix(source, "class") && (len(source) < 6 || !isWord(source[5])) {
		text := "[class " + orAnonymous(name)
		if parent := object.Prototype(); parent != nil {
			if base := parent.Get("name"); base != nil && base.String() != "" {
				text += " extends " + base.String()
			}
		}
		return text + "]"
	}
	class := in.name(object, "Function")
	if !strings.HasSuffix(class, "Function") {
		class = "Function"
	}
	if name == "" {
		return "[" + class + " (anonymous)]"
	}
	return "[" + class + ": " + name + "]"
}

func orAnonymous(name string) string {
	if name == "" {
		return "(anonymous)"
	}
	return name
}

// around adds the members to an object that is shown as one word.
func (in *inspector) around(word string, object *goja.Object) string {
	if members := in.members(object); len(members) > 0 {
		return in.list(word, "{", members, "}")
	}
	return word
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
			holes := i
			for i+1 < length && in.descriptor(object, in.vm.ToValue(strconv.FormatInt(i+1, 10))) == nil && i-holes < 1_000_000 {
				i++
			}
			items = append(items, plural(i-holes+1, "empty item"))
			continue
		}
		items = append(items, in.property(own))
		if in.full() {
			break
		}
	}
	if more := length - int64(len(items)); more > 0 && len(items) >= inspectItems {
		items = append(items, fmt.Sprintf("... %d more item%s", more, s(more)))
	}
	if what == arrayObject {
		items = append(items, in.named(object, true)...)
	}
	return in.list(prefix, "[", items, "]")
}

func plural(n int64, what string) string { return fmt.Sprintf("<%d %s%s>", n, what, s(n)) }

func s(n int64) string {
	if n == 1 {
		return ""
	}
	return "s"
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
		items = append(items, fmt.Sprintf("... %d more item%s", more, s(more)))
	}
	items = append(items, in.members(object)...)
	return in.list(fmt.Sprintf("%s(%d)", in.name(object, object.ClassName()), total), "{", items, "}")
}

func (in *inspector) promise(object *goja.Object) string {
	promise, ok := object.Export().(*goja.Promise)
	if !ok {
		return "Promise {}"
	}
	switch promise.State() {
	case goja.PromiseStatePending:
		return "Promise { <pending> }"
	case goja.PromiseStateRejected:
		return "Promise { <rejected> " + in.value(promise.Result()) + " }"
	case goja.PromiseStateFulfilled:
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
	for _, symbol := range object.Symbols() {
		if own := in.descriptor(object, symbol); own != nil && own.Get("enumerable").ToBoolean() {
			all = append(all, "[Symbol("+symbol.String()+")]: "+in.property(own))
		}
	}
	return all
}

func (in *inspector) property(descriptor *goja.Object) string {
	getter, setter := descriptor.Get("get"), descriptor.Get("set")
	hasGetter, hasSetter := getter != nil && !goja.IsUndefined(getter), setter != nil && !goja.IsUndefined(setter)
	switch {
	case hasGetter && hasSetter:
		return "[Getter/Setter]"
	case hasGetter:
		return "[Getter]"
	case hasSetter:
		return "[Setter]"
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
	short := !lines
	for _, item := range items {
		short = short && len(item) <= 6
	}
	if short && len(items) > 6 { // several numbers or short words per line
		const row = 12
		for i := 0; i < len(items); i += row {
			out.WriteString("  " + strings.Join(items[i:min(i+row, len(items))], ", "))
			if i+row < len(items) {
				out.WriteString(",")
			}
			out.WriteString("\n")
		}
		return out.String() + end
	}
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
