package httpapi

import (
	"context"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/studio/agents"
)

// patchBody is the body of PATCH for an agent. AgentPatch describes its schema.
type patchBody struct{ agents.Input }

// Schema returns the schema of the body.
func (patchBody) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[AgentPatch](), true, "AgentPatch")
}

// AgentPatch describes the fields that can be changed without changing the draft.
type AgentPatch struct {
	Name        string         `json:"name,omitempty"`
	Title       string         `json:"title,omitempty"`
	Description string         `json:"description,omitempty"`
	Tags        []string       `json:"tags,omitempty"`
	Metadata    map[string]any `json:"metadata,omitempty"`
}

func (a *API) patchAgent() {
	type in struct {
		AgentRef
		Body patchBody
	}
	add(a, endpoint{
		id: "patchAgent", method: http.MethodPatch, path: Base + "/code-agents/{agent}", tag: "agents", summary: "Change name, title, description and tags",
		about:      "Members that are absent stay as they are. The draft and published versions do not change. A former name keeps working.",
		idempotent: true, refusals: []fault.Code{fault.NotFound, fault.NameTaken},
	}, func(ctx context.Context, q *in) (*agentAnswer, error) {
		agent, err := a.Agents.Patch(ctx, actor(ctx), q.Agent, q.Body.Input)
		if err != nil {
			return nil, err
		}
		return answerWith(agent), nil
	})
}
