package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/atelier-run/atelier/registry"
)

// RunPage is one page of runs, newest first.
type RunPage struct {
	Items      []RunSummary `json:"items"`
	NextCursor string       `json:"nextCursor" doc:"Cursor of the next page. Empty on the last page."`
}

func (a *API) listRuns() {
	type in struct {
		Paging
		Agent   string          `query:"agent" maxLength:"100" doc:"Name or ID."`
		Version string          `query:"version" maxLength:"200" doc:"Exact version or draft, not a range. Can be used without agent."`
		Status  registry.Status `query:"status" doc:"Only runs with this status."`
		Parent  string          `query:"parentRunId" maxLength:"100" doc:"Only runs that this run started by calling agents, or whose parent is this run."`
		Since   time.Time       `query:"since" doc:"RFC 3339 time. Only runs that were requested then or later."`
	}
	type out struct{ Body RunPage }
	add(a, endpoint{
		id: "listRuns", method: http.MethodGet, path: Base + "/runs", tag: "runs", summary: "List runs, newest first",
		about: "Runs of the workspace, newest first, without input and output.",
	}, func(ctx context.Context, q *in) (*out, error) {
		page, err := a.Runs.List(ctx, actor(ctx), registry.RunFilter{
			Agent: q.Agent, Version: q.Version, Status: q.Status, Parent: q.Parent, Since: q.Since, Cursor: q.Cursor, Limit: q.Limit,
		})
		if err != nil {
			return nil, err
		}
		answer := &out{Body: RunPage{Items: make([]RunSummary, 0, len(page.Items)), NextCursor: page.NextCursor}}
		for _, run := range page.Items {
			answer.Body.Items = append(answer.Body.Items, runSummaryOf(run))
		}
		return answer, nil
	})
}
