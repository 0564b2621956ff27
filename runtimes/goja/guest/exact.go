package guest

import (
	"math/big"
	"slices"

	"github.com/dop251/goja"
)

// Integers of the input that a number cannot hold
//
// The contract guarantees that such integers keep their digits from input to output. A number cannot hold them. A
// wrapper object compares by identity, so a lookup by ID would silently find nothing.
//
// Therefore they are BigInts: ===, Map keys and text are exact, and arithmetic with numbers throws a TypeError instead
// of rounding. They are written with all digits when the program returns them, logs them, passes them to the host or
// gives them to JSON.stringify. BigInts that the program itself creates remain unsupported in JSON: they fail with
// invalid_output and the path.

func (d *decoder) bigint(digits string) goja.Value {
	n, ok := new(big.Int).SetString(digits, 10)
	if !ok {
		d.unexpected()
	}
	return d.vm.ToValue(n)
}

// keep stores a BigInt by identity.
func (r *run) keep(value goja.Value, digits string) {
	if r.exact == nil {
		r.exact = map[goja.Value]string{}
	}
	r.exact[value] = digits
}

// installExact makes JSON.stringify write the kept integers. For other BigInts it throws the standard error of the
// language.
func (r *run) installExact(vm *goja.Runtime) {
	constructor, ok := vm.GlobalObject().Get("BigInt").(*goja.Object)
	if !ok {
		return
	}
	prototype, ok := constructor.Get("prototype").(*goja.Object)
	if !ok || prototype.Get("toJSON") != nil {
		return
	}
	json, ok := vm.GlobalObject().Get("JSON").(*goja.Object)
	if !ok {
		return
	}
	raw, ok := goja.AssertFunction(json.Get("rawJSON"))
	if !ok {
		return
	}
	if !slices.Contains(r.program.corrections, "numbers") { // the program has BigInts only from outside
		r.correct(vm, "numbers")
	}
	method(vm, prototype, "toJSON", func(call goja.FunctionCall) goja.Value {
		digits, kept := r.exact[call.This]
		if !kept {
			panic(vm.NewTypeError("Do not know how to serialize a BigInt"))
		}
		text, err := raw(json, vm.ToValue(digits))
		if err != nil {
			panic(err)
		}
		return text
	})
}
