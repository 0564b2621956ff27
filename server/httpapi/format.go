package httpapi

import (
	"context"
	"net/http"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/agents"
)

// FormatBody is code to lay out anew.
type FormatBody struct {
	Language runtimes.Language `json:"language" doc:"bash; editors format the others themselves."`
	Code     string            `json:"code"`
	Indent   int               `json:"indent,omitempty" minimum:"1" maximum:"8" doc:"Spaces for a step; 2 without it."`
}

func (a *API) format() {
	type in struct{ Body FormatBody }
	type out struct{ Body agents.FormatReport }
	add(a, endpoint{
		id: "format", method: http.MethodPost, path: Base + "/format", tag: "agents", summary: "Format a script",
		about:    "Runs nothing. Code is parsed in the sandbox; what cannot be parsed comes back as it was, with the errors.",
		refusals: []fault.Code{fault.SandboxUnavailable},
	}, func(ctx context.Context, q *in) (*out, error) {
		report, err := a.Agents.Format(ctx, q.Body.Language, q.Body.Code, q.Body.Indent)
		if err != nil {
			return nil, err
		}
		report.Errors = orEmpty(report.Errors)
		return &out{Body: report}, nil
	})
}
