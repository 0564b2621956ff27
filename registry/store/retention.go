package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/atelier-run/atelier/registry"
)

// eventsAtOnce is the maximum number of events that one transaction removes. An event has at most 32 KiB, so a
// transaction removes at most 64 MiB.
const eventsAtOnce = 2000

// RunSweep removes old runs step by step. It keeps its position, so that it examines each run only once.
type RunSweep struct {
	store  *Store
	before time.Time
	keep   int
	after  string // ID of the run that was examined last
	bounds map[versionKey]*runKey
}

type versionKey struct{ agentID, version string }

// SweepRuns returns a sweep over the ended runs, of all workspaces, that were requested before a time. The sweep does
// not remove the newest keep runs of each version and draft. It does not remove runs whose approval or proposed changes
// wait for a person.
func (s *Store) SweepRuns(before time.Time, keep int) *RunSweep {
	return &RunSweep{store: s, before: before, keep: keep, bounds: map[versionKey]*runKey{}}
}

// Next examines up to limit runs, removes the old ones with their events, and returns the number of removed runs. more
// is false if no runs remain to be examined. Next searches without a lock and uses small transactions, so that other
// writers hardly wait.
func (w *RunSweep) Next(ctx context.Context, limit int) (removed int, more bool, err error) {
	rows, err := w.candidates(ctx, limit)
	if err != nil || len(rows) == 0 {
		return 0, false, wrap("sweep runs", err)
	}
	var ids []string
	for _, row := range rows {
		old, err := w.old(ctx, row)
		if err != nil {
			return 0, false, wrap("sweep runs", err)
		}
		if old {
			ids = append(ids, row.ID)
		}
	}
	if len(ids) > 0 {
		if removed, err = w.store.removeRuns(ctx, ids); err != nil {
			return removed, false, err
		}
	}
	w.after = rows[len(rows)-1].ID
	return removed, true, nil
}

// candidates returns the next ended runs from before the time. It omits runs to which an open overlay or a pending
// approval refers.
func (w *RunSweep) candidates(ctx context.Context, limit int) (rows []runRow, err error) {
	err = w.store.read.NewSelect().Model(&rows).Column("id", "agent_id", "workspace_id", "version", "created_at").
		Where("r.id > ?", w.after).Where("r.id < ?", firstID(w.before)).Where("r.created_at < ?", instant(w.before)).
		Where("r.status NOT IN (" + unfinished + ")").
		Where("NOT EXISTS (SELECT 1 FROM overlays AS o WHERE o.run_id = r.id AND o.status = 'open')").
		Where("NOT EXISTS (SELECT 1 FROM approvals AS ap WHERE ap.run_id = r.id AND ap.run_id <> '' AND ap.status = 'pending')").
		OrderExpr("r.id").Limit(int64(limit)).Scan(ctx)
	return rows, err
}

// old reports whether at least keep newer runs of the same version exist. A run of inline code has no version, so it is
// always old.
func (w *RunSweep) old(ctx context.Context, row runRow) (bool, error) {
	if row.AgentID == "" || w.keep == 0 {
		return true, nil
	}
	key := versionKey{row.AgentID, row.Version}
	bound, known := w.bounds[key]
	if !known {
		var err error
		if bound, err = w.store.nthNewest(ctx, row, w.keep); err != nil {
			return false, err
		}
		w.bounds[key] = bound
	}
	if bound == nil {
		return false, nil
	}
	created := row.CreatedAt.UTC()
	return created.Before(bound.At) || created.Equal(bound.At) && row.ID < bound.ID, nil
}

// nthNewest returns the sort key of the nth newest run of the same version as the given run. It returns nil if there
// are fewer runs.
func (s *Store) nthNewest(ctx context.Context, of runRow, n int) (*runKey, error) {
	var found runRow
	err := s.newest(of.WorkspaceID, registry.RunFilter{Agent: of.AgentID, Version: of.Version}, nil, n).
		ColumnExpr("merged.created_at").Limit(1).Offset(int64(n-1)).Scan(ctx, &found)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil //nolint:nilnil // fewer than n runs exist
	}
	return &runKey{At: found.CreatedAt.UTC(), ID: found.ID}, err
}

