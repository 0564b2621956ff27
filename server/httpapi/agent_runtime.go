package httpapi

import (
	"context"
	"net/http"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
)

// DraftRuntime is the runtime that publishing a draft would give it now.
type DraftRuntime struct {
	Runtime runtimes.Name           `json:"runtime"`
	Choice  *registry.RuntimeChoice `json:"choice,omitempty" doc:"Why auto means it; absent where the draft names a runtime, or its language has one alone."`
}

func (a *API) getDraftRuntime() {
	type in struct {
		AgentRef
		DraftMatchQuery
	}
	type out struct{ Body DraftRuntime }
	add(a, endpoint{
		id: "getDraftRuntime", method: http.MethodGet, path: Base + "/code-agents/{agent}/runtime", tag: "agents", summary: "The runtime of the draft, if it were published now",
		about:    "Where the draft says auto, by what its code uses and by what its runs have taken. A version keeps its runtime for ever.",
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
