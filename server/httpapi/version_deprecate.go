package httpapi

import (
	"context"
	"net/http"

	"github.com/atelier-run/atelier/internal/fault"
)

// DeprecateBody marks a version as deprecated, or takes the mark back.
type DeprecateBody struct {
	Deprecated bool   `json:"deprecated"`
	Reason     string `json:"reason,omitempty"`
}

func (a *API) deprecateVersion() {
	type in struct {
		VersionRef
		Body DeprecateBody
	}
	add(a, endpoint{
		id: "deprecateVersion", method: http.MethodPatch, path: Base + "/code-agents/{agent}/versions/{version}", tag: "versions",
		summary: "Deprecate a version", about: "A deprecated version still runs; ranges and latest take it only if nothing else fits.",
		idempotent: true, refusals: []fault.Code{fault.NotFound},
	}, func(ctx context.Context, q *in) (*versionAnswer, error) {
		v, err := a.Agents.Deprecate(ctx, actor(ctx), q.Agent, q.Version, q.Body.Deprecated, q.Body.Reason)
		if err != nil {
			return nil, err
		}
		return &versionAnswer{Body: v}, nil
	})
}
