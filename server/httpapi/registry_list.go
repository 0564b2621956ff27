package httpapi

import (
	"context"
	"net/http"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/catalog"
)

// ListBody lists an agent in the public registry, or takes it out.
type ListBody struct {
	Public bool `json:"public"`
}

func (a *API) listInRegistry() {
	type in struct {
		AgentRef
		Body ListBody
	}
	add(a, endpoint{
		id: "listInRegistry", method: http.MethodPost, path: Base + "/code-agents/{agent}/publish", tag: "registry", summary: "List or unlist in the public registry",
		about:      "Every workspace of this server may then read and copy its released versions, with code and environment; secrets are names only.",
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
		Query    string            `query:"q" maxLength:"200" doc:"Words in name, title, description or tags."`
		Language runtimes.Language `query:"language"`
		Tag      string            `query:"tag" maxLength:"50"`
	}
	type out struct{ Body AgentPage }
	add(a, endpoint{
		id: "browseRegistry", method: http.MethodGet, path: Base + "/code-agents/registry", tag: "registry", summary: "The public registry, by name",
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

// CopyBody says what to copy.
type CopyBody struct {
	Version string `json:"version,omitempty" doc:"1.2.0, ^1, latest or a digest; latest without it."`
	Name    string `json:"name,omitempty" doc:"The copy's name; the origin's without it."`
}

func (a *API) copyFromRegistry() {
	type in struct {
		ID   string `path:"id" maxLength:"100" doc:"The listed agent's ID."`
		Body CopyBody
	}
	add(a, endpoint{
		id: "copyFromRegistry", method: http.MethodPost, path: Base + "/code-agents/registry/{id}/copy", tag: "registry", summary: "Copy into the workspace",
		about:  "Makes an agent whose draft is the version; it remembers its origin, and tells when there is a newer version there.",
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
