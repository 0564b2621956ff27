package store

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/uptrace/bun"

	"github.com/atelier-run/atelier/runtimes"
)

const (
	// mostEvents is the maximum number of events that one call returns.
	mostEvents = 10_000
	// pageBytes is the size in bytes after which a page of events ends. A page contains at least one event, even if the
	// event is larger.
	pageBytes = 256 << 10
)

// AppendEvents stores events of a run. It skips events whose number already exists, so the call may be repeated. Error:
// NotFound if the run was not recorded by BeginRun.
func (s *Store) AppendEvents(_ context.Context, workspace, runID string, events []runtimes.Event) error {
	if len(events) == 0 {
		return nil
	}
	w := &write{workspace: workspace, runID: runID, by: *s.identity.Load(), events: events, bytes: eventBytes(events)}
	return wrap("append events", s.runs.commit(w))
}

// Events returns up to limit events of a run, in order, starting after the number from. It returns fewer events if they
// are large. A limit of 0 means the maximum. If it returns no events, there are no further events.
func (s *Store) Events(ctx context.Context, workspace, runID string, from int64, limit int) ([]runtimes.Event, error) {
	if impossible(runID) {
		return []runtimes.Event{}, nil
	}
	if limit <= 0 || limit > mostEvents {
		limit = mostEvents
	}
	rows, err := s.read.NewSelect().Model((*eventRow)(nil)).
		Where("e.run_id = ?", runID).Where("e.workspace_id = ?", workspace).Where("e.seq > ?", from).
		OrderExpr("e.seq").Limit(int64(limit)).Rows(ctx)
	if err != nil {
		return nil, wrap("read events", err)
	}
	events, bytes := []runtimes.Event{}, 0
	for bytes < pageBytes && rows.Next() {
		var row eventRow
		if err := s.read.ScanRow(ctx, rows, &row); err != nil {
			return nil, wrap("read events", errors.Join(err, rows.Close()))
		}
		bytes += len(row.Data)
		events = append(events, runtimes.Event{Seq: row.Seq, At: row.At.UTC(), Kind: runtimes.Kind(row.Kind), Data: json.RawMessage(row.Data)})
	}
	return events, wrap("read events", errors.Join(rows.Err(), rows.Close()))
}

// eventRow is the form in which bun reads an event. eventArgs writes the same columns.
type eventRow struct {
	bun.BaseModel `bun:"table:run_events,alias:e"`

	RunID       string    `bun:"run_id,pk"`
	Seq         int64     `bun:"seq,pk"`
	WorkspaceID string    `bun:"workspace_id"`
	At          time.Time `bun:"at"`
	Kind        string    `bun:"kind"`
	Data        string    `bun:"data"`
}

// eventColumns lists the columns in the order of eventArgs.
var eventColumns = []string{"run_id", "seq", "workspace_id", "at", "kind", "data"}

func eventArgs(workspace, runID string, e runtimes.Event) []any {
	data := document(e.Data)
	if data == "" {
		data = "null"
	}
	return []any{runID, e.Seq, workspace, instant(e.At), string(e.Kind), data}
}

func eventBytes(events []runtimes.Event) int {
	n := 0
	for _, e := range events {
		n += len(e.Data) + 64
	}
	return n
}
