package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/uptrace/bun"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// InsertOverlay stores the changes that a run proposes. Error: NotFound if the project does not exist.
func (s *Store) InsertOverlay(ctx context.Context, o registry.Overlay) error {
	row, err := overlayRowOf(o)
	if err != nil {
		return wrap("save overlay", err)
	}
	return s.change(ctx, "save overlay", func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewInsert().Model(row).Exec(ctx)
		if orphan(err) {
			return noProject()
		}
		return err
	})
}

// Overlay returns an overlay of a project. Error: NotFound.
func (s *Store) Overlay(ctx context.Context, workspace, project, id string) (registry.Overlay, error) {
	if impossible(id) {
		return registry.Overlay{}, noOverlay()
	}
	var row overlayRow
	err := s.read.NewSelect().Model(&row).Where("o.workspace_id = ?", workspace).Where("o.id = ?", id).Where("o.project_id = ?", project).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return registry.Overlay{}, noOverlay()
	}
	if err != nil {
		return registry.Overlay{}, wrap("read overlay", err)
	}
	o, err := row.overlay()
	return o, wrap("read overlay", err)
}

func noOverlay() error { return fault.New(fault.NotFound, "Overlay not found.") }

// DecideOverlay stores a decision that does not change the project. Error: Conflict if another decision was stored
// first.
func (s *Store) DecideOverlay(ctx context.Context, o registry.Overlay) error {
	return s.change(ctx, "decide overlay", func(ctx context.Context, tx bun.Tx) error { return s.decideOverlay(ctx, tx, o) })
}

func (s *Store) decideOverlay(ctx context.Context, tx bun.Tx, o registry.Overlay) error {
	row, err := overlayRowOf(o)
	if err != nil {
		return err
	}
	result, err := tx.NewUpdate().Model(row).Column("status", "revision", "entries", "decided_at", "decided_by_id", "decided_by_type", "decided_by_name").
		Where("o.workspace_id = ?", o.Workspace).Where("o.id = ?", o.ID).Where("o.revision = ?", o.Revision-1).Where("o.status = 'open'").Exec(ctx)
	if err != nil {
		return err
	}
	if err := expectRow(result, fault.New(fault.Conflict, "Somebody else has already decided about this overlay. Read it again.")); err != nil {
		return err
	}
	switch o.Status { //nolint:exhaustive // with every other status the overlay is still open
	case registry.OverlayAccepted:
		return endTasks(ctx, tx, registry.TaskAccepted, "", s.now(), "t.overlay_id = ?", o.ID)
	case registry.OverlayRejected:
		return endTasks(ctx, tx, registry.TaskRejected, "", s.now(), "t.overlay_id = ?", o.ID)
	}
	return nil
}

// overlayKey is the sort key of a list of overlays.
type overlayKey struct {
	At time.Time `json:"t"`
	ID string    `json:"i"`
}

// Overlays returns a page of a project's overlays, newest first.
func (s *Store) Overlays(ctx context.Context, workspace, project string, status registry.OverlayStatus, cursor string, limit int) (registry.OverlayPage, error) {
	page := registry.OverlayPage{Items: []registry.Overlay{}}
	var rows []overlayRow
	query := s.read.NewSelect().Model(&rows).Where("o.project_id = ?", project).Where("o.workspace_id = ?", workspace)
	if status != "" {
		query = query.Where("o.status = ?", string(status))
	}
	if cursor != "" {
		var after overlayKey
		if err := readCursor("overlays", cursor, &after); err != nil {
			return page, err
		}
		query = query.Where("(o.created_at, o.id) < (?, ?)", after.At, after.ID)
	}
	size := pageSize(limit)
	if err := query.OrderExpr("o.created_at DESC, o.id DESC").Limit(int64(size) + 1).Scan(ctx); err != nil {
		return page, wrap("list overlays", err)
	}
	for n := range rows {
		if n == size {
			var err error
			page.NextCursor, err = cursorAt("overlays", overlayKey{rows[n-1].CreatedAt, rows[n-1].ID})
			return page, err
		}
		o, err := rows[n].overlay()
		if err != nil {
			return page, wrap("list overlays", err)
		}
		page.Items = append(page.Items, o)
	}
	return page, nil
}

// CountOpenOverlays returns the number of a project's overlays that wait for a decision.
func (s *Store) CountOpenOverlays(ctx context.Context, workspace, project string) (int, error) {
	n, err := s.read.NewSelect().Model((*overlayRow)(nil)).Where("o.project_id = ?", project).Where("o.workspace_id = ?", workspace).Where("o.status = 'open'").Count(ctx)
	return int(n), wrap("count overlays", err)
}

