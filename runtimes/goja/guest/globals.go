package guest

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/dop251/goja"
	"github.com/dop251/goja_nodejs/buffer"
	"github.com/google/uuid"
)

// maker creates one global object or function in a VM.
type maker struct {
	name string
	make func(r *run, vm *goja.Runtime) goja.Value
}

// globals returns the globals that are not part of JavaScript itself. Each global is created when the program first
// reads it.
func globals() []maker {
	all := []maker{
		{"console", func(r *run, vm *goja.Runtime) goja.Value { return newConsole(r, vm) }},
		{"setTimeout", timerFunction("setTimeout", false, false)},
		{"setInterval", timerFunction("setInterval", true, false)},
		{"setImmediate", timerFunction("setImmediate", false, true)},
		{"clearTimeout", clearFunction("clearTimeout")},
		{"clearInterval", clearFunction("clearInterval")},
		{"clearImmediate", clearFunction("clearImmediate")},
		{"queueMicrotask", queueMicrotask},
		{"URL", func(r *run, vm *goja.Runtime) goja.Value { return r.urlClasses(vm).Get("URL") }},
		{"URLSearchParams", func(r *run, vm *goja.Runtime) goja.Value { return r.urlClasses(vm).Get("URLSearchParams") }},
		{"Buffer", newBuffer},
		{"atob", func(r *run, vm *goja.Runtime) goja.Value { return function(vm, "atob", r.atob(vm)) }},
		{"btoa", func(r *run, vm *goja.Runtime) goja.Value { return function(vm, "btoa", r.btoa(vm)) }},
		{"performance", performance},
		{"crypto", newCrypto},
		agentsMaker(),
	}
	for _, name := range webNames() {
		all = append(all, maker{name, func(r *run, vm *goja.Runtime) goja.Value { return r.web(vm).Get(name) }})
	}
	return all
}

// symbols returns the symbols that a program needs after esbuild has translated newer syntax.
func symbols() []string { return []string{"asyncIterator", "dispose", "asyncDispose"} }

