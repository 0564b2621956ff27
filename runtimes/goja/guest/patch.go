package guest

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dop251/goja"

	"github.com/atelier-run/atelier/runtimes/goja/guest/gaps"
)

// patch corrects functions of goja that return silently wrong results. To save time, it applies only corrections of
// functions whose names occur in the program.
func (r *run) patch(vm *goja.Runtime, w wordSet) {
	// The program also needs this correction if it contains fetch, because responses are parsed as JSON.
	if w.has("JSON", "fetch", "Response") {
		patchParse(vm)
	}
	if w.has("toString") {
		patchRadix(vm)
	}
	for _, name := range r.program.corrections {
		r.correct(vm, name)
	}
	if w.has("isWellFormed", "toWellFormed") {
		addWellFormed(vm)
	}
}

//go:embed patch.js
var patchSource string

// corrections maps each function of patch.js to words. A program that contains one of the words needs the function.
func corrections() map[string][]string {
	return map[string][]string{
		"typedArrays":   typedArrays(),
		"numbers":       {bigLiteral, "BigInt", "BigInt64Array", "BigUint64Array"},
		"regexps":       {"RegExp"},
		"dates":         {"Date"},
		"errors":        {"captureStackTrace"},
		"localeNumbers": {"toLocaleString"},
		"localeDates":   {"toLocaleString", "toLocaleDateString", "toLocaleTimeString"},
		"localeCompare": {"localeCompare"},
	}
}

func typedArrays() []string {
	return []string{
		"Int8Array", "Uint8Array", "Uint8ClampedArray", "Int16Array", "Uint16Array", "Int32Array", "Uint32Array",
		"Float32Array", "Float64Array", "BigInt64Array", "BigUint64Array",
	}
}

// correct runs one function of patch.js.
func (r *run) correct(vm *goja.Runtime, name string) {
	call, ok := goja.AssertFunction(r.script(vm, "patch.js", patchSource, func(native *goja.Object) {
		bindLocale(vm, native)
		method(vm, native, "advice", func(call goja.FunctionCall) goja.Value {
			return vm.ToValue(gaps.RegExpAdvice(call.Argument(0).String(), call.Argument(1).String()))
		})
	}).Get(name))
	if !ok {
		panic(name + " is not in patch.js")
	}
	if _, err := call(goja.Undefined()); err != nil {
		panic(err)
	}
}

// prototype returns the prototype of a built-in class.
func prototype(vm *goja.Runtime, class string) *goja.Object {
	if constructor, ok := vm.GlobalObject().Get(class).(*goja.Object); ok {
		if proto, ok := constructor.Get("prototype").(*goja.Object); ok {
			return proto
		}
	}
	return vm.NewObject()
}

