package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
)

// AgentPage is one page of agents.
type AgentPage struct {
	Items      []AgentSummary `json:"items"`
	NextCursor string         `json:"nextCursor" doc:"Cursor of the next page. Empty on the last page."`
	// Tags contains the tags of all agents of the workspace.
	Tags []registry.TagCount `json:"tags,omitempty" doc:"With withTags: the tags of all agents of the workspace and how many agents have them, the most frequent first. At most 200."`
}

func (a *API) listAgents() {
	type in struct {
		Paging
		Query    string             `query:"q" maxLength:"200" doc:"Search text in name, title or description."`
		Language runtimes.Language  `query:"language" doc:"Only agents in this language."`
		Tag      string             `query:"tag" maxLength:"50" doc:"Only agents with this tag."`
		State    string             `query:"state" enum:"draft,published,deleted" doc:"Only agents in this state. Deleted agents are listed only with deleted."`
		Code     bool               `query:"code" doc:"Also search for q in the code of drafts."`
		Unused   time.Time          `query:"unusedSince" doc:"Only agents that were created before this time and have not run since."`
		View     registry.AgentView `query:"view" enum:"mine,changed,failing" doc:"mine: created by the caller. changed: the draft was saved after the latest version was published. failing: the last run failed or timed out."`
		WithTags bool               `query:"withTags" doc:"Also count the tags of all agents."`
		Order    string             `query:"order" enum:"name,updated" default:"name" doc:"Order of the list. updated: newest first."`
	}
	type out struct{ Body AgentPage }
	add(a, endpoint{
		id: "listAgents", method: http.MethodGet, path: Base + "/code-agents", tag: "agents", summary: "List agents, without code",
		about: "Lists the agents of the workspace without their code. Filters that are absent have no effect.",
	}, func(ctx context.Context, q *in) (*out, error) {
		page, err := a.Agents.List(ctx, actor(ctx), registry.AgentFilter{
			Query: q.Query, Language: q.Language, Tag: q.Tag, State: q.State, InCode: q.Code, UnusedSince: q.Unused, View: q.View, Viewer: actor(ctx).ID, Order: q.Order, Cursor: q.Cursor, Limit: q.Limit,
		})
		if err != nil {
			return nil, err
		}
		answer := &out{Body: AgentPage{Items: make([]AgentSummary, 0, len(page.Items)), NextCursor: page.NextCursor}}
		for _, agent := range page.Items {
			summary, creator, editor := agentSummaryOf(agent), personOf(agent.Creator), personOf(agent.Editor)
			summary.CreatedBy, summary.UpdatedBy = &creator, &editor // Set the people only here, because the public registry names no people.
			answer.Body.Items = append(answer.Body.Items, summary)
		}
		if q.WithTags {
			answer.Body.Tags, err = a.Agents.Tags(ctx, actor(ctx))
		}
		return answer, err
	})
}
