package budgets_test

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/registry/store/storetest"
	"github.com/atelier-run/atelier/studio/budgets"
)

const ws = registry.DefaultWorkspace

var (
	start = time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	ada   = registry.Actor{ID: "ada", Name: "Ada", Workspace: ws}
)

// clock is a clock that tests advance.
type clock struct{ at atomic.Int64 }

func (c *clock) now() time.Time        { return start.Add(time.Duration(c.at.Load())) }
func (c *clock) turn(by time.Duration) { c.at.Add(int64(by)) }

func open(s *store.Store, c *clock, notice budgets.Notice) *budgets.Service {
	return budgets.New(budgets.Options{
		Store: s, Warnings: s, Usage: s, Prices: registry.Prices{registry.CPUMeter: 0.5}, Currency: "EUR", Notice: notice, Log: slog.New(slog.DiscardHandler), Now: c.now,
	})
}

func set(t *testing.T, s *budgets.Service, name string, meter registry.Meter, amount float64, refuse registry.Refusal) {
	t.Helper()
	if _, err := s.Set(t.Context(), ada, registry.Budget{Name: name, Meter: meter, Amount: amount, Refuse: refuse}); err != nil {
		t.Fatal(err)
	}
}

// finish records a finished run with the given usage.
func finish(t *testing.T, s *store.Store, at time.Time, used registry.Metrics) {
	t.Helper()
	err := s.FinishRun(t.Context(), registry.Run{ID: rand.Text(), Workspace: ws, Status: registry.Succeeded, Metrics: used, CreatedAt: at, StartedAt: &at, FinishedAt: &at}, nil)
	if err != nil {
		t.Fatal(err)
	}
}

// run admits a run and, if admitted, records its usage.
func run(t *testing.T, s *store.Store, b *budgets.Service, remote bool, at time.Time, used registry.Metrics) error {
	t.Helper()
	place, err := b.Admit(t.Context(), ws, remote)
	if err == nil {
		place.Done()
		finish(t, s, at, used)
	}
	return err
}

func refused(t *testing.T, err error, budget string) *fault.Error {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Code != fault.BudgetExceeded || f.Extra["budget"] != budget {
		t.Fatalf("%v, want the budget %s to be used up", err, budget)
	}
	return f
}

// The first job uses 75 of 60 seconds, so a second job must be refused until the next month. Local runs must not be
// affected.
func TestAdmit_OneGPUMinute_SecondJobRefused(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		c := &clock{}
		b := open(s, c, nil)
		set(t, b, "gpu", registry.GPUMeter, 1, registry.RefuseRemote)
		if err := run(t, s, b, true, c.now(), registry.Metrics{RemoteMs: 75_000, GPUMs: 75_000}); err != nil {
			t.Fatal(err)
		}
		f := refused(t, run(t, s, b, true, c.now(), registry.Metrics{}), "gpu")
		want := "The budget gpu of this workspace is used up: 1.25 of 1 GPU minutes in 2026-11. An administrator can raise it with `atelier budget set gpu --meter gpuMinutes --refuse remote --amount AMOUNT`. It starts again at 0 on 2026-12-01."
		if f.Message != want || f.Extra["used"] != 1.25 || f.Extra["amount"] != 1.0 {
			t.Errorf("%s %v", f.Message, f.Extra)
		}
		if err := run(t, s, b, false, c.now(), registry.Metrics{}); err != nil {
			t.Errorf("a local run: %v", err)
		}
		if _, err := b.Admit(t.Context(), "other", true); err != nil {
			t.Errorf("another workspace: %v", err)
		}
		again := open(s, c, nil) // This service has an empty cache, like a restarted or another server.
		refused(t, run(t, s, again, true, c.now(), registry.Metrics{}), "gpu")
		c.turn(10 * 24 * time.Hour)
		if err := run(t, s, b, true, c.now(), registry.Metrics{}); err != nil {
			t.Errorf("in the next month: %v", err)
		}
	})
}

