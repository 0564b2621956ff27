package httpapi

import (
	"context"
	"net/http"

	"github.com/atelier-run/atelier/internal/fault"
)

func (a *API) deleteAgent() {
	add(a, endpoint{
		id: "deleteAgent", method: http.MethodDelete, path: Base + "/code-agents/{agent}", tag: "agents", summary: "Delete an agent",
		about:  "Leaves a tombstone: the name and its versions are never given to other content.",
		status: http.StatusNoContent, idempotent: true, refusals: []fault.Code{fault.NotFound},
	}, func(ctx context.Context, q *AgentRef) (*none, error) {
		return &none{}, a.Agents.Delete(ctx, actor(ctx), q.Agent)
	})
}
