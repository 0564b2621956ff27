package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry/manifest"
	"github.com/atelier-run/atelier/studio/agents"
)

// ExportBody requests a version as a tool manifest.
type ExportBody struct {
	Version  string         `json:"version,omitempty" doc:"1.2.0, ^1, latest or a digest (default: latest)."`
	Format   manifestFormat `json:"format,omitempty" default:"atelier"`
	Publish  bool           `json:"publish,omitempty" doc:"Publish the draft first if there is no version."`
	Revision int64          `json:"revision,omitempty" minimum:"1" doc:"With publish: the same as If-Match."`
}

// manifestFormat is a format of tool manifests. Package registry/manifest defines the formats.
type manifestFormat string

// Schema returns the schema of a format.
func (manifestFormat) Schema(huma.Registry) *huma.Schema { return choice(manifest.Formats()...) }

// manifestAnswer is a tool manifest in the requested format. It is sent unchanged.
type manifestAnswer struct {
	Warnings []string `header:"Atelier-Warning" doc:"A JSON string: a warning about the manifest, for example why it is not strict. May occur several times."`
	Renamed  string   `header:"Atelier-Renamed" doc:"Current name of the agent, if the request used a former name."`
	Draft    string   `header:"Atelier-Draft-Revision" doc:"The revision of the draft that was published on the way (draftRevision of a publish); absent if none was."`
	Body     json.RawMessage
}

func (a *API) exportTool() {
	type in struct {
		AgentRef
		DraftMatch
		RequestBase
		Version string `query:"version" maxLength:"200" doc:"Same as version in the body."`
		Body    ExportBody
	}
	add(a, endpoint{
		id: "exportTool", method: http.MethodPost, path: Base + "/code-agents/{agent}/export-tool", tag: "versions", summary: "Export a version as a tool",
		about:      "Returns the manifest of a version. A manifest cannot describe a draft: if the agent has no version, the answer is no_version with a remedy.",
		idempotent: true, refusals: []fault.Code{fault.NotFound, fault.NoVersion, fault.StaleDraft},
	}, func(ctx context.Context, q *in) (*manifestAnswer, error) {
		if q.Body.Publish {
			if err := a.mayChange(ctx, q.Agent); err != nil {
				return nil, err
			}
		}
		seen, err := q.seen(q.Body.Revision)
		if err != nil {
			return nil, err
		}
		if q.Version != "" && q.Body.Version != "" && q.Version != q.Body.Version {
			return nil, fault.Invalid("/version", "must equal the version in the query, or be omitted.")
		}
		return a.export(ctx, q.Agent, agents.ExportRequest{
			Seen: seen, Version: cmp.Or(q.Version, q.Body.Version), Format: string(q.Body.Format), Publish: q.Body.Publish, BaseURL: a.baseURL(q.RequestBase),
		})
	})
}

func (a *API) export(ctx context.Context, agent string, request agents.ExportRequest) (*manifestAnswer, error) {
	exported, err := a.Agents.Export(ctx, actor(ctx), agent, request)
	if err != nil {
		return nil, err
	}
	warnings, err := quoted(exported.Result.Warnings)
	answer := &manifestAnswer{Warnings: warnings, Renamed: renamed(agent, exported.Version), Body: exported.Manifest}
	if exported.DraftRevision != 0 {
		answer.Draft = strconv.FormatInt(exported.DraftRevision, 10)
	}
	return answer, err
}

// RequestBase holds the base URL of the request.
type RequestBase struct{ base string }

// Resolve stores the base URL. The framework calls it.
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