func TestAdmit_Refusals(t *testing.T) {
	t.Parallel()
	for refuse, want := range map[registry.Refusal]struct{ local, remote bool }{
		registry.RefuseAll: {true, true}, registry.RefuseRemote: {false, true}, registry.RefuseNothing: {false, false},
	} {
		t.Run(string(refuse), func(t *testing.T) {
			t.Parallel()
			s := storetest.Open(t, storetest.SQLite)
			b := open(s, &clock{}, nil)
			set(t, b, "money", registry.CostMeter, 1, refuse)
			finish(t, s, start, registry.Metrics{CPUMs: 1500, RemoteCost: 0.25}) // The cost is 0.75 for CPU time and 0.25 for remote runs.
			for remote, want := range map[bool]bool{false: want.local, true: want.remote} {
				place, err := b.Admit(t.Context(), ws, remote)
				if fault.Is(err, fault.BudgetExceeded) != want {
					t.Errorf("remote %v: %v", remote, err)
				}
				place.Done()
			}
			if err := b.CheckTokens(t.Context(), ws); fault.Is(err, fault.BudgetExceeded) == (refuse == registry.RefuseNothing) {
				t.Errorf("a request to the model: %v", err)
			}
		})
	}
}

func TestCheckTokens_OtherMeters_Allowed(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.SQLite)
	b := open(s, &clock{}, nil)
	set(t, b, "gpu", registry.GPUMeter, 1, registry.RefuseRemote)
	set(t, b, "tokens", registry.TokensMeter, 100, registry.RefuseRemote)
	finish(t, s, start, registry.Metrics{GPUMs: 90_000})
	if err := b.CheckTokens(t.Context(), ws); err != nil {
		t.Errorf("the budget of GPU minutes is used up: %v", err)
	}
	if err := s.AddModelUse(t.Context(), ws, "2026-11", registry.Tokens{Input: 90, Output: 10}); err != nil {
		t.Fatal(err)
	}
	refused(t, b.CheckTokens(t.Context(), ws), "tokens")
}

// A run that was admitted before its budget was used up may call the model until the run is recorded.
func TestCheckTokens_LastRunOfABudget_Allowed(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.SQLite)
	b := open(s, &clock{}, nil)
	set(t, b, "one-run", registry.RunsMeter, 1, registry.RefuseAll)
	place, err := b.Admit(t.Context(), ws, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.CheckTokens(t.Context(), ws); err != nil {
		t.Errorf("a request of the active run: %v", err)
	}
	if _, err := b.Admit(t.Context(), ws, false); !fault.Is(err, fault.BudgetExceeded) {
		t.Errorf("a second run: %v", err)
	}
	place.Done()
	finish(t, s, start, registry.Metrics{})
	refused(t, b.CheckTokens(t.Context(), ws), "one-run")
}

// Parallel runs must never exceed a budget of runs, and no run may be counted twice.
func TestAdmit_ParallelRuns_ExactNumber(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		b := open(s, &clock{}, nil)
		set(t, b, "runs", registry.RunsMeter, 20, registry.RefuseAll)
		var places []budgets.Place
		var mu sync.Mutex
		var all sync.WaitGroup
		for range 60 {
			all.Go(func() {
				place, err := b.Admit(context.Background(), ws, false)
				if err != nil {
					return
				}
				mu.Lock()
				defer mu.Unlock()
				places = append(places, place)
			})
		}
		all.Wait()
		if len(places) != 20 {
			t.Fatalf("%d runs were admitted", len(places))
		}
		for _, place := range places[:5] {
			place.Done() // Return the place without recording a run.
		}
		for _, place := range places[5:] {
			place.Done()
			finish(t, s, start, registry.Metrics{})
		}
		for n := range 6 {
			if err := run(t, s, b, false, start, registry.Metrics{}); (err == nil) != (n < 5) {
				t.Errorf("run %d: %v", 16+n, err)
			}
		}
	})
}

