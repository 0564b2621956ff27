package httpapi

import (
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/atelier-run/atelier/server/gate"
)

// stream registers and describes a route whose bodies are not JSON. In contrast to add, its handler writes the answer
// and problem documents itself.
func (a *API) stream(e endpoint, parameters []*huma.Param, body *huma.RequestBody, handle http.HandlerFunc) {
	op := &huma.Operation{
		OperationID: e.id, Method: e.method, Path: e.path, Tags: []string{e.tag}, Summary: e.summary, Description: e.about,
		Parameters: parameters, RequestBody: body, Responses: e.answers, Security: gate.Security(e.method, e.path),
	}
	for _, status := range refusals(e) {
		op.Responses[strconv.Itoa(status)] = &huma.Response{
			Description: http.StatusText(status),
			Content:     map[string]*huma.MediaType{"application/problem+json": {Schema: &huma.Schema{Ref: problemRef}}},
		}
	}
	a.huma.OpenAPI().AddOperation(op)
	a.router.Method(e.method, e.path, handle)
}
