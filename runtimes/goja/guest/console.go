package guest

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/dop251/goja"

	"github.com/atelier-run/atelier/runtimes/frames"
)

// console implements the global console object: log, info and debug write to stdout, warn and error to stderr.
type console struct {
	run    *run
	vm     *goja.Runtime
	indent string
	counts map[string]int
	timers map[string]time.Time
}

func consoleMethods() []string {
	return []string{
		"log", "info", "debug", "warn", "error", "trace", "dir", "table", "assert", "group", "groupCollapsed", "groupEnd", "count",
		"countReset", "time", "timeLog", "timeEnd",
	}
}

// newConsole creates the console object. To save time, the object has only the methods that the program's source names
// after "console.". If the program uses the console in another way, the object has all methods.
func newConsole(r *run, vm *goja.Runtime) *goja.Object {
	c := &console{run: r, vm: vm, counts: map[string]int{}, timers: map[string]time.Time{}}
	object := vm.NewObject()
	whole := r.program.wordSet.has(wholeConsole)
	for _, name := range consoleMethods() {
		if whole || r.program.wordSet.has(name) {
			method(vm, object, name, c.method(name))
		}
	}
	return object
}

func (c *console) method(name string) func(goja.FunctionCall) goja.Value {
	switch name {
	case "warn", "error":
		return c.printer(frames.Stderr)
	case "trace":
		return c.trace
	case "dir":
		return c.dir
	case "assert":
		return c.assert
	case "group", "groupCollapsed":
		return c.group
	case "groupEnd":
		return c.groupEnd
	case "count":
		return c.count
	case "countReset":
		return c.countReset
	case "time":
		return c.time
	case "timeLog":
		return c.timeLog
	case "timeEnd":
		return c.timeEnd
	}
	return c.printer(frames.Stdout)
}

func (c *console) printer(kind frames.Kind) func(goja.FunctionCall) goja.Value {
	return func(call goja.FunctionCall) goja.Value {
		c.print(kind, c.format(call.Arguments))
		return goja.Undefined()
	}
}

func (c *console) print(kind frames.Kind, text string) {
	if c.indent != "" {
		text = c.indent + indent(text, c.indent)
	}
	c.run.taint()
	c.run.output.Write(kind, text+"\n")
}

// format joins arguments as Node does. If the first argument is a string, it may contain the placeholders %s %d %i %f %j
// %o %O %c %%. Strings are written unchanged, other values as inspect formats them.
func (c *console) format(args []goja.Value) string {
	if len(args) == 1 && goja.IsString(args[0]) {
		return args[0].String()
	}
	var out strings.Builder
	if len(args) > 0 && goja.IsString(args[0]) {
		text := args[0].String()
		args = args[1:]
		for {
			at := strings.IndexByte(text, '%')
			if at < 0 || at+1 >= len(text) || len(args) == 0 && text[at+1] != '%' {
				break
			}
			out.WriteString(text[:at])
			if directive := text[at+1]; directive == '%' {
				out.WriteByte('%')
			} else if shown, ok := c.directive(directive, args[0]); ok {
				out.WriteString(shown)
				args = args[1:]
			} else {
				out.WriteString(text[at : at+2])
			}
			text = text[at+2:]
		}
		out.WriteString(text)
		if len(args) > 0 {
			out.WriteByte(' ')
		}
	}
	for i, arg := range args {
		if i > 0 {
			out.WriteByte(' ')
		}
		if goja.IsString(arg) {
			out.WriteString(arg.String())
		} else {
			out.WriteString(c.run.inspect(c.vm, arg))
		}
	}
	return out.String()
}

