package store_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/registry/store/storetest"
)

// idAt returns an ID as it would be generated at a time.
func idAt(at time.Time, n int) string {
	ms := fmt.Sprintf("%012x", at.UnixMilli())
	return fmt.Sprintf("%s-%s-7000-8000-%012x", ms[:8], ms[8:], n)
}

func TestSweepKeepsWhatIsYoungOrUnfinished(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		before := start
		run := func(at time.Time, n int) registry.Run {
			r := finished()
			r.ID, r.CreatedAt = idAt(at, n), at
			return finish(t, s, r, events(1, 2)...)
		}
		var old []registry.Run
		for n := range 5 {
			old = append(old, run(before.Add(-time.Hour), n))
		}
		young := run(before.Add(time.Millisecond), 0)
		waiting := queued()
		waiting.ID, waiting.CreatedAt, waiting.Status = idAt(before.Add(-time.Hour), 9), before.Add(-time.Hour), registry.AwaitingApproval
		begin(t, s, waiting)
		if err := s.AppendEvents(t.Context(), ws, waiting.ID, events(1, 1)); err != nil {
			t.Fatal(err)
		}
		count := func(r registry.Run) int {
			all, err := s.Events(t.Context(), ws, r.ID, 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			return len(all)
		}
		swept := func(sweep func() (int, error), want ...int) {
			t.Helper()
			for _, n := range want {
				if got, err := sweep(); err != nil || got != n {
					t.Fatalf("swept %d, want %d: %v", got, n, err)
				}
			}
		}
		swept(func() (int, error) { return s.SweepEvents(t.Context(), before, 3) }, 6, 4, 0)
		if count(old[0]) != 0 || count(young) != 2 || count(waiting) != 1 {
			t.Error("the wrong events are gone")
		}
		if _, err := s.Run(t.Context(), ws, old[0].ID); err != nil {
			t.Error(err)
		}
		swept(func() (int, error) { return s.SweepRuns(t.Context(), before, 3) }, 3, 2, 0)
		for _, r := range old {
			_, err := s.Run(t.Context(), ws, r.ID)
			expect(t, err, fault.NotFound)
		}
		for _, r := range []registry.Run{young, waiting} {
			if _, err := s.Run(t.Context(), ws, r.ID); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestSweepsUseTheKey checks that SQLite finds old runs by the primary key, whatever the table contains.
func TestSweepsUseTheKey(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.SQLite)
	for _, query := range []string{
		"SELECT r.id FROM runs AS r WHERE r.id < '0190' AND r.created_at < '2026' AND r.status NOT IN ('queued') ORDER BY r.id LIMIT 5",
		"SELECT DISTINCT e.run_id FROM run_events AS e JOIN runs AS r ON r.id = e.run_id WHERE e.run_id < '0190' AND r.status NOT IN ('queued') ORDER BY e.run_id LIMIT 5",
	} {
		steps, err := s.Plan(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		plan := strings.Join(steps, "\n")
		if strings.Contains(plan, "SCAN") || strings.Contains(plan, "TEMP B-TREE FOR ORDER BY") {
			t.Error(plan)
		}
	}
}