// removeRuns removes ended runs. It first removes their events in several transactions, because a run may have many
// events.
func (s *Store) removeRuns(ctx context.Context, ids []string) (int, error) {
	for {
		n, err := s.swept(ctx, "sweep events of old runs", "DELETE FROM run_events WHERE (run_id, seq) IN "+
			"(SELECT e.run_id, e.seq FROM run_events AS e WHERE e.run_id IN (?) ORDER BY e.run_id, e.seq LIMIT ?)", bun.List(ids), eventsAtOnce)
		if err != nil {
			return 0, err
		}
		if n < eventsAtOnce {
			break
		}
	}
	return s.swept(ctx, "sweep runs", "DELETE FROM runs WHERE id IN (?) AND status NOT IN ("+unfinished+")", bun.List(ids))
}

// SweepEvents removes up to limit events of ended runs that were requested before a time. It does not remove the runs.
// It returns the number of removed events.
func (s *Store) SweepEvents(ctx context.Context, before time.Time, limit int) (int, error) {
	return s.swept(ctx, "sweep events", "DELETE FROM run_events WHERE (run_id, seq) IN (SELECT e.run_id, e.seq FROM run_events AS e JOIN runs AS r ON r.id = e.run_id "+
		"WHERE e.run_id < ? AND r.created_at < ? AND r.status NOT IN ("+unfinished+") ORDER BY e.run_id, e.seq LIMIT ?)", firstID(before), instant(before), limit)
}

func (s *Store) swept(ctx context.Context, what, statement string, args ...any) (int, error) {
	result, err := s.write.ExecContext(ctx, statement, args...)
	if err != nil {
		return 0, wrap(what, err)
	}
	n, err := result.RowsAffected()
	return int(n), wrap(what, err)
}

// firstID returns an ID that is below every ID of a run that started at or after a time. IDs are UUIDs of version 7,
// which begin with the time in milliseconds. So the index of the primary key finds old runs. An additional index would
// make every write of a run slower.
func firstID(at time.Time) string {
	ms := fmt.Sprintf("%012x", max(0, at.UnixMilli()))
	return ms[:8] + "-" + ms[8:]
}

const (
	// spareShare is the divisor for the share of a SQLite file that may stay free: one tenth. New rows use this space
	// before the file grows.
	spareShare = 10
	// vacuumPages is the maximum number of pages that one transaction frees.
	vacuumPages = 1000
)

// Vacuum returns the space of removed rows to the file system. It works in small transactions and returns the number of
// bytes. It leaves some free space for new rows. On PostgreSQL it does nothing, because PostgreSQL's autovacuum makes
// the space of removed rows usable again.
func (s *Store) Vacuum(ctx context.Context) (int64, error) {
	if s.dialect == postgresDialect {
		return 0, nil
	}
	var freed int64
	for ctx.Err() == nil {
		space, err := s.fileSpace(ctx)
		if err != nil {
			return freed, wrap("vacuum", err)
		}
		surplus := space.free - space.pages/spareShare
		if surplus <= 0 {
			return freed, nil
		}
		if err := s.vacuumStep(ctx, min(surplus, vacuumPages)); err != nil {
			return freed, wrap("vacuum", err)
		}
		after, err := s.fileSpace(ctx)
		if err != nil || after.free >= space.free { // the file was created without auto_vacuum, so it cannot be vacuumed in steps
			return freed, wrap("vacuum", err)
		}
		freed += (space.free - after.free) * after.pageSize
	}
	return freed, wrap("vacuum", ctx.Err())
}

// vacuumStep frees up to a number of pages. The statement returns one row per page. It frees all pages only if the
// caller reads all rows.
func (s *Store) vacuumStep(ctx context.Context, pages int64) error {
	rows, err := s.write.QueryContext(ctx, fmt.Sprintf("PRAGMA incremental_vacuum(%d)", pages))
	if err != nil {
		return err
	}
	for rows.Next() { //nolint:revive // reading the rows is enough; they contain no data
	}
	return errors.Join(rows.Err(), rows.Close())
}

// fileSpace describes the size of a SQLite database: the number of pages, the number of free pages, and the bytes per
// page.
type fileSpace struct{ pages, free, pageSize int64 }

func (s *Store) fileSpace(ctx context.Context) (space fileSpace, err error) {
	for pragma, into := range map[string]*int64{"page_count": &space.pages, "freelist_count": &space.free, "page_size": &space.pageSize} {
		if err := s.read.QueryRowContext(ctx, "PRAGMA "+pragma).Scan(into); err != nil {
			return space, err
		}
	}
	return space, nil
}
