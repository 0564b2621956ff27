package guest

import (
	"fmt"
	"strings"

	"github.com/dop251/goja"

	"github.com/atelier-run/atelier/internal/jcs"
	"github.com/atelier-run/atelier/runtimes"
)

// Schemas of the program
//
// A program may export schemas named input and output, from any library that implements the interface Standard Schema,
// such as Zod. A schema of a library can check more than a JSON Schema. main receives the value that the input schema
// returns.

// standard is the name of the property of a schema that contains the functions of Standard Schema.
const standard = "~standard"

// schemaError is the error for a value that a schema of the program refuses.
type schemaError struct {
	kind    runtimes.ErrorType
	message string
	fields  []runtimes.FieldError
}

func (e *schemaError) Error() string { return e.message }

// exported returns the functions of the schema that a program exports under a name, and its function validate. Both are
// nil if there is no schema.
func exported(exports goja.Value, name string) (schema *goja.Object, validate goja.Callable) {
	object, ok := exports.(*goja.Object)
	if !ok {
		return nil, nil
	}
	holders := []*goja.Object{object}
	if inner, ok := object.Get("default").(*goja.Object); ok { // the form of CommonJS, where module.exports is the default
		holders = append(holders, inner)
	}
	for _, holder := range holders {
		schema, ok := holder.Get(name).(*goja.Object)
		if !ok {
			continue
		}
		if own, ok := schema.Get(standard).(*goja.Object); ok {
			if validate, ok := goja.AssertFunction(own.Get("validate")); ok {
				return own, validate
			}
		}
	}
	return nil, nil
}

// parse validates a value with the schema that the program exports under a name, and returns the validated value. If there is
// no such schema, it returns the value itself.
func (r *run) parse(vm *goja.Runtime, exports goja.Value, name string, value goja.Value) (goja.Value, error) {
	var schema *goja.Object
	var validate goja.Callable
	if err := guarded(vm, func() { schema, validate = exported(exports, name) }); err != nil || validate == nil {
		return value, err
	}
	result, err := validate(schema, value)
	if err != nil {
		return nil, err
	}
	if result, err = r.loop.settle(vm, result); err != nil {
		return nil, err
	}
	var refused *schemaError
	if err := guarded(vm, func() { value, refused = verdict(name, result) }); err != nil {
		return nil, err
	}
	if refused != nil {
		return nil, refused
	}
	return value, nil
}

// verdict reads the result of a validation: {value} or {issues}.
func verdict(name string, result goja.Value) (goja.Value, *schemaError) {
	object, ok := result.(*goja.Object)
	if !ok {
		return goja.Undefined(), nil
	}
	issues, ok := object.Get("issues").(*goja.Object)
	if !ok {
		return object.Get("value"), nil
	}
	refused := &schemaError{kind: runtimes.InvalidInput}
	if name == "output" {
		refused.kind = runtimes.InvalidOutput
	}
	for _, at := range issues.Keys() {
		if issue, ok := issues.Get(at).(*goja.Object); ok && len(refused.fields) < runtimes.MaxFieldErrors {
			refused.fields = append(refused.fields, fieldError(name, issue))
		}
	}
	refused.message = fmt.Sprintf("The exported %s schema refuses the %s", name, name)
	for i, one := range refused.fields {
		refused.message += fmt.Sprintf("%s %s %s", []string{":", ";"}[min(i, 1)], one.Pointer, one.Message)
	}
	return nil, refused
}

func fieldError(name string, issue *goja.Object) runtimes.FieldError {
	var pointer strings.Builder
	pointer.WriteString("/" + name)
	if path, ok := issue.Get("path").(*goja.Object); ok {
		for _, at := range path.Keys() {
			segment := path.Get(at)
			if keyed, ok := segment.(*goja.Object); ok {
				segment = keyed.Get("key")
			}
			if segment != nil {
				pointer.WriteString("/" + jcs.EscapePointer(segment.String()))
			}
		}
	}
	message := "is not valid."
	if text := issue.Get("message"); text != nil && text.String() != "" {
		message = text.String()
	}
	return runtimes.FieldError{Pointer: cut(pointer.String(), maxFieldText), Message: cut(message, maxFieldText)}
}
