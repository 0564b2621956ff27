package store_test

import (
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/registry/store/storetest"
)

// used returns the amounts of a workspace in the month of the tests.
func used(t *testing.T, s *store.Store, workspace string) map[registry.Meter]float64 {
	t.Helper()
	month := registry.MonthOf(start)
	uses, err := s.Usage(t.Context(), workspace, month, month)
	if err != nil {
		t.Fatal(err)
	}
	amounts := map[registry.Meter]float64{}
	for _, u := range uses {
		amounts[u.Meter] = u.Amount
	}
	return amounts
}

func wantUse(t *testing.T, s *store.Store, workspace string, want map[registry.Meter]float64) {
	t.Helper()
	if got := used(t, s, workspace); !maps.Equal(got, want) {
		t.Errorf("%s used %v, want %v", workspace, got, want)
	}
}

func TestUsage_ParallelAndRepeatedFinishes_CountedOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		same := finished()
		const callers, each = 10, 8
		var group sync.WaitGroup
		for range callers {
			group.Go(func() {
				for range each {
					other := finished()
					other.Workspace = "other"
					if err := errors.Join(s.FinishRun(t.Context(), finished(), nil), s.FinishRun(t.Context(), same, nil), s.FinishRun(t.Context(), other, nil)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		group.Wait()
		for workspace, runs := range map[string]int64{ws: callers*each + 1, "other": callers * each} {
			wantUse(t, s, workspace, map[registry.Meter]float64{
				registry.RunsMeter: float64(runs), registry.CPUMeter: float64(runs*1100) / 1e6, registry.GPUMeter: float64(runs*90) / 60, registry.RemoteMeter: float64(runs*15) / 10,
				registry.RemoteCostMeter: float64(runs) / 4, registry.EgressMeter: float64(runs << 33),
			})
		}
	})
}

func TestUsage_OldRunsRemoved_Stays(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		finish(t, s, finished())
		before := used(t, s, ws)
		if removed, _, err := s.SweepRuns(time.Now().Add(time.Hour), 0).Next(t.Context(), 10); removed != 1 || err != nil {
			t.Fatalf("%d runs removed, %v", removed, err)
		}
		wantUse(t, s, ws, before)
	})
}

func TestUsage_ProgramNeverStarted_NotCounted(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		run := begin(t, s, queued())
		run.Status = registry.StatusCancelled
		finish(t, s, run)
		wantUse(t, s, ws, map[registry.Meter]float64{})
	})
}

func TestUsage_ServerEnded_StartedRunsCounted(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		begin(t, s, queued())
		run := queued()
		run.Status, run.StartedAt = registry.Running, &start
		begin(t, s, run)
		for range 2 {
			if _, err := s.InterruptRuns(t.Context(), start); err != nil {
				t.Fatal(err)
			}
		}
		wantUse(t, s, ws, map[registry.Meter]float64{registry.RunsMeter: 1})
	})
}

// TestUsage_ServersInterruptAtOnce_CountedOnce interrupts runs several times at once, as servers do when the lease of
// another one has expired.
func TestUsage_ServersInterruptAtOnce_CountedOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		const runs = 20
		for range runs {
			run := queued()
			run.Status, run.StartedAt = registry.Running, &start
			begin(t, s, run)
		}
		var interrupted atomic.Int64
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				n, err := s.InterruptRuns(t.Context(), start)
				if err != nil {
					t.Error(err)
				}
				interrupted.Add(int64(n))
			})
		}
		group.Wait()
		if got := interrupted.Load(); got != runs {
			t.Errorf("%d of %d runs were interrupted", got, runs)
		}
		wantUse(t, s, ws, map[registry.Meter]float64{registry.RunsMeter: runs})
	})
}

func TestUsage_AddedAndMeasured(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		november, december := registry.MonthOf(start), registry.MonthOf(start.AddDate(0, 1, 0))
		err := errors.Join(
			s.AddModelUse(t.Context(), ws, string(november), registry.Tokens{Input: 5, Output: 2}), s.AddModelUse(t.Context(), ws, string(november), registry.Tokens{Input: 5}),
			s.AddModelUse(t.Context(), ws, string(december), registry.Tokens{Output: 1}),
			s.RaiseUsage(t.Context(), ws, registry.Use{Month: november, Meter: registry.StorageMeter, Amount: 10}),
			s.RaiseUsage(t.Context(), ws, registry.Use{Month: november, Meter: registry.StorageMeter, Amount: 9}),
		)
		if err != nil {
			t.Fatal(err)
		}
		wantUse(t, s, ws, map[registry.Meter]float64{registry.TokensMeter: 12, registry.StorageMeter: 10})
		all, err := s.Usage(t.Context(), ws, november, december)
		want := []registry.Use{{Month: november, Meter: registry.StorageMeter, Amount: 10}, {Month: november, Meter: registry.TokensMeter, Amount: 12}, {Month: december, Meter: registry.TokensMeter, Amount: 1}}
		if err != nil || !slices.Equal(all, want) {
			t.Errorf("both months: %v, %v", all, err)
		}
	})
}

// TestUsage_CostOfARun checks that counting takes one statement of the transaction that finishes a run, and no other
// transaction.
func TestUsage_CostOfARun(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		statements := s.Statements()
		transactions := s.Transactions()
		run := finished()
		run.TokensUsed, run.Metrics.RemoteMs, run.Metrics.GPUMs, run.Metrics.RemoteCost, run.Metrics.EgressBytes = 0, 0, 0, 0, 0
		finish(t, s, run, events(1, 1)...)
		finish(t, s, finished(), events(1, 1)...)
		want := map[string]int{"put runs 1": 2, "add events 1": 2, "add use 1": 2, "add usage 2": 1, "add usage 6": 1}
		if !maps.Equal(statements, want) || transactions.Load() != 2 {
			t.Errorf("%v in %d transactions, want %v", statements, transactions.Load(), want)
		}
	})
}
