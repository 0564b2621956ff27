package guest

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"github.com/atelier-run/atelier/runtimes"
)

// maxTrace is the maximum length of a stack trace in bytes.
const maxTrace = 16 << 10

// failure returns the program error for a failed run, with positions in the agent's source.
func (r *run) failure(err error) *runtimes.ProgramError {
	e := r.explain(err)
	if why := r.stopped.Load(); why != nil {
		return &runtimes.ProgramError{Type: why.kind, Message: why.message, File: e.File, Line: e.Line, Column: e.Column, Stack: e.Stack}
	}
	return e
}

// explain returns the program error for err. It may execute code of the program, and the program may be stopped during
// that time. So failure checks this afterwards.
func (r *run) explain(err error) *runtimes.ProgramError {
	if why := r.stopped.Load(); why != nil {
		e := &runtimes.ProgramError{Type: why.kind, Message: why.message}
		var interrupted *goja.InterruptedError
		if errors.As(err, &interrupted) {
			r.locate(e, trace(interrupted.Stack()))
		}
		return e
	}
	var (
		overflow  *goja.StackOverflowError
		exception *goja.Exception
		promise   *rejected
		entry     *entryError
		output    *outputError
		refused   *schemaError
	)
	switch {
	case errors.As(err, &overflow):
		e := &runtimes.ProgramError{Type: runtimes.RecursionLimit, Message: fmt.Sprintf("Calls are nested more than %d levels deep.", r.job.Limits.RecursionDepth)}
		lines := trace(overflow.Stack())
		r.locate(e, lines[:min(len(lines), 20)])
		return e
	case errors.As(err, &exception):
		e := r.uncaught(exception.Value())
		if e.Stack == "" {
			r.locate(e, trace(exception.Stack()))
		}
		return e
	case errors.As(err, &promise):
		e := r.uncaught(promise.value)
		if promise.orphan {
			e.Message += " (in a promise that was not awaited)"
		}
		return e
	case errors.As(err, &entry):
		return &runtimes.ProgramError{Type: runtimes.RuntimeError, Message: entry.message, File: entry.file, Line: 1, Column: 1}
	case errors.As(err, &refused):
		return &runtimes.ProgramError{Type: refused.kind, Message: refused.message, Errors: refused.fields}
	case errors.As(err, &output):
		return &runtimes.ProgramError{Type: output.kind, Message: output.message, Remedy: output.remedy}
	case errors.Is(err, errDeadlock):
		return &runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "The program waits forever: " + err.Error() + ".", File: r.job.Entrypoint}
	}
	return &runtimes.ProgramError{Type: runtimes.RuntimeError, Message: err.Error()}
}

// uncaught returns the program error for a thrown value. Inspecting the value may execute code of the program, which
// must not crash the worker.
func (r *run) uncaught(value goja.Value) *runtimes.ProgramError {
	e := &runtimes.ProgramError{Type: runtimes.RuntimeError}
	vm := r.vm.Load()
	object, isObject := value.(*goja.Object)
	if isObject && r.isError(vm, object) {
		var stack string
		r.quietly(func() { e.Message = errorText(object) })
		r.quietly(func() {
			if v := object.Get("stack"); v != nil && goja.IsString(v) {
				stack = v.String()
			}
		})
		r.locate(e, parseStack(stack))
		r.quietly(func() {
			if cause := object.Get("cause"); cause != nil && !goja.IsUndefined(cause) {
				e.Stack += "\n  [cause]: " + indent(r.inspect(vm, cause), "  ")
			}
			if list := object.Get("errors"); list != nil && !goja.IsUndefined(list) {
				e.Stack += "\n  [errors]: " + indent(r.inspect(vm, list), "  ")
			}
		})
		if e.Message == "" {
			e.Message = "An error was thrown that cannot be displayed."
		}
		e.Remedy = remedy(e.Message)
		if why := r.denied[object]; why != nil {
			e.Type, e.Remedy, e.Rule, e.Grant = runtimes.Denied, why.Remedy, why.Rule, why.Grant
		}
		return e
	}
	e.Message = "Uncaught value that cannot be displayed."
	r.quietly(func() { e.Message = "Uncaught " + r.inspect(vm, value) })
	return e
}

