package httpapi

import (
	"context"
	"net/http"

	"github.com/atelier-run/atelier/internal/fault"
)

func (a *API) deleteAgent() {
	type in struct {
		AgentRef
		Force   bool   `query:"force" doc:"Although others reference it."`
		Comment string `query:"comment" maxLength:"1000" doc:"Why; the tombstone keeps it."`
	}
	add(a, endpoint{
		id: "deleteAgent", method: http.MethodDelete, path: Base + "/code-agents/{agent}", tag: "agents", summary: "Delete an agent",
		about:  "Leaves a tombstone: the name and its versions are never given to other content. While somebody pins a version the answer is conflict with pins.",
		status: http.StatusNoContent, idempotent: true, refusals: []fault.Code{fault.NotFound, fault.Conflict},
	}, func(ctx context.Context, q *in) (*none, error) {
		if err := a.mayChange(ctx, q.Agent); err != nil {
			return nil, err
		}
		return &none{}, a.Agents.Delete(ctx, actor(ctx), q.Agent, q.Force, q.Comment)
	})
}