func (c *console) directive(directive byte, arg goja.Value) (string, bool) {
	_, isObject := arg.(*goja.Object)
	_, isSymbol := arg.(*goja.Symbol)
	switch directive {
	case 's':
		if isObject {
			return c.run.inspectTo(c.vm, arg, 0), true
		}
		if goja.IsString(arg) {
			return arg.String(), true
		}
		return c.run.inspect(c.vm, arg), true
	case 'd', 'i', 'f':
		switch {
		case isObject || isSymbol:
			return "NaN", true
		case goja.IsBigInt(arg):
			return arg.String() + "n", true
		}
		f := arg.ToFloat()
		if directive == 'i' {
			f = math.Trunc(f)
		}
		return number(c.vm.ToValue(f)), true
	case 'j':
		json, ok := c.vm.GlobalObject().Get("JSON").(*goja.Object)
		if !ok {
			return "undefined", true
		}
		stringify, ok := goja.AssertFunction(json.Get("stringify"))
		if !ok {
			return "undefined", true
		}
		text, err := stringify(json, arg)
		if err != nil {
			return "[Circular]", true
		}
		return text.String(), true
	case 'o', 'O':
		return c.run.inspectTo(c.vm, arg, 4), true
	case 'c':
		return "", true
	}
	return "", false
}

func (c *console) trace(call goja.FunctionCall) goja.Value {
	var text strings.Builder
	text.WriteString("Trace")
	if len(call.Arguments) > 0 {
		text.WriteString(": " + c.format(call.Arguments))
	}
	for _, f := range trace(c.vm.CaptureCallStack(0, nil)) {
		text.WriteString("\n    at " + f.String())
	}
	c.print(frames.Stderr, text.String())
	return goja.Undefined()
}

func (c *console) dir(call goja.FunctionCall) goja.Value {
	c.print(frames.Stdout, c.run.inspect(c.vm, call.Argument(0)))
	return goja.Undefined()
}

func (c *console) assert(call goja.FunctionCall) goja.Value {
	if call.Argument(0).ToBoolean() {
		return goja.Undefined()
	}
	text := "Assertion failed"
	if len(call.Arguments) > 1 {
		text += ": " + c.format(call.Arguments[1:])
	}
	c.print(frames.Stderr, text)
	return goja.Undefined()
}

// maxGroups is the maximum depth of groups that add indentation to every line.
const maxGroups = 40

func (c *console) group(call goja.FunctionCall) goja.Value {
	if len(call.Arguments) > 0 {
		c.print(frames.Stdout, c.format(call.Arguments))
	}
	if len(c.indent) < 2*maxGroups {
		c.indent += "  "
	}
	return goja.Undefined()
}

func (c *console) groupEnd(goja.FunctionCall) goja.Value {
	c.indent = strings.TrimSuffix(c.indent, "  ")
	return goja.Undefined()
}

func label(call goja.FunctionCall) string {
	if goja.IsUndefined(call.Argument(0)) {
		return "default"
	}
	return call.Argument(0).String()
}

func (c *console) count(call goja.FunctionCall) goja.Value {
	c.counts[label(call)]++
	c.print(frames.Stdout, fmt.Sprintf("%s: %d", label(call), c.counts[label(call)]))
	return goja.Undefined()
}

func (c *console) countReset(call goja.FunctionCall) goja.Value {
	delete(c.counts, label(call))
	return goja.Undefined()
}

func (c *console) time(call goja.FunctionCall) goja.Value {
	c.run.taint()
	c.timers[label(call)] = time.Now()
	return goja.Undefined()
}

func (c *console) timeLog(call goja.FunctionCall) goja.Value {
	began, ok := c.timers[label(call)]
	if !ok {
		c.print(frames.Stderr, fmt.Sprintf("Warning: No such label '%s' for console.timeLog()", label(call)))
		return goja.Undefined()
	}
	text := fmt.Sprintf("%s: %.3fms", label(call), float64(time.Since(began).Microseconds())/1000)
	if len(call.Arguments) > 1 {
		text += " " + c.format(call.Arguments[1:])
	}
	c.print(frames.Stdout, text)
	return goja.Undefined()
}

func (c *console) timeEnd(call goja.FunctionCall) goja.Value {
	c.timeLog(goja.FunctionCall{This: call.This, Arguments: call.Arguments[:min(len(call.Arguments), 1)]})
	delete(c.timers, label(call))
	return goja.Undefined()
}