func TestAdmit_BudgetOfAnotherServer_KnownAfterAMoment(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		c := &clock{}
		one, two := open(s, c, nil), open(s, c, nil)
		finish(t, s, start, registry.Metrics{CPUMs: 1000})
		if err := run(t, s, one, false, start, registry.Metrics{}); err != nil {
			t.Fatal(err)
		}
		set(t, two, "cpu", registry.CPUMeter, 1, registry.RefuseAll)
		refused(t, run(t, s, two, false, start, registry.Metrics{}), "cpu")
		c.turn(5 * time.Second)
		one.Warn(t.Context())
		refused(t, run(t, s, one, false, start, registry.Metrics{}), "cpu")
		set(t, one, "cpu", registry.CPUMeter, 5, registry.RefuseAll)
		if err := run(t, s, one, false, start, registry.Metrics{}); err != nil {
			t.Errorf("the budget was raised: %v", err)
		}
		if err := one.Remove(t.Context(), ada, "cpu"); err != nil {
			t.Fatal(err)
		}
		if err := one.Remove(t.Context(), ada, "cpu"); !fault.Is(err, fault.NotFound) {
			t.Errorf("removed twice: %v", err)
		}
	})
}

// Two servers must send only one webhook for each threshold of a budget.
func TestWarn_EachPartOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		c := &clock{}
		notice := func(b budgets.Balance, w registry.BudgetWarning) registry.Delivery {
			at := w.At
			return registry.Delivery{ID: rand.Text(), Workspace: w.Workspace, Event: "budget.warning", CreatedAt: at, NextAt: &at, Payload: []byte(`{"unit":"` + b.Unit + `"}`)}
		}
		servers := []*budgets.Service{open(s, c, notice), open(s, c, notice)}
		set(t, servers[0], "cpu", registry.CPUMeter, 10, registry.RefuseNothing)
		warn := func() (percents []int, webhooks int) {
			t.Helper()
			c.turn(time.Minute)
			var all sync.WaitGroup
			for _, one := range servers {
				all.Go(func() { one.Warn(context.Background()) })
			}
			all.Wait()
			states, err := servers[1].List(t.Context(), ada)
			due, unread := s.DueDeliveries(t.Context(), c.now(), 100)
			if err := errors.Join(err, unread); err != nil || len(states) != 1 {
				t.Fatalf("%v, %v", states, err)
			}
			for _, w := range states[0].Warnings {
				percents = append(percents, w.Percent)
			}
			return percents, len(due)
		}
		for _, step := range []struct {
			cpuMs float64
			want  int
		}{{4900, 0}, {100, 1}, {0, 1}, {5000, 3}, {100_000, 3}} {
			finish(t, s, c.now(), registry.Metrics{CPUMs: step.cpuMs})
			if percents, webhooks := warn(); len(percents) != step.want || webhooks != step.want {
				t.Errorf("%v ms later: warned at %v, %d webhooks", step.cpuMs, percents, webhooks)
			}
		}
		set(t, servers[0], "cpu", registry.CPUMeter, 200, registry.RefuseNothing) // The warnings must be repeated for the new amount.
		if percents, webhooks := warn(); len(percents) != 1 || percents[0] != 50 || webhooks != 4 {
			t.Errorf("after the budget was raised: %v, %d webhooks", percents, webhooks)
		}
	})
}

func TestSet_Refused(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.SQLite)
	b := open(s, &clock{}, nil)
	good := registry.Budget{Name: "cpu", Meter: registry.CPUMeter, Amount: 1, Refuse: registry.RefuseAll}
	for name, change := range map[string]func(*registry.Budget){
		"name": func(b *registry.Budget) { b.Name = "CPU!" }, "meter": func(b *registry.Budget) { b.Meter = "coffee" }, "nothing": func(b *registry.Budget) { b.Amount = 0 },
		"not a number": func(b *registry.Budget) { b.Amount = math.NaN() }, "infinite": func(b *registry.Budget) { b.Amount = math.Inf(1) }, "refuse": func(b *registry.Budget) { b.Refuse = "" },
	} {
		bad := good
		change(&bad)
		if _, err := b.Set(t.Context(), ada, bad); !fault.Is(err, fault.InvalidInput) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for n := range 50 {
		one := good
		one.Name = "b" + strings.Repeat("x", n)
		if _, err := b.Set(t.Context(), ada, one); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Set(t.Context(), ada, good); !fault.Is(err, fault.Conflict) {
		t.Errorf("the 51st budget: %v", err)
	}
	if all, err := b.List(t.Context(), ada); err != nil || len(all) != 50 {
		t.Errorf("%d budgets, %v", len(all), err)
	}
}
