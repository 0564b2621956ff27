package guest

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

//go:embed web.js
var webSource string

// webNames returns the names of the globals that web.js creates.
func webNames() []string {
	return []string{
		"structuredClone", "AbortController", "AbortSignal", "Event", "EventTarget", "DOMException", "TextEncoder", "TextDecoder", "WeakRef", "FinalizationRegistry",
		"fetch", "Headers", "Response",
	}
}

// web runs web.js in the VM once and returns its exports.
func (r *run) web(vm *goja.Runtime) *goja.Object {
	return r.script(vm, "web.js", webSource, func(native *goja.Object) {
		method(vm, native, "encode", func(call goja.FunctionCall) goja.Value {
			return vm.ToValue(vm.NewArrayBuffer([]byte(call.Argument(0).String())))
		})
		method(vm, native, "decode", func(call goja.FunctionCall) goja.Value { return decodeText(vm, call) })
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
	})
}

// script executes one of this package's scripts in the VM and returns its exports. If the script was executed before,
// it only returns the exports. A script is a function whose argument is an object with Go functions, which bind adds.
// The worker compiles each script once.
func (r *run) script(vm *goja.Runtime, name, source string, bind func(native *goja.Object)) *goja.Object {
	if exports, ok := r.modules[name]; ok {
		return exports
	}
	program := r.worker.scripts[name]
	if program == nil {
		tree, err := goja.Parse(programName, source, parser.WithDisableSourceMaps)
		if err == nil {
			program, err = goja.CompileAST(tree, true)
		}
		if err != nil {
			panic(err) // cannot fail, because the script is part of this package
		}
		r.worker.scripts[name] = program
	}
	value, err := vm.RunProgram(program)
	if err != nil {
		panic(err)
	}
	make, ok := goja.AssertFunction(value)
	if !ok {
		panic(name + " is not a function")
	}
	native := vm.NewObject()
	bind(native)
	result, err := make(goja.Undefined(), native)
	if err != nil {
		panic(err)
	}
	exports := result.ToObject(vm)
	if r.modules == nil {
		r.modules = map[string]*goja.Object{}
	}
	r.modules[name] = exports
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

// decodeText implements decode(buffer, offset, length, encoding, fatal). It returns text, or undefined if fatal is set
// and the bytes are invalid.
func decodeText(vm *goja.Runtime, call goja.FunctionCall) goja.Value {
	buffer, ok := call.Argument(0).Export().(goja.ArrayBuffer)
	if !ok {
		return goja.Undefined()
	}
	data, fatal := span(vm, buffer, call.Argument(1).ToInteger(), call.Argument(2).ToInteger()), call.Argument(4).ToBoolean()
	var encoding encoding.Encoding = unicode.UTF8
	switch call.Argument(3).String() {
	case "utf-16le":
		encoding = unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	case "windows-1252":
		encoding = charmap.Windows1252
	default:
		if utf8.Valid(data) {
			return vm.ToValue(string(data))
		}
	}
	text := decoded(encoding, data)
	if fatal && strings.ContainsRune(text, utf8.RuneError) {
		if back, err := encoding.NewEncoder().Bytes([]byte(text)); err != nil || !bytes.Equal(back, data) {
			return goja.Undefined()
		}
	}
	return vm.ToValue(text)
}

// decoded decodes bytes. Invalid sequences become U+FFFD, as in browsers: one U+FFFD for each longest sequence that is
// the start of a character.
func decoded(encoding encoding.Encoding, data []byte) string {
	text, err := encoding.NewDecoder().Bytes(data)
	if err != nil {
		return strings.ToValidUTF8(string(data), string(utf8.RuneError))
	}
	return string(text)
}
