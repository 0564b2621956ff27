package httpapi

import (
	"encoding/json"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry/schema"
)

// bodyChecks validates request bodies against the schemas of the API description. It replaces the validation of the
// framework, which treats dots in file names as path separators and repeats values in its messages.
type bodyChecks struct {
	api  *huma.OpenAPI
	once sync.Map // maps an operation ID to a func() (*schema.Schema, error)
}

// check validates the body of an operation. Its error lists every violation by JSON pointer. value is the decoded body.
func (b *bodyChecks) check(op *huma.Operation, body []byte, value any) error {
	if op.RequestBody == nil {
		return nil
	}
	if body == nil {
		return fault.Invalid("", "A JSON body is required.")
	}
	compile, _ := b.once.LoadOrStore(op.OperationID, sync.OnceValues(func() (*schema.Schema, error) { return b.compile(op) }))
	fits, err := compile.(func() (*schema.Schema, error))()
	if err != nil {
		return err
	}
	if details := fits.ValidateValue(value); len(details) > 0 {
		return &fault.Error{Code: fault.InvalidInput, Message: "The body is not valid.", Details: details}
	}
	return nil
}

// compile builds one schema from the schema of an operation's body and all components to which it refers.
func (b *bodyChecks) compile(op *huma.Operation) (*schema.Schema, error) {
	root := op.RequestBody.Content["application/json"].Schema
	definitions := map[string]*huma.Schema{}
	if err := b.gather(root, definitions); err != nil {
		return nil, err
	}
	text, err := json.Marshal(map[string]any{"$defs": definitions, "allOf": []any{root}})
	if err != nil {
		return nil, err
	}
	checked, err := checkedByOperations(string(text))
	if err != nil {
		return nil, err
	}
	return schema.Compile([]byte(strings.ReplaceAll(checked, `"`+componentsPath, `"#/$defs/`)))
}

const componentsPath = "#/components/schemas/"

// gather collects the components to which a schema refers, directly or indirectly.
func (b *bodyChecks) gather(s *huma.Schema, into map[string]*huma.Schema) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	for part := range strings.SplitSeq(string(text), `"$ref":"`+componentsPath) {
		name, _, _ := strings.Cut(part, `"`)
		component := b.api.Components.Schemas.Map()[name]
		if component == nil || into[name] != nil {
			continue
		}
		into[name] = component
		if err := b.gather(component, into); err != nil {
			return err
		}
	}
	return nil
}
