package store_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/registry/store/storetest"
)

// idAt returns an ID of a run that starts at a time. n distinguishes the IDs of one time.
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
		swept(func() (int, error) { return s.SweepEvents(t.Context(), before, 6) }, 6, 4, 0)
		if count(old[0]) != 0 || count(young) != 2 || count(waiting) != 1 {
			t.Error("the wrong events were removed")
		}
		if _, err := s.Run(t.Context(), ws, old[0].ID); err != nil {
			t.Error(err)
		}
		runs := s.SweepRuns(before, 0)
		swept(func() (int, error) { n, _, err := runs.Next(t.Context(), 3); return n, err }, 3, 2, 0)
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

// sweepAll removes old runs in small steps, and returns their number.
func sweepAll(t *testing.T, s *store.Store, before time.Time, keep int) (total int) {
	t.Helper()
	sweep := s.SweepRuns(before, keep)
	for more := true; more; {
		n, further, err := sweep.Next(t.Context(), 4)
		if err != nil {
			t.Fatal(err)
		}
		more = further
		total += n
	}
	return total
}

func TestSweepRuns_LastRunsOfEachVersion_Stay(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		a, n := create(t, s, agent("weather")), 0
		run := func(agentID, version string, age time.Duration, status registry.Status) string {
			n++
			r := finished()
			r.ID, r.CreatedAt, r.AgentID, r.Version, r.Status = idAt(start.Add(-age), n), start.Add(-age), agentID, version, status
			finish(t, s, r, events(1, 2)...)
			return r.ID
		}
		want := map[string]bool{}
		for i := range 10 {
			age := time.Duration(20-i) * time.Hour
			want[run(a.ID, "1.0.0", age, []registry.Status{registry.Succeeded, registry.Failed}[i%2])] = i >= 7
			want[run("", "", age, registry.Succeeded)] = false // inline code
			if i < 3 {
				want[run(a.ID, "1.1.0", age, registry.Succeeded)] = true
				want[run(a.ID, registry.DraftVersion, age, registry.Failed)] = true
			}
			want[run(a.ID, "2.0.0", age, registry.Succeeded)] = false // newer runs exist
		}
		for range 3 {
			want[run(a.ID, "2.0.0", -time.Minute, registry.Succeeded)] = true
		}
		if got := sweepAll(t, s, start, 3); got != 7+10+10 {
			t.Errorf("swept %d", got)
		}
		for id, stays := range want {
			_, err := s.Run(t.Context(), ws, id)
			if (err == nil) != stays {
				t.Errorf("run %s: %v, and must stay: %v", id, err, stays)
			}
			left, err := s.Events(t.Context(), ws, id, 0, 0)
			if err != nil || (len(left) == 2) != stays {
				t.Errorf("run %s has %d events, %v", id, len(left), err)
			}
		}
		if got := sweepAll(t, s, start, 3); got != 0 {
			t.Errorf("swept %d more", got)
		}
	})
}

// TestSweepRuns_WaitingForAPerson_Stays checks that a sweep keeps a run while its approval or its proposed changes wait
// for a person.
func TestSweepRuns_WaitingForAPerson_Stays(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		run := func(n int) registry.Run {
			r := finished()
			r.ID, r.CreatedAt = idAt(start.Add(-time.Hour), n), start.Add(-time.Hour)
			return finish(t, s, r)
		}
		proposed, asked, other := run(1), run(2), run(3)
		project := registry.Project{ID: "p1", Workspace: ws, Name: "tree", CreatedAt: start, UpdatedAt: start}
		if err := s.CreateProject(t.Context(), project, registry.ProjectChange{Workspace: ws, ProjectID: project.ID, Number: 1, CreatedAt: start}); err != nil {
			t.Fatal(err)
		}
		overlay := registry.Overlay{ID: "o1", Workspace: ws, ProjectID: project.ID, RunID: proposed.ID, Status: registry.OverlayOpen, CreatedAt: start, ExpiresAt: start.Add(time.Hour)}
		if err := s.InsertOverlay(t.Context(), overlay); err != nil {
			t.Fatal(err)
		}
		approval := request("ap1", start)
		approval.RunID = asked.ID
		if _, err := s.InsertApproval(t.Context(), approval, nil); err != nil {
			t.Fatal(err)
		}
		if got := sweepAll(t, s, start, 0); got != 1 {
			t.Errorf("swept %d", got)
		}
		_, err := s.Run(t.Context(), ws, other.ID)
		expect(t, err, fault.NotFound)
		overlay.Status, overlay.Revision = registry.OverlayRejected, overlay.Revision+1
		approval.Status = registry.ApprovalDenied
		if err := s.DecideOverlay(t.Context(), overlay); err != nil {
			t.Fatal(err)
		}
		if _, err := s.DecideApproval(t.Context(), approval, nil); err != nil {
			t.Fatal(err)
		}
		if got := sweepAll(t, s, start, 0); got != 2 {
			t.Errorf("swept %d after the decisions", got)
		}
	})
}

