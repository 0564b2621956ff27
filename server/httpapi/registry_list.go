package httpapi

import (
	"context"
	"net/http"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/catalog"
)

// ListBody adds an agent to the public registry or removes it.
type ListBody struct {
	Public bool `json:"public"`
}

func (a *API) listInRegistry() {
	type in struct {
		AgentRef
		Body ListBody
	}
	add(a, endpoint{
		id: "listInRegistry", method: http.MethodPost, path: Base + "/code-agents/{agent}/publish", tag: "registry", summary: "Add an agent to the public registry, or remove it",
		about:      "Every workspace of this server can read and copy the released versions of a listed agent, with code and environment. Values of secrets are not shared.",
		idempotent: true, refusals: []fault.Code{fault.NotFound, fault.NoVersion},
	}, func(ctx context.Context, q *in) (*agentAnswer, error) {
		agent, err := a.Catalog.List(ctx, actor(ctx), q.Agent, q.Body.Public)
		if err != nil {
			return nil, err
		}
		return a.answerWithOrigin(ctx, agent)
	})
}

func (a *API) browseRegistry() {
	type in struct {
		Paging
		Query    string            `query:"q" maxLength:"200" doc:"Search text in name, title, description or tags."`
		Language runtimes.Language `query:"language" doc:"Only agents in this language."`
		Tag      string            `query:"tag" maxLength:"50" doc:"Only agents with this tag."`
	}
	type out struct{ Body AgentPage }
	add(a, endpoint{
		id: "browseRegistry", method: http.MethodGet, path: Base + "/code-agents/registry", tag: "registry", summary: "List the public registry, by name",
		about: "Lists the agents that workspaces of this server share with all others. Each is described by its latest version.",
	}, func(ctx context.Context, q *in) (*out, error) {
		page, err := a.Catalog.Browse(ctx, registry.AgentFilter{Query: q.Query, Language: q.Language, Tag: q.Tag, Cursor: q.Cursor, Limit: q.Limit})
		if err != nil {
			return nil, err
		}
		answer := &out{Body: AgentPage{Items: make([]AgentSummary, 0, len(page.Items)), NextCursor: page.NextCursor}}
		for _, agent := range page.Items {
			answer.Body.Items = append(answer.Body.Items, agentSummaryOf(agent))
		}
		return answer, nil
	})
}

// CopyBody names the agent and the version that are copied.
type CopyBody struct {
	Version string `json:"version,omitempty" doc:"1.2.0, ^1, latest or a digest (default: latest)."`
	Name    string `json:"name,omitempty" doc:"Name of the copy (default: the original name)."`
}

func (a *API) copyFromRegistry() {
	type in struct {
		ID   string `path:"id" maxLength:"100" doc:"ID of the listed agent."`
		Body CopyBody
	}
	add(a, endpoint{
		id: "copyFromRegistry", method: http.MethodPost, path: Base + "/code-agents/registry/{id}/copy", tag: "registry", summary: "Copy a public agent into the workspace",
		about:  "Creates an agent with the version as its draft. The copy records its origin and reports newer versions there.",
		status: http.StatusCreated, idempotent: true, refusals: []fault.Code{fault.NotFound, fault.NameTaken, fault.InvalidInput},
	}, func(ctx context.Context, q *in) (*agentAnswer, error) {
		agent, err := a.Catalog.Copy(ctx, actor(ctx), q.ID, catalog.CopyRequest(q.Body))
		if err != nil {
			return nil, err
		}
		answer, err := a.answerWithOrigin(ctx, agent)
		if err != nil {
			return nil, err
		}
		answer.Location = a.BasePath + Base + "/code-agents/" + agent.ID
		return answer, nil
	})
}
