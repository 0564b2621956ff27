package guest

import (
	"unicode/utf8"

	"github.com/dop251/goja"
)

// pieceBytes is the size of the pieces in which a file is written. A piece fits into a host call even if JSON escapes every
// character of it.
const pieceBytes = 128 << 10

// askLLM adds the function askLLM, which sends a prompt to the language model, to the context.
func (r *run) askLLM(vm *goja.Runtime, ctx *goja.Object) {
	_ = ctx.Set("askLLM", func(call goja.FunctionCall) goja.Value {
		return settled(vm, func() goja.Value {
			args := vm.NewObject()
			_ = args.Set("prompt", textOf(call.Argument(0)))
			_ = args.Set("context", textOf(call.Argument(1)))
			return r.call(vm, "askLLM", args)
		})
	})
}

// textOf converts a value to text. It returns "" for null and undefined, so that a prompt does not contain these words.
func textOf(value goja.Value) string {
	if goja.IsUndefined(value) || goja.IsNull(value) {
		return ""
	}
	return value.String()
}

// fileFunctions adds the functions for files to the context. They return promises, as in the other JavaScript runtimes.
func (r *run) fileFunctions(vm *goja.Runtime, ctx *goja.Object) {
	add := func(name string, work func(call goja.FunctionCall) goja.Value) {
		_ = ctx.Set(name, func(call goja.FunctionCall) goja.Value {
			return settled(vm, func() goja.Value { return work(call) })
		})
	}
	with := func(name string, pairs ...any) goja.Value {
		args := vm.NewObject()
		for at := 0; at < len(pairs); at += 2 {
			_ = args.Set(pairs[at].(string), pairs[at+1])
		}
		return r.call(vm, name, args)
	}
	place := func(v goja.Value) string {
		if goja.IsUndefined(v) {
			return "."
		}
		return v.String()
	}
	add("readFile", func(call goja.FunctionCall) goja.Value { return r.readFile(vm, call.Argument(0).String(), with) })
	add("writeFile", func(call goja.FunctionCall) goja.Value {
		return r.writeFile(vm, call.Argument(0).String(), call.Argument(1), with)
	})
	add("deleteFile", func(call goja.FunctionCall) goja.Value { return with("deleteFile", "path", call.Argument(0).String()) })
	add("listDir", func(call goja.FunctionCall) goja.Value { return with("listDir", "path", place(call.Argument(0))) })
	add("fileExists", func(call goja.FunctionCall) goja.Value { return with("fileExists", "path", call.Argument(0).String()) })
	add("searchFiles", func(call goja.FunctionCall) goja.Value {
		return with("searchFiles", "pattern", call.Argument(0).String())
	})
	add("searchContent", func(call goja.FunctionCall) goja.Value {
		return with("searchContent", "pattern", call.Argument(0).String(), "path", place(call.Argument(1)))
	})
	add("submitResult", func(call goja.FunctionCall) goja.Value {
		changed := call.Argument(1)
		if goja.IsUndefined(changed) {
			changed = vm.NewArray()
		}
		return with("submitResult", "summary", call.Argument(0).String(), "changedFiles", changed)
	})
}

// readFile reads a file in pieces.
func (r *run) readFile(vm *goja.Runtime, path string, call func(name string, pairs ...any) goja.Value) goja.Value {
	var text []byte
	for offset := int64(0); ; {
		piece, ok := call("readFile", "path", path, "offset", offset).(*goja.Object)
		if !ok {
			panic(throw(vm, "Error", "The host's answer is malformed."))
		}
		text = append(text, piece.Get("content").String()...)
		if offset = piece.Get("next").ToInteger(); offset == 0 {
			return vm.ToValue(string(text))
		}
	}
}

// writeFile writes a file in pieces.
func (r *run) writeFile(vm *goja.Runtime, path string, content goja.Value, call func(name string, pairs ...any) goja.Value) goja.Value {
	if !goja.IsString(content) {
		panic(vm.NewTypeError("writeFile: content must be a string"))
	}
	if wellFormed, ok := goja.AssertFunction(content.ToObject(vm).Get("isWellFormed")); ok {
		if good, err := wellFormed(content); err == nil && !good.ToBoolean() {
			panic(vm.NewTypeError("writeFile: content must be a string without lone surrogates"))
		}
	}
	text := content.String()
	for offset := 0; ; {
		end := min(offset+pieceBytes, len(text))
		for end < len(text) && !utf8.RuneStart(text[end]) {
			end--
		}
		call("writeFile", "path", path, "content", text[offset:end], "offset", offset, "more", end < len(text))
		if end == len(text) {
			return vm.ToValue(true)
		}
		offset = end
	}
}
