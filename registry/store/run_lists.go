package store

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/atelier-run/atelier/registry"
)

// runKey is the sort key of a list of runs.
type runKey struct {
	At time.Time `json:"t"`
	ID string    `json:"i"`
}

// ListRuns returns a page of runs, newest first, without input, output and what the programs printed. The filter's agent
// is a name, also a former one or a deleted agent's, or an ID. Error: InvalidInput for a bad cursor.
func (s *Store) ListRuns(ctx context.Context, workspace string, f registry.RunFilter) (registry.RunPage, error) {
	if impossible(f.Agent, f.Version, string(f.Status)) {
		return registry.RunPage{Items: []registry.Run{}}, nil
	}
	if f.Agent != "" {
		// One ID, and not a name or an ID within the query: only then does the index give the rows in order.
		var err error
		if f.Agent, err = s.agentID(ctx, workspace, f.Agent); err != nil {
			return registry.RunPage{}, wrap("list runs", err)
		}
	}
	after, err := afterRun(f.Cursor)
	if err != nil {
		return registry.RunPage{}, err
	}
	rows, err := s.runRows(ctx, workspace, s.newest(workspace, f, after, pageSize(f.Limit)+1))
	if err != nil {
		return registry.RunPage{}, wrap("list runs", err)
	}
	page, err := runPage(rows, pageSize(f.Limit))
	return page, wrap("list runs", err)
}

// runRows reads runs by a list or a query of their IDs, newest first. The workspace is asked for in words that are no
// index's: SQLite would otherwise look for the IDs among all runs of the workspace.
func (s *Store) runRows(ctx context.Context, workspace string, ids any) (rows []runRow, err error) {
	err = s.read.NewSelect().Model(&rows).ExcludeColumn("input", "output", "stdout", "stderr").
		Where("r.id IN (?)", ids).Where("r.workspace_id || '' = ?", workspace).OrderExpr("r.created_at DESC, r.id DESC").Scan(ctx)
	return rows, err
}

func afterRun(cursor string) (*runKey, error) {
	if cursor == "" {
		return nil, nil //nolint:nilnil // from the beginning
	}
	var after runKey
	return &after, readCursor(cursor, &after)
}

// newest selects the IDs of so many runs. Of each state it takes the newest, along an index, and merges them: an index for
// every way to narrow a list, in the order of the list, would be written with each run.
func (s *Store) newest(workspace string, f registry.RunFilter, after *runKey, take int) *bun.SelectQuery {
	states := registry.Statuses()
	if f.Status != "" {
		states = []registry.Status{f.Status}
	}
	var all *bun.SelectQuery
	for i, status := range states {
		one := s.read.NewSelect().TableExpr("(?) AS ?", s.newestOf(workspace, status, f, after, take), bun.Ident(fmt.Sprintf("of_%d", i)))
		if all == nil {
			all = one
			continue
		}
		all = all.UnionAll(one)
	}
	return s.read.NewSelect().ColumnExpr("merged.id").TableExpr("(?) AS merged", all).OrderExpr("merged.created_at DESC, merged.id DESC").Limit(int64(take))
}

// newestOf is a range of one index: of a version or of none, within an agent or the workspace.
func (s *Store) newestOf(workspace string, status registry.Status, f registry.RunFilter, after *runKey, take int) *bun.SelectQuery {
	q := s.read.NewSelect().TableExpr("runs AS r").ColumnExpr("r.created_at, r.id").Where("r.status = ?", string(status)).
		OrderExpr("r.created_at DESC, r.id DESC").Limit(int64(take))
	if f.Agent == "" {
		q.Where("r.workspace_id = ?", workspace)
	} else {
		q.Where("r.agent_id <> ''").Where("r.agent_id = ?", f.Agent) // an agent is one workspace's; the words are the index's
	}
	if f.Version != "" {
		q.Where("r.version = ?", f.Version)
	}
	if !f.Since.IsZero() {
		q.Where("r.created_at >= ?", instant(f.Since))
	}
	if after != nil {
		q.Where("(r.created_at, r.id) < (?, ?)", instant(after.At), after.ID)
	}
	return q
}

// runPage takes the row that was read too many as the sign of a next page.
func runPage(rows []runRow, size int) (registry.RunPage, error) {
	var page registry.RunPage
	if len(rows) > size {
		rows = rows[:size]
		last := rows[size-1]
		next, err := cursorAt(runKey{At: last.CreatedAt.UTC(), ID: last.ID})
		if err != nil {
			return page, err
		}
		page.NextCursor = next
	}
	page.Items = make([]registry.Run, 0, len(rows))
	for i := range rows {
		run, err := rows[i].run()
		if err != nil {
			return page, err
		}
		page.Items = append(page.Items, run)
	}
	return page, nil
}
