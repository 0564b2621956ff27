package httpapi

import (
	"context"
	"net/http"
	"strconv"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// AgentRef is a path parameter that names an agent.
type AgentRef struct {
	Agent string `path:"agent" maxLength:"100" doc:"Name or ID."`
}

// agentAnswer is an agent with its ETag. The next save must send this ETag.
type agentAnswer struct {
	ETag     string `header:"ETag" doc:"Revision of the draft, in quotes."`
	Location string `header:"Location"`
	Renamed  string `header:"Atelier-Renamed" doc:"Current name, if the request used a former name."`
	Body     Agent
}

func answerWith(agent registry.Agent) *agentAnswer {
	return &agentAnswer{ETag: strconv.Quote(strconv.FormatInt(agent.Draft.Revision, 10)), Body: agentOf(agent)}
}

// answerWithOrigin returns the answer about an agent. If the agent is a copy, the answer states whether the original
// has a newer version.
func (a *API) answerWithOrigin(ctx context.Context, agent registry.Agent) (*agentAnswer, error) {
	answer := answerWith(agent)
	if agent.Origin == nil {
		return answer, nil
	}
	publisher, newer, err := a.Catalog.AtOrigin(ctx, agent)
	answer.Body.Origin.Publisher, answer.Body.Origin.Newer = publisher, newer
	return answer, err
}

func (a *API) getAgent() {
	add(a, endpoint{
		id: "getAgent", method: http.MethodGet, path: Base + "/code-agents/{agent}", tag: "agents", summary: "Get an agent with its draft",
		about:    "Returns the draft with its files. The header ETag is the revision of the draft, which the next save must send in If-Match.",
		refusals: []fault.Code{fault.NotFound},
	}, func(ctx context.Context, q *AgentRef) (*agentAnswer, error) {
		agent, err := a.Agents.Get(ctx, actor(ctx), q.Agent)
		if err != nil {
			return nil, err
		}
		answer, err := a.answerWithOrigin(ctx, agent)
		if err == nil && q.Agent != agent.ID && registry.NameKey(q.Agent) != registry.NameKey(agent.Name) {
			answer.Renamed = agent.Name
		}
		return answer, err
	})
}
