package httpapi

import (
	"context"
	"net/http"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/agents"
)

// FormatBody holds the code to format.
type FormatBody struct {
	Language runtimes.Language `json:"language" doc:"bash. Editors format other languages themselves."`
	Code     string            `json:"code"`
	Indent   int               `json:"indent,omitempty" minimum:"1" maximum:"8" doc:"Indentation in spaces (default: 2)."`
}

func (a *API) format() {
	type in struct{ Body FormatBody }
	type out struct{ Body agents.FormatReport }
	add(a, endpoint{
		id: "format", method: http.MethodPost, path: Base + "/format", tag: "agents", summary: "Format a script",
		about:    "The code is parsed in the sandbox and not run. Code with syntax errors is returned unchanged, with the errors.",
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
