package guest

import (
	"math/big"
	"slices"

	"github.com/dop251/goja"
)

// Integers of the input that a JavaScript number cannot represent
//
// The contract guarantees that such integers keep all digits from input to output. A number would round them. A wrapper
// object would compare by identity, so a lookup by ID would find nothing.
//
// Therefore they become BigInts. With BigInts, ===, Map keys and text are exact, and arithmetic with numbers throws a
// TypeError instead of rounding. All digits are written when the program returns such a BigInt, logs it, passes it to
// the host or to JSON.stringify. BigInts that the program itself creates remain unsupported in JSON: they fail with
// invalid_output and the path.

func (d *decoder) bigint(digits string) goja.Value {
	n, ok := new(big.Int).SetString(digits, 10)
	if !ok {
		d.unexpected()
	}
	return d.vm.ToValue(n)
}

// keep records that a BigInt came from the input, with its digits. BigInts are recorded by identity.
func (r *run) keep(value goja.Value, digits string) {
	if r.exact == nil {
		r.exact = map[goja.Value]string{}
	}
	r.exact[value] = digits
}

// installExact makes JSON.stringify write the integers recorded by keep. For other BigInts, JSON.stringify throws the
// standard TypeError.
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
	// The program creates no BigInts itself, but its input may contain integers that become BigInts.
	if !slices.Contains(r.program.corrections, "numbers") {
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