// openOverlays counts the open overlays of each project of a workspace.
func (s *Store) openOverlays(ctx context.Context, workspace string) (map[string]int, error) {
	var rows []struct {
		ProjectID string
		Open      int
	}
	err := s.read.NewSelect().Model((*overlayRow)(nil)).ColumnExpr("o.project_id").ColumnExpr("COUNT(*) AS open").
		Where("o.workspace_id = ?", workspace).Where("o.status = 'open'").GroupExpr("o.project_id").Scan(ctx, &rows)
	open := make(map[string]int, len(rows))
	for _, row := range rows {
		open[row.ProjectID] = row.Open
	}
	return open, wrap("count overlays", err)
}

// ExpireOverlays ends the open overlays, of all workspaces, whose time for a decision is over. It returns their number.
func (s *Store) ExpireOverlays(ctx context.Context, now time.Time) (int, error) {
	var expired int64
	err := s.change(ctx, "expire overlays", func(ctx context.Context, tx bun.Tx) error {
		result, err := tx.NewUpdate().Model((*overlayRow)(nil)).Set("status = 'expired'").Set("revision = o.revision + 1").
			Where("o.status = 'open'").Where("o.expires_at <= ?", instant(now)).Exec(ctx)
		if err != nil {
			return err
		}
		if expired, err = result.RowsAffected(); err != nil || expired == 0 {
			return err
		}
		return endTasks(ctx, tx, registry.TaskRejected, "The changes expired without a decision.", now, "EXISTS (SELECT 1 FROM overlays AS o WHERE o.id = t.overlay_id AND o.status = 'expired')")
	})
	return int(expired), err
}

type overlayRow struct {
	bun.BaseModel `bun:"table:overlays,alias:o"`

	ID            string     `bun:"id,pk"`
	WorkspaceID   string     `bun:"workspace_id"`
	ProjectID     string     `bun:"project_id"`
	RunID         string     `bun:"run_id"`
	RunStatus     string     `bun:"run_status"`
	AgentName     string     `bun:"agent_name"`
	Version       string     `bun:"version"`
	BaseTree      string     `bun:"base_tree"`
	BaseChange    int64      `bun:"base_change"`
	Status        string     `bun:"status"`
	Revision      int64      `bun:"revision"`
	Summary       string     `bun:"summary"`
	CreatedAt     time.Time  `bun:"created_at"`
	ExpiresAt     time.Time  `bun:"expires_at"`
	DecidedAt     *time.Time `bun:"decided_at"`
	DecidedByID   string     `bun:"decided_by_id"`
	DecidedByType string     `bun:"decided_by_type"`
	DecidedByName string     `bun:"decided_by_name"`
	Entries       string     `bun:"entries"`
}

func overlayRowOf(o registry.Overlay) (*overlayRow, error) {
	entries, err := encode(o.Entries)
	row := &overlayRow{
		ID: o.ID, WorkspaceID: o.Workspace, ProjectID: o.ProjectID, RunID: o.RunID, RunStatus: string(o.RunStatus), AgentName: o.Agent, Version: o.Version,
		BaseTree: o.BaseTree, BaseChange: o.BaseChange, Status: string(o.Status), Revision: o.Revision, Summary: o.Summary,
		CreatedAt: instant(o.CreatedAt), ExpiresAt: instant(o.ExpiresAt), DecidedAt: instantOrNil(o.DecidedAt), Entries: entries,
	}
	if o.Decider != nil {
		row.DecidedByID, row.DecidedByType, row.DecidedByName = o.Decider.ID, string(o.Decider.Type), o.Decider.Name
	}
	return row, err
}

func (row *overlayRow) overlay() (registry.Overlay, error) {
	o := registry.Overlay{
		ID: row.ID, Workspace: row.WorkspaceID, ProjectID: row.ProjectID, RunID: row.RunID, RunStatus: registry.Status(row.RunStatus), Agent: row.AgentName, Version: row.Version,
		BaseTree: row.BaseTree, BaseChange: row.BaseChange, Status: registry.OverlayStatus(row.Status), Revision: row.Revision, Summary: row.Summary,
		CreatedAt: row.CreatedAt.UTC(), ExpiresAt: row.ExpiresAt.UTC(), DecidedAt: instantOrNil(row.DecidedAt),
	}
	if row.DecidedByID != "" {
		by := actor(row.WorkspaceID, row.DecidedByID, row.DecidedByType, row.DecidedByName)
		o.Decider = &by
	}
	return o, json.Unmarshal([]byte(row.Entries), &o.Entries)
}