// install adds to the VM the globals whose names occur in the program.
func (r *run) install(vm *goja.Runtime) {
	global := vm.GlobalObject()
	for _, wanted := range r.program.globals {
		r.lazily(vm, global, wanted.name, wanted.make)
	}
	w := r.program.wordSet
	for _, name := range symbols() {
		if !w.has(name) {
			continue
		}
		if symbol, ok := global.Get("Symbol").(*goja.Object); ok {
			_ = symbol.DefineDataProperty(name, goja.NewSymbol("Symbol."+name), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
		}
	}
	r.patch(vm, w)
	if r.job.Restricted {
		r.restrict(vm)
	}
}

// lazily defines a global that is created when it is first read. The program can assign to it as to any global.
func (r *run) lazily(vm *goja.Runtime, global *goja.Object, name string, make func(*run, *goja.Runtime) goja.Value) {
	settle := func(value goja.Value) {
		_ = global.DefineDataProperty(name, value, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	get := func(goja.FunctionCall) goja.Value {
		value := make(r, vm)
		settle(value)
		return value
	}
	set := func(call goja.FunctionCall) goja.Value {
		settle(call.Argument(0))
		return goja.Undefined()
	}
	_ = global.DefineAccessorProperty(name, vm.ToValue(get), vm.ToValue(set), goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// function creates a native function with its own name. Without the name, goja would show the name of the Go function
// in stack traces.
func function(vm *goja.Runtime, name string, call func(goja.FunctionCall) goja.Value) *goja.Object {
	object := vm.ToValue(call).ToObject(vm)
	_ = object.DefineDataProperty("name", vm.ToValue(name), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	return object
}

// method defines a method that is not enumerable, like built-in methods.
func method(vm *goja.Runtime, object *goja.Object, name string, call func(goja.FunctionCall) goja.Value) {
	_ = object.DefineDataProperty(name, function(vm, name, call), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

func timerFunction(name string, repeat, immediate bool) func(*run, *goja.Runtime) goja.Value {
	return func(r *run, vm *goja.Runtime) goja.Value {
		return function(vm, name, func(call goja.FunctionCall) goja.Value { return r.loop.set(vm, call, repeat, immediate) })
	}
}

func clearFunction(name string) func(*run, *goja.Runtime) goja.Value {
	return func(r *run, vm *goja.Runtime) goja.Value { return function(vm, name, r.loop.clear) }
}

// queueMicrotask uses a promise. An exception of the callback is an unhandled rejection, which ends the run like an
// uncaught error.
func queueMicrotask(_ *run, vm *goja.Runtime) goja.Value {
	return function(vm, "queueMicrotask", func(call goja.FunctionCall) goja.Value {
		callback, ok := goja.AssertFunction(call.Argument(0))
		if !ok {
			panic(vm.NewTypeError("The callback of queueMicrotask is not a function"))
		}
		promise, resolve, _ := vm.NewPromise()
		_ = resolve(goja.Undefined())
		object := vm.ToValue(promise).ToObject(vm)
		then, _ := goja.AssertFunction(object.Get("then"))
		later := vm.ToValue(func(goja.FunctionCall) goja.Value {
			if _, err := callback(goja.Undefined()); err != nil {
				panic(err)
			}
			return goja.Undefined()
		})
		if _, err := then(object, later); err != nil {
			panic(err)
		}
		return goja.Undefined()
	})
}

// newBuffer returns the Buffer of goja_nodejs and adds the methods that its prototype lacks. It does not use that
// library's loader, which reads files.
func newBuffer(r *run, vm *goja.Runtime) goja.Value {
	module, exports := vm.NewObject(), vm.NewObject()
	_ = module.Set("exports", exports)
	buffer.Require(vm, module)
	class := exports.Get("Buffer")
	extend, ok := goja.AssertFunction(r.web(vm).Get("extendBuffer"))
	if !ok {
		return class
	}
	if _, err := extend(goja.Undefined(), class); err != nil {
		panic(err)
	}
	return class
}

func performance(r *run, vm *goja.Runtime) goja.Value {
	r.impure = true
	object := vm.NewObject()
	method(vm, object, "now", func(goja.FunctionCall) goja.Value {
		return vm.ToValue(float64(time.Since(r.began).Microseconds()) / 1000)
	})
	_ = object.Set("timeOrigin", float64(r.began.UnixMicro())/1000)
	return object
}

// maxRandom is the maximum number of bytes of one getRandomValues call, as in browsers.
const maxRandom = 65536

func newCrypto(r *run, vm *goja.Runtime) goja.Value {
	object := vm.NewObject()
	method(vm, object, "randomUUID", func(goja.FunctionCall) goja.Value {
		r.taint()
		return vm.ToValue(uuid.NewString())
	})
	method(vm, object, "getRandomValues", func(call goja.FunctionCall) goja.Value {
		array, ok := call.Argument(0).(*goja.Object)
		if !ok || kindOf(array) != bytesObject {
			panic(vm.NewTypeError("getRandomValues requires a typed array of integers"))
		}
		view, ok := array.Get("buffer").Export().(goja.ArrayBuffer)
		if !ok {
			panic(vm.NewTypeError("getRandomValues requires a typed array of integers"))
		}
		start, size := array.Get("byteOffset").ToInteger(), array.Get("byteLength").ToInteger()
		if size > maxRandom {
			panic(r.domException(vm, fmt.Sprintf("getRandomValues accepts at most %d bytes", maxRandom), "QuotaExceededError"))
		}
		if strings.HasPrefix(array.Get("constructor").ToObject(vm).Get("name").String(), "Float") {
			panic(r.domException(vm, "getRandomValues requires a typed array of integers", "TypeMismatchError"))
		}
		r.taint()
		_, _ = rand.Read(span(vm, view, start, size)) // crypto/rand never returns an error
		return array
	})
	return object
}

// domException creates an error of the type that web interfaces throw. The caller panics with it.
func (r *run) domException(vm *goja.Runtime, message, name string) goja.Value {
	object, err := vm.New(r.web(vm).Get("DOMException"), vm.ToValue(message), vm.ToValue(name))
	if err != nil {
		panic(err)
	}
	return object
}

// required returns the first argument of a call. It throws a TypeError if there is none.
func required(vm *goja.Runtime, call goja.FunctionCall) goja.Value {
	if len(call.Arguments) == 0 {
		e := vm.NewTypeError("The \"input\" argument must be specified")
		_ = e.Set("code", "ERR_MISSING_ARGS")
		panic(e)
	}
	return call.Argument(0)
}

// btoa encodes a string of bytes as base64.
func (r *run) btoa(vm *goja.Runtime) func(goja.FunctionCall) goja.Value {
	return func(call goja.FunctionCall) goja.Value {
		text := units(required(vm, call))
		data := make([]byte, 0, len(text))
		for _, unit := range text {
			if unit > 0xff {
				panic(r.domException(vm, "btoa accepts characters up to U+00FF; encode the text with TextEncoder or Buffer first", "InvalidCharacterError"))
			}
			data = append(data, byte(unit))
		}
		return vm.ToValue(base64.StdEncoding.EncodeToString(data))
	}
}

// units returns the UTF-16 units of a value's text.
func units(value goja.Value) []uint16 {
	text, ok := value.ToString().(goja.String)
	if !ok {
		return utf16.Encode([]rune(value.String()))
	}
	all := make([]uint16, text.Length())
	for i := range all {
		all[i] = text.CharAt(i)
	}
	return all
}

// atob decodes base64. It accepts white space and missing padding, as browsers do.
func (r *run) atob(vm *goja.Runtime) func(goja.FunctionCall) goja.Value {
	return func(call goja.FunctionCall) goja.Value {
		text := strings.Map(func(c rune) rune {
			if strings.ContainsRune(" \t\n\f\r", c) {
				return -1
			}
			return c
		}, required(vm, call).String())
		if len(text)%4 == 0 {
			text = strings.TrimSuffix(strings.TrimSuffix(text, "="), "=")
		}
		data, err := base64.RawStdEncoding.DecodeString(text)
		if err != nil {
			panic(r.domException(vm, "The argument of atob is not Base64", "InvalidCharacterError"))
		}
		units := make([]uint16, len(data))
		for i, b := range data {
			units[i] = uint16(b)
		}
		return goja.StringFromUTF16(units)
	}
}
