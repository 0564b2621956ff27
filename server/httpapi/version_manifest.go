package httpapi

import (
	"context"
	"net/http"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/studio/agents"
)

func (a *API) getManifest() {
	type in struct {
		VersionRef
		RequestBase
		Format manifestFormat `query:"format" default:"atelier" doc:"Form of the manifest."`
	}
	add(a, endpoint{
		id: "getManifest", method: http.MethodGet, path: Base + "/code-agents/{agent}/versions/{version}/manifest", tag: "versions",
		summary: "Get a version as a tool manifest",
		about:   "Returns the version as a tool manifest in the form that a client expects. An answer about an exact version or digest may be cached for a year.", cached: true, refusals: []fault.Code{fault.NotFound},
	}, func(ctx context.Context, q *in) (*manifestAnswer, error) {
		return a.export(ctx, q.Agent, agents.ExportRequest{Version: q.Version, Format: string(q.Format), BaseURL: a.baseURL(q.RequestBase)})
	})
}
