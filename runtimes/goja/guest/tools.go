package guest

import (
	"github.com/dop251/goja"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/bundle"
)

// callTool implements ctx.callTool(reference, input). It returns a promise for compatibility with the node runtime, which
// can wait for several calls at once. Here the call is already complete when the promise is returned.
func (r *run) callTool(vm *goja.Runtime, reference, input goja.Value) goja.Value {
	return settled(vm, func() goja.Value {
		args := vm.NewObject()
		_ = args.Set("reference", reference.String())
		if !goja.IsUndefined(input) {
			_ = args.Set("input", input)
		}
		return r.call(vm, "callTool", args)
	})
}

// settled calls work. It returns a promise that is already resolved with the result of work, or rejected with its
// exception.
func settled(vm *goja.Runtime, work func() goja.Value) goja.Value {
	promise, resolve, reject := vm.NewPromise()
	var result goja.Value
	err := guarded(vm, func() { result = work() })
	switch thrown := err.(type) { //nolint:errorlint // guarded returns errors of goja unchanged
	case nil:
		_ = resolve(result)
	case *goja.Exception:
		_ = reject(thrown.Value())
	default:
		panic(err) // the VM was interrupted
	}
	return vm.ToValue(promise)
}

// toolFailure returns the JavaScript object that describes a failed run of a called agent.
func toolFailure(vm *goja.Runtime, failure runtimes.ToolFailure) goja.Value {
	object := vm.NewObject()
	for name, text := range map[string]string{"reference": failure.Reference, "type": failure.Type, "message": failure.Message, "runId": failure.RunID} {
		_ = object.Set(name, text)
	}
	return object
}

// agents returns the exports of the module "agents": one function for each name. The function calls the agent with that
// name. The server checks which agents the program may call.
func (r *run) agents(vm *goja.Runtime) goja.Value {
	stubs := vm.NewProxy(vm.NewObject(), &goja.ProxyTrapConfig{
		Get: func(_ *goja.Object, name string, _ goja.Value) goja.Value {
			// Names that module loaders read from any exports.
			if name == "then" || name == "default" || name == "__esModule" {
				return goja.Undefined()
			}
			return function(vm, name, func(call goja.FunctionCall) goja.Value {
				return r.callTool(vm, vm.ToValue(name), call.Argument(0))
			})
		},
	})
	// The functions are in the prototype, because the loader copies own properties and keeps the prototype.
	return vm.CreateObject(vm.ToValue(stubs).ToObject(vm))
}

// agentsMaker creates the global that the module "agents" exports.
func agentsMaker() maker {
	return maker{bundle.AgentsName, func(r *run, vm *goja.Runtime) goja.Value { return r.agents(vm) }}
}
