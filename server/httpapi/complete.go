package httpapi

import (
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/server/gate"
	"github.com/atelier-run/atelier/server/problem"
)

const problemRef = "#/components/schemas/Problem"

// complete adds parts to the API description that many operations have in common: the errors and headers of the gate,
// required headers, nullable members and examples. It may be called again after more operations were added.
func complete(api *huma.OpenAPI) error {
	known, err := readExamples()
	if err != nil {
		return err
	}
	for name, schema := range api.Components.Schemas.Map() {
		neverNull(schema, map[*huma.Schema]bool{})
		if t := api.Components.Schemas.TypeFromRef(componentsPath + name); t != nil {
			admitNull(schema, t)
		}
	}
	for path, item := range api.Paths {
		for method, op := range operationsOf(item) {
			completeOperation(op, method, path)
			describeTexts(api, op)
			if err := known.add(op); err != nil {
				return err
			}
		}
	}
	return nil
}

// operationsOf returns the operations of a path by method.
func operationsOf(item *huma.PathItem) map[string]*huma.Operation {
	all := map[string]*huma.Operation{
		http.MethodGet: item.Get, http.MethodPost: item.Post, http.MethodPut: item.Put, http.MethodPatch: item.Patch, http.MethodDelete: item.Delete,
	}
	for method, op := range all {
		if op == nil {
			delete(all, method)
		}
	}
	return all
}

func completeOperation(op *huma.Operation, method, path string) {
	if gate.NeedsCaller(method, path) {
		addParameter(op, &huma.Param{
			Name: gate.WorkspaceHeader, In: "header", Description: "Name or ID of the workspace (default: a session's first workspace; a token has only its own).",
			Schema: &huma.Schema{Type: huma.TypeString, MinLength: new(1), MaxLength: new(100)},
		})
		if method == http.MethodGet { // Browsers cannot send headers with a WebSocket or a download, so they send the workspace in the query.
			addParameter(op, &huma.Param{
				Name: gate.WorkspaceParameter, In: "query", Description: "Same as " + gate.WorkspaceHeader + ".", Schema: &huma.Schema{Type: huma.TypeString, MinLength: new(1), MaxLength: new(100)},
			})
		}
		// The gate answers with these errors before the operation gets the request, for example for an unknown workspace or
		// too many wrong tokens.
		for _, code := range []fault.Code{fault.BadRequest, fault.Unauthenticated, fault.Forbidden, fault.NotFound, fault.TooManyRequests} {
			addRefusal(op, code)
		}
	}
	if op.RequestBody != nil { // Reserving memory for the body can fail.
		addRefusal(op, fault.TooManyRequests)
	}
	for _, p := range op.Parameters {
		if p.In == "header" && p.Name == keyHeader {
			addRefusal(op, fault.IdempotencyMismatch)
		}
		if p.In == "header" && p.Name == "If-Match" {
			described := *p.Schema // Change only a copy: the framework checks requests with the original, and the message of the handler is better.
			described.Pattern = `^(\*|(W/)?"[1-9][0-9]{0,17}")$`
			p.Schema, p.Required = &described, op.Responses[strconv.Itoa(problem.Status(fault.PreconditionRequired))] != nil
			addRefusal(op, fault.BadRequest)
		}
	}
}

func addParameter(op *huma.Operation, p *huma.Param) {
	for _, known := range op.Parameters {
		if known.In == p.In && known.Name == p.Name {
			return
		}
	}
	op.Parameters = append(op.Parameters, p)
}

// addRefusal adds an error response with a problem document to an operation. It preserves other media types of the
// response.
func addRefusal(op *huma.Operation, code fault.Code) {
	status := strconv.Itoa(problem.Status(code))
	if op.Responses[status] == nil {
		op.Responses[status] = &huma.Response{Description: http.StatusText(problem.Status(code)), Content: map[string]*huma.MediaType{}}
	}
	op.Responses[status].Content[problem.MediaType] = &huma.MediaType{Schema: &huma.Schema{Ref: problemRef}}
}

// keyParameter returns the description of the Idempotency-Key header of an operation.
func keyParameter() *huma.Param {
	return &huma.Param{
		Name: keyHeader, In: "header", Description: "A key that you choose, a new one for each request. If you repeat a request with the same key within 24 hours, you get the first answer. A different request with the same key is answered with conflict.",
		Schema: &huma.Schema{Type: huma.TypeString, MinLength: new(1), MaxLength: new(keyLength)},
	}
}

// admitNull makes those members of a schema nullable whose Go fields can be encoded as null. These are pointers without
// omitempty.
func admitNull(schema *huma.Schema, t reflect.Type) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return
	}
	for _, field := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		property := schema.Properties[name]
		if property == nil || len(property.AnyOf) > 0 || field.Type.Kind() != reflect.Pointer || strings.Contains(options, "omit") {
			continue
		}
		if property.Ref == "" {
			property.Nullable = true
			continue
		}
		schema.Properties[name] = &huma.Schema{Description: property.Description, AnyOf: []*huma.Schema{{Ref: property.Ref}, {Type: "null"}}}
	}
}
