package httpapi

import (
	"context"
	"net/http"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/agents"
)

// DeprecateBody marks a version as deprecated, or removes the mark.
type DeprecateBody struct {
	Deprecated bool   `json:"deprecated"`
	Reason     string `json:"reason,omitempty"`
	Successor  string `json:"successor,omitempty" doc:"Reference that callers should use instead (default: the latest other version)."`
}

// DeprecatedVersion is the version with the list of owners that reference it. These owners should change their
// references.
type DeprecatedVersion struct {
	registry.Version
	Pins []registry.Pin `json:"pins" doc:"Pins whose references resolve to the version."`
}

func (a *API) deprecateVersion() {
	type in struct {
		VersionRef
		Body DeprecateBody
	}
	type out struct{ Body DeprecatedVersion }
	add(a, endpoint{
		id: "deprecateVersion", method: http.MethodPatch, path: Base + "/code-agents/{agent}/versions/{version}", tag: "versions",
		summary: "Deprecate a version", about: "A deprecated version still runs. Ranges and latest resolve to it only if no other version matches. Answers of its runs have the header Atelier-Deprecated. The answer lists the pins on the version.",
		idempotent: true, refusals: []fault.Code{fault.NotFound},
	}, func(ctx context.Context, q *in) (*out, error) {
		if err := a.mayChange(ctx, q.Agent); err != nil {
			return nil, err
		}
		v, pins, err := a.Agents.Deprecate(ctx, actor(ctx), q.Agent, q.Version, agents.DeprecateRequest(q.Body))
		if err != nil {
			return nil, err
		}
		return &out{Body: DeprecatedVersion{v, orEmpty(pins)}}, nil
	})
}
