package store_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/registry/store/storetest"
)

// TestListsOfRunsHaveWhatAWalkFinds checks that a list of runs contains, for every filter and page size, the same runs
// in the same order as a scan of all runs.
func TestListsOfRunsHaveWhatAWalkFinds(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		dice := rand.New(rand.NewPCG(1, 2))
		agents := []string{"", create(t, s, agent("one")).ID, create(t, s, agent("two")).ID}
		versions := []string{"", "1.0.0", "1.1.0"}
		var all []registry.Run
		for range 150 {
			run := finished()
			run.CreatedAt = start.Add(time.Duration(dice.IntN(40)) * time.Second)
			run.AgentID, run.Version = agents[dice.IntN(3)], versions[dice.IntN(3)]
			if run.Status = registry.Statuses()[dice.IntN(9)]; run.Status.Final() {
				finish(t, s, run)
			} else {
				begin(t, s, run)
			}
			all = append(all, run)
		}
		slices.SortFunc(all, func(a, b registry.Run) int {
			if order := b.CreatedAt.Compare(a.CreatedAt); order != 0 {
				return order
			}
			return strings.Compare(b.ID, a.ID)
		})
		for _, of := range agents {
			for _, version := range versions {
				for _, status := range append(registry.Statuses(), "") {
					for _, since := range []time.Time{{}, start.Add(20 * time.Second)} {
						f := registry.RunFilter{Agent: of, Version: version, Status: status, Since: since, Limit: 4}
						var want []string
						for _, run := range all {
							if (of == "" || run.AgentID == of) && (version == "" || run.Version == version) && (status == "" || run.Status == status) && !run.CreatedAt.Before(since) {
								want = append(want, run.ID)
							}
						}
						if got := listed(t, s, f); !slices.Equal(got, want) {
							t.Errorf("%+v: %v, not %v", f, got, want)
						}
					}
				}
			}
		}
		if page, err := s.ListRuns(t.Context(), "other", registry.RunFilter{Agent: agents[1]}); err != nil || len(page.Items) != 0 {
			t.Errorf("another workspace sees %v, %v", page.Items, err)
		}
	})
}

func listed(t *testing.T, s *store.Store, f registry.RunFilter) (ids []string) {
	t.Helper()
	for {
		page, err := s.ListRuns(t.Context(), ws, f)
		if err != nil {
			t.Fatal(err)
		}
		for _, run := range page.Items {
			ids = append(ids, run.ID)
		}
		if f.Cursor = page.NextCursor; f.Cursor == "" {
			return ids
		}
	}
}

// TestAVersionOfAnyAgentIsFoundFarBack checks that a list of the runs of a version finds full pages even if all these
// runs are old.
func TestAVersionOfAnyAgentIsFoundFarBack(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		var old []string
		for range 3 {
			run := finished()
			run.Version, run.CreatedAt = "0.0.1", start.Add(time.Duration(len(old))*time.Second)
			finish(t, s, run)
			old = append([]string{run.ID}, old...)
		}
		var group sync.WaitGroup
		for i := range 1000 {
			group.Go(func() {
				run := finished()
				run.CreatedAt = start.Add(time.Duration(i+60) * time.Second)
				if err := s.FinishRun(t.Context(), run, nil); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		f := registry.RunFilter{Version: "0.0.1", Limit: 2}
		page, err := s.ListRuns(t.Context(), ws, f)
		if err != nil || len(page.Items) != 2 || page.Items[0].ID != old[0] || page.NextCursor == "" {
			t.Fatalf("%d items, %q, %v", len(page.Items), page.NextCursor, err)
		}
		if got := listed(t, s, f); !slices.Equal(got, old) {
			t.Errorf("%v, not %v", got, old)
		}
	})
}