// patchParse replaces JSON.parse with this package's decoder. Numbers beyond the range become Infinity, nesting is
// bounded, and error messages match those of V8.
func patchParse(vm *goja.Runtime) {
	json, ok := vm.GlobalObject().Get("JSON").(*goja.Object)
	if !ok {
		return
	}
	method(vm, json, "parse", func(call goja.FunctionCall) goja.Value {
		decoder := decoder{vm: vm, text: jsonText(call.Argument(0))}
		value, err := decoder.decode()
		if err != nil {
			panic(throw(vm, "SyntaxError", err.Error()))
		}
		reviver, ok := goja.AssertFunction(call.Argument(1))
		if !ok {
			return value
		}
		root := vm.NewObject()
		_ = root.DefineDataProperty("", value, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
		return revive(vm, reviver, root, "")
	})
}

// jsonText converts a value to UTF-8 text for the decoder. It writes lone surrogates as escapes, because UTF-8 cannot
// encode them.
func jsonText(value goja.Value) []byte {
	text := value.String()
	if !strings.ContainsRune(text, utf8.RuneError) || wellFormed(value) {
		return []byte(text)
	}
	var out []byte
	all := units(value)
	for i := 0; i < len(all); i++ {
		r := rune(all[i])
		if !utf16.IsSurrogate(r) {
			out = utf8.AppendRune(out, r)
		} else if i+1 < len(all) && utf16.DecodeRune(r, rune(all[i+1])) != utf8.RuneError {
			out = utf8.AppendRune(out, utf16.DecodeRune(r, rune(all[i+1])))
			i++
		} else {
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}

// revive calls the reviver of JSON.parse from the leaves up, as the language specifies.
func revive(vm *goja.Runtime, reviver goja.Callable, holder *goja.Object, key string) goja.Value {
	value := holder.Get(key)
	if object, ok := value.(*goja.Object); ok {
		for _, name := range object.Keys() {
			if replaced := revive(vm, reviver, object, name); replaced == nil || goja.IsUndefined(replaced) {
				_ = object.Delete(name)
			} else {
				_ = object.DefineDataProperty(name, replaced, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
			}
		}
	}
	replaced, err := reviver(holder, vm.ToValue(key), value)
	if err != nil {
		panic(err)
	}
	return replaced
}

// patchRadix corrects how numbers are written in bases other than ten. goja writes other digits than V8 and omits the
// minus sign of small negative numbers.
func patchRadix(vm *goja.Runtime) {
	proto := prototype(vm, "Number")
	original, ok := goja.AssertFunction(proto.Get("toString"))
	if !ok {
		return
	}
	method(vm, proto, "toString", func(call goja.FunctionCall) goja.Value {
		if radix := call.Argument(0); !goja.IsUndefined(radix) && goja.IsNumber(call.This) {
			f, base := call.This.ToFloat(), int(radix.ToInteger())
			if base >= 2 && base <= 36 && base != 10 && !math.IsNaN(f) && !math.IsInf(f, 0) {
				return vm.ToValue(inBase(f, base))
			}
		}
		text, err := original(call.This, call.Arguments...)
		if err != nil {
			panic(err)
		}
		return text
	})
}

// inBase writes a number with the fewest digits that identify it, as V8 does. The language does not specify the digits.
func inBase(f float64, base int) string {
	const digits = "0123456789abcdefghijklmnopqrstuvwxyz"
	whole, fraction := math.Modf(math.Abs(f))
	var after []byte
	delta := max(0.5*(math.Nextafter(math.Abs(f), math.Inf(1))-math.Abs(f)), math.SmallestNonzeroFloat64)
	for fraction >= delta {
		fraction *= float64(base)
		delta *= float64(base)
		digit := int(fraction)
		after = append(after, digits[digit])
		fraction -= float64(digit)
		if (fraction > 0.5 || fraction == 0.5 && digit&1 == 1) && fraction+delta > 1 { // round up
			for len(after) > 0 && after[len(after)-1] == digits[base-1] {
				after = after[:len(after)-1]
			}
			if len(after) == 0 {
				whole++
			} else {
				last := strings.IndexByte(digits, after[len(after)-1])
				after[len(after)-1] = digits[last+1]
			}
			break
		}
	}
	var before []byte
	// Digits beyond the precision of the number.
	for ulp := delta; fraction == 0 && ulp >= float64(base); ulp /= float64(base) {
		before = append(before, '0')
		whole /= float64(base)
	}
	for first := true; first || whole > 0; first = false {
		rest := math.Mod(whole, float64(base))
		before = append(before, digits[int(rest)])
		whole = (whole - rest) / float64(base)
	}
	slices.Reverse(before)
	text := string(before)
	if f < 0 {
		text = "-" + text
	}
	if len(after) > 0 {
		text += "." + string(after)
	}
	return text
}

func addWellFormed(vm *goja.Runtime) {
	proto := prototype(vm, "String")
	method(vm, proto, "isWellFormed", func(call goja.FunctionCall) goja.Value { return vm.ToValue(wellFormed(call.This)) })
	method(vm, proto, "toWellFormed", func(call goja.FunctionCall) goja.Value {
		if wellFormed(call.This) {
			return call.This.ToString()
		}
		// Go strings cannot contain lone surrogates, so they have already become U+FFFD.
		return vm.ToValue(call.This.String())
	})
}