// TestSweepRuns_ManyEvents_SmallTransactions checks that a run with many events is removed in several transactions, so
// that other writes need not wait long.
func TestSweepRuns_ManyEvents_SmallTransactions(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		r := finished()
		r.ID, r.CreatedAt = idAt(start.Add(-time.Hour), 1), start.Add(-time.Hour)
		finish(t, s, r, events(1, 4500)...)
		removals := 0
		queries := s.Asked(func(s *store.Store) {
			if got := sweepAll(t, s, start, 0); got != 1 {
				t.Errorf("swept %d", got)
			}
		})
		for _, query := range queries {
			if strings.HasPrefix(query, "DELETE FROM run_events") {
				removals++
			}
		}
		if removals != 3 {
			t.Errorf("4500 events were removed by %d statements", removals)
		}
	})
}

// TestVacuum_SQLite_ReturnsSpace checks that the file of a SQLite database becomes smaller after many rows were
// removed.
func TestVacuum_SQLite_ReturnsSpace(t *testing.T) {
	t.Parallel()
	o := storetest.Options(t, storetest.SQLite)
	s := storetest.Reopen(t, o)
	pages := func(pragma string) int {
		text, err := s.Value(t.Context(), "PRAGMA "+pragma)
		if err != nil {
			t.Fatal(err)
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for n := range 30 {
		r := finished()
		r.ID, r.CreatedAt, r.Stdout = idAt(start.Add(-time.Hour), n), start.Add(-time.Hour), strings.Repeat("x", 500_000)
		finish(t, s, r)
	}
	before := pages("page_count")
	sweepAll(t, s, start, 0)
	freed, err := s.Vacuum(t.Context())
	if err != nil || freed < 10<<20 {
		t.Errorf("freed %d bytes, %v", freed, err)
	}
	if after := pages("page_count"); after > before/10 || pages("freelist_count") > after/5 {
		t.Errorf("the database has %d pages, of which %d are free; before it had %d", after, pages("freelist_count"), before)
	}
	if more, err := s.Vacuum(t.Context()); err != nil || more != 0 {
		t.Errorf("freed %d more bytes, %v", more, err)
	}
}

// TestSweepsUseTheKey checks that SQLite finds old runs by the primary key, whatever the table contains.
func TestSweepsUseTheKey(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.SQLite)
	a := create(t, s, agent("weather"))
	r := finished()
	r.ID, r.CreatedAt, r.AgentID, r.Version = idAt(start.Add(-time.Hour), 1), start.Add(-time.Hour), a.ID, "1.0.0"
	finish(t, s, r, events(1, 2)...)
	queries := s.Asked(func(s *store.Store) {
		if _, err := s.SweepEvents(t.Context(), start, 10); err != nil {
			t.Fatal(err)
		}
		sweepAll(t, s, start, 1)
		sweepAll(t, s, start, 0)
	})
	if len(queries) < 5 {
		t.Errorf("%d queries", len(queries))
	}
	for _, query := range queries {
		steps, err := s.Plan(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range steps {
			if strings.HasPrefix(step, "SCAN") && !strings.HasPrefix(step, "SCAN merged") && !strings.HasPrefix(step, "SCAN of_") || strings.HasPrefix(step, "USE TEMP B-TREE FOR ORDER BY") && !strings.Contains(query, "merged") {
				t.Errorf("%s\n%s", query, strings.Join(steps, "\n"))
			}
		}
	}
}
