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

// ListRuns returns a page of runs, newest first, without input, output and program output. The agent in the filter is
// an ID or a name. The name may be a former name, or the name of a deleted agent. Error: InvalidInput for a bad cursor.
func (s *Store) ListRuns(ctx context.Context, workspace string, f registry.RunFilter) (registry.RunPage, error) {
	if impossible(f.Agent, f.Version, string(f.Status), f.Parent) {
		return registry.RunPage{Items: []registry.Run{}}, nil
	}
	if f.Agent != "" {
		// The query uses a single ID instead of a condition on name or ID. Only for a single ID does the index return the
		// rows in order.
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

// runRows reads the runs whose IDs are in a list or a subquery, newest first. The workspace condition is written so
// that no index matches it. With an index, SQLite would search all runs of the workspace for the IDs.
func (s *Store) runRows(ctx context.Context, workspace string, ids any) (rows []runRow, err error) {
	err = s.read.NewSelect().Model(&rows).ExcludeColumn("input", "output", "stdout", "stderr").ColumnExpr(s.inputPreview()+" AS input_preview").
		Where("r.id IN (?)", ids).Where("r.workspace_id || '' = ?", workspace).OrderExpr("r.created_at DESC, r.id DESC").Scan(ctx)
	return rows, err
}

// These constants limit the preview of a run's input in lists. previewChars is the length of a preview in characters.
// An input of more than previewedBytes bytes has no preview, because the database would have to read it completely.
const (
	previewChars   = 200
	previewedBytes = 16 << 10
)

func (s *Store) inputPreview() string {
	return fmt.Sprintf("CASE WHEN %s <= %d THEN COALESCE(substr(CAST(r.input AS text), 1, %d), '') ELSE '' END", s.dialect.bytesOf("r.input"), previewedBytes, previewChars)
}

func afterRun(cursor string) (*runKey, error) {
	if cursor == "" {
		return nil, nil //nolint:nilnil // the list starts at the beginning
	}
	var after runKey
	return &after, readCursor("runs", cursor, &after)
}

// newest returns a query for the IDs of the newest runs, at most take runs. The query reads the newest runs of each
// state from an index and merges them. A separate index for every filter would make every write of a run slower.
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

// newestOf returns a query for the newest runs of one state. The query reads a range of one index: for an agent or the
// whole workspace, and for one version or all versions.
func (s *Store) newestOf(workspace string, status registry.Status, f registry.RunFilter, after *runKey, take int) *bun.SelectQuery {
	q := s.read.NewSelect().TableExpr("runs AS r").ColumnExpr("r.created_at, r.id").Where("r.status = ?", string(status)).
		OrderExpr("r.created_at DESC, r.id DESC").Limit(int64(take))
	switch {
	case f.Parent != "": // the condition has the same form as in the index; few runs have the same parent
		q.Where("r.parent_run_id <> ''").Where("r.parent_run_id = ?", f.Parent).Where("r.workspace_id || '' = ?", workspace)
		if f.Agent != "" {
			q.Where("r.agent_id = ?", f.Agent)
		}
	case f.Agent == "":
		q.Where("r.workspace_id = ?", workspace)
	default:
		q.Where("r.agent_id <> ''").Where("r.agent_id = ?", f.Agent) // the condition has the same form as in the index; an agent belongs to one workspace, so no workspace condition is needed
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

// runPage builds a page. If there is one row more than the page size, a next page exists.
func runPage(rows []runRow, size int) (registry.RunPage, error) {
	var page registry.RunPage
	if len(rows) > size {
		rows = rows[:size]
		last := rows[size-1]
		next, err := cursorAt("runs", runKey{At: last.CreatedAt.UTC(), ID: last.ID})
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
