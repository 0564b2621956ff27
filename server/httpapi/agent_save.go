package httpapi

import (
	"context"
	"net/http"

	"github.com/atelier-run/atelier/internal/fault"
)

func (a *API) saveAgent() {
	type in struct {
		AgentRef
		RequiredDraftMatch
		Body agentBody
	}
	add(a, endpoint{
		modules: true, id: "saveAgent", method: http.MethodPut, path: Base + "/code-agents/{agent}", tag: "agents", summary: "Save the draft",
		about:      "Requires If-Match with the revision that you last read. A stale revision is refused; the answer contains currentRevision, savedAt and savedBy.",
		idempotent: true, refusals: []fault.Code{fault.NotFound, fault.PreconditionRequired, fault.StaleDraft},
	}, func(ctx context.Context, q *in) (*agentAnswer, error) {
		seen, err := q.seen()
		if err != nil {
			return nil, err
		}
		if err := a.mayCall(ctx, q.Body.Capabilities); err != nil {
			return nil, err
		}
		q.Body.Session = caller(ctx).Session
		agent, err := a.Agents.Save(ctx, actor(ctx), q.Agent, seen, q.Body.Input)
		if err != nil {
			return nil, err
		}
		return answerWith(agent), nil
	})
}
