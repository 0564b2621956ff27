package httpapi

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/studio/agents"
)

// ExportBody asks for a version as a tool.
type ExportBody struct {
	Version string `json:"version,omitempty" doc:"1.2.0, ^1, latest or a digest; latest without it."`
	Format  string `json:"format,omitempty" enum:"atelier,openai,langchain,anthropic,gemini,mcp,openapi" default:"atelier"`
	Publish bool   `json:"publish,omitempty" doc:"Publish the draft first when there is no version yet."`
}

// manifestAnswer is a manifest in the form that was asked for, as it is.
type manifestAnswer struct {
	Warnings []string `header:"Atelier-Warning" doc:"A JSON text: what a person should know of the manifest, such as why it is not strict. It may stand several times."`
	Renamed  string   `header:"Atelier-Renamed" doc:"The agent's present name, when a former one was asked for."`
	Body     json.RawMessage
}

func (a *API) exportTool() {
	type in struct {
		AgentRef
		RequestBase
		Body ExportBody
	}
	add(a, endpoint{
		id: "exportTool", method: http.MethodPost, path: Base + "/code-agents/{agent}/export-tool", tag: "versions", summary: "Export a version as a tool",
		about:      "Answers the manifest itself. A manifest never points at a draft: without a version the answer is no_version with a remedy.",
		idempotent: true, refusals: []fault.Code{fault.NotFound, fault.NoVersion},
	}, func(ctx context.Context, q *in) (*manifestAnswer, error) {
		if q.Body.Publish {
			if err := a.mayChange(ctx, q.Agent); err != nil {
				return nil, err
			}
		}
		return a.export(ctx, q.Agent, agents.ExportRequest{
			Version: q.Body.Version, Format: q.Body.Format, Publish: q.Body.Publish, BaseURL: a.baseURL(q.RequestBase),
		})
	})
}

func (a *API) export(ctx context.Context, agent string, request agents.ExportRequest) (*manifestAnswer, error) {
	result, version, err := a.Agents.Export(ctx, actor(ctx), agent, request)
	if err != nil {
		return nil, err
	}
	warnings, err := quoted(result.Warnings)
	return &manifestAnswer{Warnings: warnings, Renamed: renamed(agent, version), Body: result.Manifest}, err
}

// RequestBase learns by which address a request came.
type RequestBase struct{ base string }

// Resolve is called by the framework with the request.
func (b *RequestBase) Resolve(ctx huma.Context) []error {
	b.base = "http://" + ctx.Host()
	if ctx.TLS() != nil {
		b.base = "https://" + ctx.Host()
	}
	return nil
}

func (a *API) baseURL(b RequestBase) string {
	if a.PublicURL != "" {
		return a.PublicURL
	}
	return b.base + a.BasePath
}