// remedy returns advice for mistakes that are common with this runtime.
func remedy(message string) string {
	switch {
	case strings.HasPrefix(message, "ReferenceError: Intl is not defined"):
		return "Intl is not available in the goja runtime: format the value in the program, or use toLocaleString with the locale en-US."
	case strings.HasPrefix(message, "ReferenceError: process is not defined"):
		return "Use ctx.env for environment values and ctx.log for messages."
	case strings.Contains(message, "Cannot mix BigInt and other types"):
		return "Input integers beyond 2^53 are BigInt to keep all digits. Convert them with Number(value) if rounding is acceptable."
	}
	return ""
}

func (r *run) isError(vm *goja.Runtime, object *goja.Object) bool {
	if object.ClassName() == "Error" {
		return true
	}
	// a DOMException, or another object that has the properties of an error
	var is bool
	r.quietly(func() {
		if constructor, ok := vm.GlobalObject().Get("Error").(*goja.Object); ok {
			is = vm.InstanceOf(object, constructor)
		}
	})
	return is
}

// quietly calls look, which inspects a value of the program. It discards exceptions from getters and proxies. If a
// getter or proxy never returns, an interrupt ends look, and later calls of quietly do nothing.
func (r *run) quietly(look func()) {
	if r.stopped.Load() == nil {
		_ = guarded(r.vm.Load(), look)
	}
}

// guarded calls f, which may execute code of the program. The VM makes the call, so that guarded can return an
// exception, an interrupt or a stack overflow as an error.
func guarded(vm *goja.Runtime, f func()) error {
	call, _ := goja.AssertFunction(vm.ToValue(func(goja.FunctionCall) goja.Value {
		f()
		return nil
	}))
	_, err := call(goja.Undefined())
	return err
}

// errorText returns the result of String(error) without calling the program's own toString.
func errorText(object *goja.Object) string {
	text := func(key, otherwise string) string {
		if v := object.Get(key); v != nil && !goja.IsUndefined(v) {
			return v.String()
		}
		return otherwise
	}
	name, message := text("name", "Error"), text("message", "")
	switch {
	case message == "":
		return name
	case name == "":
		return message
	}
	return name + ": " + message
}

// frame is one line of a stack.
type frame struct {
	function, file string
	line, column   int
}

func trace(stack []goja.StackFrame) []frame {
	var all []frame
	for i := range stack {
		at := stack[i].Position()
		if at.Filename == "" || at.Filename == programName {
			continue
		}
		function := stack[i].FuncName()
		if function == "<anonymous>" {
			function = ""
		}
		all = append(all, frame{function: function, file: sourceName(at.Filename), line: at.Line, column: at.Column})
	}
	return all
}

// parseStack parses goja's text of a stack trace. It omits lines of native functions and of the bundler's helpers.
func parseStack(stack string) []frame {
	line := regexp.MustCompile(`^\tat (?:(.*) \()?(.+):(\d+):(\d+)\(\d+\)\)?$`)
	var all []frame
	for text := range strings.SplitSeq(stack, "\n") {
		match := line.FindStringSubmatch(text)
		if match == nil || match[2] == programName || match[2] == "<eval>" {
			continue
		}
		row, _ := strconv.Atoi(match[3])
		column, _ := strconv.Atoi(match[4])
		all = append(all, frame{function: match[1], file: sourceName(match[2]), line: row, column: column})
	}
	return all
}

// sourceName decodes the URL escapes that goja's source maps add to file names.
func sourceName(name string) string {
	if plain, err := url.PathUnescape(name); err == nil {
		return plain
	}
	return name
}

// locate adds to an error a stack trace and the first position of the trace in the agent's source.
func (r *run) locate(e *runtimes.ProgramError, lines []frame) {
	var text strings.Builder
	text.WriteString(e.Message)
	for _, f := range lines {
		if _, own := r.program.files[f.file]; own && e.File == "" {
			e.File, e.Line, e.Column = f.file, f.line, f.column
		}
		if text.Len() > maxTrace {
			text.WriteString("\n    …")
			break
		}
		text.WriteString("\n    at " + f.String())
	}
	if len(lines) > 0 {
		e.Stack = strings.TrimPrefix(text.String(), "\n")
	}
}

func (f frame) String() string {
	at := fmt.Sprintf("%s:%d:%d", f.file, f.line, f.column)
	if f.function == "" {
		return at
	}
	return f.function + " (" + at + ")"
}

// stackText formats the stack trace of an error as Node does.
func stackText(message, stack string) string {
	var text strings.Builder
	text.WriteString(message)
	for _, f := range parseStack(stack) {
		text.WriteString("\n    at " + f.String())
	}
	return text.String()
}

func indent(text, by string) string { return strings.ReplaceAll(text, "\n", "\n"+by) }
