package guest

import (
	_ "embed"
	"encoding/base64"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"
)

//go:embed web.js
var webSource string

func compileWeb() (*goja.Program, error) {
	tree, err := goja.Parse(programName, webSource, parser.WithDisableSourceMaps)
	if err != nil {
		return nil, err
	}
	return goja.CompileAST(tree, true)
}

// webNames returns the names of the globals that web.js creates.
func webNames() []string {
	return []string{
		"structuredClone", "AbortController", "AbortSignal", "Event", "EventTarget", "DOMException", "TextEncoder", "TextDecoder", "WeakRef",
		"fetch", "Headers", "Response",
	}
}

// web runs web.js in the VM once and returns its exports.
func (r *run) web(vm *goja.Runtime) *goja.Object {
	if exports, ok := r.modules["web"]; ok {
		return exports
	}
	program, err := r.worker.web()
	if err != nil {
		panic(err) // web.js is part of this package
	}
	value, err := vm.RunProgram(program)
	if err != nil {
		panic(err)
	}
	make, ok := goja.AssertFunction(value)
	if !ok {
		panic("web.js is no function")
	}
	native := vm.NewObject()
	method(vm, native, "encode", func(call goja.FunctionCall) goja.Value {
		return vm.ToValue(vm.NewArrayBuffer([]byte(call.Argument(0).String())))
	})
	method(vm, native, "decode", func(call goja.FunctionCall) goja.Value { return decodeUTF8(vm, call) })
	method(vm, native, "setTimeout", func(call goja.FunctionCall) goja.Value { return r.loop.set(vm, call, false, false) })
	method(vm, native, "fetch", func(call goja.FunctionCall) goja.Value { return r.call(vm, "fetch", call.Argument(0)) })
	method(vm, native, "toBase64", func(call goja.FunctionCall) goja.Value {
		buffer, ok := call.Argument(0).Export().(goja.ArrayBuffer)
		if !ok {
			return goja.Undefined()
		}
		start, size := call.Argument(1).ToInteger(), call.Argument(2).ToInteger()
		return vm.ToValue(base64.StdEncoding.EncodeToString(span(vm, buffer, start, size)))
	})
	method(vm, native, "fromBase64", func(call goja.FunctionCall) goja.Value {
		data, err := base64.StdEncoding.DecodeString(call.Argument(0).String())
		if err != nil {
			panic(throw(vm, "Error", "The host's answer is malformed."))
		}
		return vm.ToValue(vm.NewArrayBuffer(data))
	})
	result, err := make(goja.Undefined(), native)
	if err != nil {
		panic(err)
	}
	exports := result.ToObject(vm)
	if r.modules == nil {
		r.modules = map[string]*goja.Object{}
	}
	r.modules["web"] = exports
	return exports
}

// span returns a part of a buffer. It checks start and size, because the program controls them.
func span(vm *goja.Runtime, buffer goja.ArrayBuffer, start, size int64) []byte {
	data := buffer.Bytes()
	if start < 0 || size < 0 || start > int64(len(data)) || size > int64(len(data))-start {
		panic(throw(vm, "RangeError", "The view exceeds its buffer."))
	}
	return data[start : start+size]
}

// decodeUTF8 implements decode(buffer, offset, length, label, fatal). It returns text, or undefined if fatal is set and
// the bytes are invalid.
func decodeUTF8(vm *goja.Runtime, call goja.FunctionCall) goja.Value {
	buffer, ok := call.Argument(0).Export().(goja.ArrayBuffer)
	if !ok {
		return goja.Undefined()
	}
	start, size := call.Argument(1).ToInteger(), call.Argument(2).ToInteger()
	data, fatal := span(vm, buffer, start, size), call.Argument(4).ToBoolean()
	switch call.Argument(3).String() {
	case "utf-16le":
		units := make([]uint16, len(data)/2)
		for i := range units {
			units[i] = uint16(data[2*i]) | uint16(data[2*i+1])<<8
		}
		return vm.ToValue(string(utf16.Decode(units)))
	case "latin1":
		runes := make([]rune, len(data))
		for i, b := range data {
			runes[i] = rune(b)
		}
		return vm.ToValue(string(runes))
	}
	if utf8.Valid(data) {
		return vm.ToValue(string(data))
	}
	if fatal {
		return goja.Undefined()
	}
	return vm.ToValue(string([]rune(string(data)))) // every invalid byte becomes U+FFFD
}
