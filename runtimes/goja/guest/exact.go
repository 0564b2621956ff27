package guest

import (
	"math/big"

	"github.com/dop251/goja"
)

// Integers of the input that a number cannot hold
//
// The contract says that they keep their digits from input to output. A number cannot, and an object that stands for a
// number compares by identity: a lookup by ID would silently find nothing. They are BigInts: === , Map keys and text are
// exact, and arithmetic with numbers throws a TypeError instead of rounding. Returned, logged, passed to the host or
// given to JSON.stringify they are written with their digits. BigInts that the program makes itself stay what JSON does
// not know: invalid_output with the path.

func (d *decoder) bigint(digits string) goja.Value {
	n, ok := new(big.Int).SetString(digits, 10)
	if !ok {
		d.unexpected()
	}
	return d.vm.ToValue(n)
}

// keep remembers a BigInt by identity.
func (r *run) keep(value goja.Value, digits string) {
	if r.exact == nil {
		r.exact = map[goja.Value]string{}
	}
	r.exact[value] = digits
}

// installExact lets JSON.stringify write the kept integers. For other BigInts it throws what the language says.
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
