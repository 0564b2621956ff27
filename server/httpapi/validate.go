package httpapi

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/server/gate"
	"github.com/atelier-run/atelier/studio/agents"
)

// ValidateBody contains a program to check without running it. Parts that are missing are not checked.
type ValidateBody struct {
	Language     runtimes.Language        `json:"language,omitempty"`
	Runtime      runtimes.Name            `json:"runtime,omitempty" doc:"Runtime (default: auto)."`
	Code         string                   `json:"code,omitempty"`
	Files        map[string]registry.File `json:"files,omitempty"`
	Entrypoint   string                   `json:"entrypoint,omitempty"`
	Environment  map[string]string        `json:"environment,omitempty" doc:"Environment variables for a Python program that infer loads."`
	Packages     []string                 `json:"packages,omitempty" doc:"Packages of the program, as in an agent. If set, imports of packages are not checked, and infer installs the packages that it needs."`
	Rules        *RulesBody               `json:"rules,omitempty"`
	InputSchema  json.RawMessage          `json:"inputSchema,omitempty"`
	OutputSchema json.RawMessage          `json:"outputSchema,omitempty"`
	Input        json.RawMessage          `json:"input,omitempty"`
	Output       json.RawMessage          `json:"output,omitempty"`
	Name         string                   `json:"name,omitempty" doc:"Name of the agent. The answer contains a warning if the description only repeats it."`
	Title        string                   `json:"title,omitempty" doc:"Name of the agent. The answer contains a warning if the description only repeats it."`
	Description  *string                  `json:"description,omitempty" doc:"Description of the agent. The answer contains a warning if it is missing, or too short or too long for models."`
	Infer        bool                     `json:"infer,omitempty" doc:"Also infer the schemas from the code, as POST /infer does. A Python program is loaded for that."`
}

func (a *API) validate() {
	type in struct{ Body ValidateBody }
	type out struct{ Body agents.ValidateReport }
	add(a, endpoint{
		modules: true, id: "validate", method: http.MethodPost, path: Base + "/validate", tag: "agents", summary: "Check code, schemas and documents",
		about:    "The code is parsed in the sandbox and not run. With infer, the field inferred contains the schemas that are derived from its types.",
		refusals: []fault.Code{fault.SandboxUnavailable, fault.QueueFull, fault.QuotaExceeded},
	}, func(ctx context.Context, q *in) (*out, error) {
		b := q.Body
		if b.Infer {
			if err := gate.Require(ctx, registry.RunScope); err != nil {
				return nil, err
			}
		}
		report, err := a.Agents.Validate(ctx, actor(ctx), agents.ValidateRequest{
			Language: b.Language, Runtime: b.Runtime, Code: b.Code, Files: b.Files, Entrypoint: b.Entrypoint, Environment: b.Environment, Packages: b.Packages, Rules: (*runtimes.Rules)(b.Rules),
			InputSchema: b.InputSchema, OutputSchema: b.OutputSchema, Input: b.Input, Output: b.Output, Infer: b.Infer, Name: b.Name, Title: b.Title, Description: b.Description,
		})
		if err != nil {
			return nil, err
		}
		report.Errors, report.Warnings = orEmpty(report.Errors), orEmpty(report.Warnings)
		return &out{Body: report}, nil
	})
}
