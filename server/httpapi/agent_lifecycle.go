package httpapi

import (
	"context"
	"net/http"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// RedraftBody names the version that replaces the draft.
type RedraftBody struct {
	From string `json:"from" minLength:"1" maxLength:"256" doc:"Version to restore. latest discards all edits since the last publication."`
}

func (a *API) redraftAgent() {
	type in struct {
		AgentRef
		RequiredDraftMatch
		Body RedraftBody
	}
	add(a, endpoint{
		id: "redraftAgent", method: http.MethodPost, path: Base + "/code-agents/{agent}/draft", tag: "agents", summary: "Replace the draft with a version",
		about:      "The replaced draft stays in the history.",
		idempotent: true, refusals: []fault.Code{fault.NotFound, fault.PreconditionRequired, fault.StaleDraft, fault.InvalidInput},
	}, func(ctx context.Context, q *in) (*agentAnswer, error) {
		seen, err := q.seen()
		if err != nil {
			return nil, err
		}
		return answered(a.Agents.Redraft(ctx, actor(ctx), q.Agent, seen, q.Body.From))
	})
}

// CopyAgentBody names the new agent.
type CopyAgentBody struct {
	Name     string `json:"name" minLength:"1"`
	Revision int64  `json:"revision,omitempty" minimum:"1" doc:"Same as If-Match."`
}

func (a *API) copyAgent() {
	type in struct {
		AgentRef
		DraftMatch
		Body CopyAgentBody
	}
	add(a, endpoint{
		id: "copyAgent", method: http.MethodPost, path: Base + "/code-agents/{agent}/copy", tag: "agents", summary: "Copy an agent's draft to a new agent",
		about:  "The copy is a new agent with the same draft and description, and without versions.",
		status: http.StatusCreated, idempotent: true, refusals: []fault.Code{fault.NotFound, fault.StaleDraft, fault.NameTaken, fault.InvalidInput},
	}, func(ctx context.Context, q *in) (*agentAnswer, error) {
		seen, err := q.seen(q.Body.Revision)
		if err != nil {
			return nil, err
		}
		answer, err := answered(a.Agents.Copy(keyed(ctx), actor(ctx), q.Agent, q.Body.Name, seen))
		if err == nil {
			answer.Location = a.BasePath + Base + "/code-agents/" + answer.Body.ID
		}
		return answer, err
	})
}

func (a *API) restoreAgent() {
	add(a, endpoint{
		id: "restoreAgent", method: http.MethodPost, path: Base + "/code-agents/{agent}/restore", tag: "agents", summary: "Restore a deleted agent",
		about:      "Restores the agent with its draft, versions and names.",
		idempotent: true, refusals: []fault.Code{fault.NotFound, fault.Conflict},
	}, func(ctx context.Context, q *AgentRef) (*agentAnswer, error) {
		if err := a.mayChange(ctx, q.Agent); err != nil {
			return nil, err
		}
		return answered(a.Agents.Restore(ctx, actor(ctx), q.Agent))
	})
}

func answered(agent registry.Agent, err error) (*agentAnswer, error) {
	if err != nil {
		return nil, err
	}
	return answerWith(agent), nil
}
