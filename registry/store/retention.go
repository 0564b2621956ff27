package store

import (
	"context"
	"fmt"
	"time"
)

// SweepRuns removes up to limit runs that ended and started before a time, with their events, in all workspaces. It
// returns their number. A run that has not ended stays, whatever its age.
func (s *Store) SweepRuns(ctx context.Context, before time.Time, limit int) (int, error) {
	return s.swept(ctx, "sweep runs", "DELETE FROM runs WHERE id IN (SELECT r.id FROM runs AS r WHERE r.id < ? AND r.created_at < ? "+
		"AND r.status NOT IN ("+unfinished+") ORDER BY r.id LIMIT ?)", firstID(before), instant(before), limit)
}

// SweepEvents removes the events of up to limit such runs and keeps the runs. It returns the number of removed events.
func (s *Store) SweepEvents(ctx context.Context, before time.Time, limit int) (int, error) {
	return s.swept(ctx, "sweep events", "DELETE FROM run_events WHERE run_id IN (SELECT DISTINCT e.run_id FROM run_events AS e JOIN runs AS r ON r.id = e.run_id "+
		"WHERE e.run_id < ? AND r.created_at < ? AND r.status NOT IN ("+unfinished+") ORDER BY e.run_id LIMIT ?)", firstID(before), instant(before), limit)
}

func (s *Store) swept(ctx context.Context, what, statement string, args ...any) (int, error) {
	result, err := s.write.ExecContext(ctx, statement, args...)
	if err != nil {
		return 0, wrap(what, err)
	}
	n, err := result.RowsAffected()
	return int(n), wrap(what, err)
}

// firstID returns an ID below every ID of a run that started at or after a time. IDs are UUIDs of version 7, which
// begin with the milliseconds. The primary key therefore finds old runs, and needs no further index that every new run
// would write.
func firstID(at time.Time) string {
	ms := fmt.Sprintf("%012x", max(0, at.UnixMilli()))
	return ms[:8] + "-" + ms[8:]
}
