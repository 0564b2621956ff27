package httpapi

import (
	"context"
	"net/http"

	"github.com/atelier-run/atelier/internal/fault"
)

func (a *API) deleteAgent() {
	type in struct {
		AgentRef
		Force   bool   `query:"force" doc:"Delete even if others reference the agent. Requires comment."`
		Comment string `query:"comment" maxLength:"1000" doc:"Reason, stored with the deleted agent."`
	}
	add(a, endpoint{
		id: "deleteAgent", method: http.MethodDelete, path: Base + "/code-agents/{agent}", tag: "agents", summary: "Delete an agent",
		about:  "Its name and version numbers are never reused. If one of its versions is pinned, the answer is conflict with the list of pins, unless force is set.",
		status: http.StatusNoContent, idempotent: true, refusals: []fault.Code{fault.NotFound, fault.Conflict},
	}, func(ctx context.Context, q *in) (*none, error) {
		if err := a.mayChange(ctx, q.Agent); err != nil {
			return nil, err
		}
		return &none{}, a.Agents.Delete(ctx, actor(ctx), q.Agent, q.Force, q.Comment)
	})
}
