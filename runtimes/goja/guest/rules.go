package guest

import (
	_ "embed"

	"github.com/dop251/goja"

	"github.com/atelier-run/atelier/runtimes"
)

//go:embed rules.js
var rulesSource string

// restrict replaces the functions that execute text as code, such as eval, with functions that throw an error. The
// check of the source finds only calls by name; restrict also blocks other calls. A program can bypass it; only the
// sandbox is a security boundary.
func (r *run) restrict(vm *goja.Runtime) {
	r.script(vm, "rules.js", rulesSource, func(native *goja.Object) {
		method(vm, native, "refuse", func(call goja.FunctionCall) goja.Value {
			r.refuse(vm, runtimes.RuleCode, call.Argument(0).String()+" is not available to this program.", "Parse data with JSON.parse, and choose among functions with an object.")
			return nil
		})
	})
}

// refuse throws an error that names a rule.
func (r *run) refuse(vm *goja.Runtime, rule, message, remedy string) {
	e := throw(vm, "Error", message)
	if object, ok := e.(*goja.Object); ok {
		r.noteDenied(object, &runtimes.CallError{Code: string(runtimes.Denied), Message: message, Rule: rule, Remedy: remedy})
	}
	panic(e)
}

// noteDenied records the rule or denial that caused an error object.
func (r *run) noteDenied(object *goja.Object, why *runtimes.CallError) {
	if r.denied == nil {
		r.denied = map[*goja.Object]*runtimes.CallError{}
	}
	r.denied[object] = why
}
