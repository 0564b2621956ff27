package httpapi

import (
	"context"
	"net/http"

	"github.com/atelier-run/atelier/internal/fault"
)

func (a *API) createAgent() {
	type in struct{ Body agentBody }
	add(a, endpoint{
		modules: true, id: "createAgent", method: http.MethodPost, path: Base + "/code-agents", tag: "agents", summary: "Create an agent with a draft",
		about:  "Creates the agent at revision 1 of its draft. Language and name are required; code is shorthand for files with only the entry file. Nothing is executed.",
		status: http.StatusCreated, idempotent: true, refusals: []fault.Code{fault.NameTaken},
	}, func(ctx context.Context, q *in) (*agentAnswer, error) {
		agent, err := a.Agents.Create(keyed(ctx), actor(ctx), q.Body.Input)
		if err != nil {
			return nil, err
		}
		answer := answerWith(agent)
		answer.Location = a.BasePath + Base + "/code-agents/" + agent.ID
		return answer, nil
	})
}
