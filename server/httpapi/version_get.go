package httpapi

import (
	"context"
	"net/http"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// VersionRef contains the path parameters that name a version.
type VersionRef struct {
	AgentRef
	Version string `path:"version" maxLength:"200" doc:"Version: 1.2.0, ^1, latest or sha256:…."`
}

// renamed returns the current name of a version's agent if the agent was requested by a former name.
func renamed(asked string, v registry.Version) string {
	if asked == v.AgentID || v.CurrentName == "" || registry.NameKey(asked) == registry.NameKey(v.CurrentName) {
		return ""
	}
	return v.CurrentName
}

func (a *API) getVersion() {
	add(a, endpoint{
		id: "getVersion", method: http.MethodGet, path: Base + "/code-agents/{agent}/versions/{version}", tag: "versions", summary: "Get a version with its files",
		about:  "The version with its files, schemas and digests. An answer about an exact version or digest may be cached for a year; read the list of versions for its current deprecation.",
		cached: true, refusals: []fault.Code{fault.NotFound},
	}, func(ctx context.Context, q *VersionRef) (*versionAnswer, error) {
		v, err := a.Agents.Version(ctx, actor(ctx), q.Agent, q.Version)
		if err != nil {
			return nil, err
		}
		return &versionAnswer{Renamed: renamed(q.Agent, v), Body: v}, nil
	})
}
