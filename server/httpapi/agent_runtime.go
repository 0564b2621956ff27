package httpapi

import (
	"context"
	"net/http"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
)

// DraftRuntime is the runtime that a version would get if the draft were published now.
type DraftRuntime struct {
	Runtime runtimes.Name           `json:"runtime"`
	Choice  *registry.RuntimeChoice `json:"choice,omitempty" doc:"Reason for the choice. Absent if the draft sets a runtime, its language has only one, or the program has errors."`
}

func (a *API) getDraftRuntime() {
	type in struct {
		AgentRef
		DraftMatchQuery
	}
	type out struct{ Body DraftRuntime }
	add(a, endpoint{
		id: "getDraftRuntime", method: http.MethodGet, path: Base + "/code-agents/{agent}/runtime", tag: "agents", summary: "Get the runtime that publishing the draft would choose",
		about:    "If the runtime of the draft is auto, the choice depends on the features that its code uses and on the CPU time of its runs. A published version never changes its runtime.",
		refusals: []fault.Code{fault.NotFound, fault.StaleDraft, fault.SandboxUnavailable},
	}, func(ctx context.Context, q *in) (*out, error) {
		seen, err := q.seen()
		if err != nil {
			return nil, err
		}
		name, choice, err := a.Agents.Engine(ctx, actor(ctx), q.Agent, seen)
		return &out{Body: DraftRuntime{name, choice}}, err
	})
}
