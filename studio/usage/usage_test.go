package usage_test

import (
	"errors"
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/registry/store/storetest"
	"github.com/atelier-run/atelier/studio/quotas"
	"github.com/atelier-run/atelier/studio/usage"
)

var now = time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC)

func open(s *store.Store) *usage.Service {
	clock := func() time.Time { return now }
	return usage.New(usage.Options{
		Store: s, Storage: quotas.New(quotas.Options{Store: s, Ledger: s, Workspaces: s, Now: clock}), Currency: "EUR", Now: clock,
		Prices: registry.Prices{registry.GPUMeter: 0.5, registry.TokensMeter: 3, registry.EgressMeter: 0.1},
	})
}

func TestOf_MetersPricesAndHistory(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		add := func(month registry.Month, meter registry.Meter, amount float64) error {
			return s.RaiseUsage(t.Context(), "w", registry.Use{Month: month, Meter: meter, Amount: amount})
		}
		err := errors.Join(
			add("2025-02", registry.RunsMeter, 99), // This amount is more than twelve months old.
			add("2025-03", registry.RunsMeter, 1), add("2026-01", registry.RunsMeter, 2), add("2026-02", registry.RunsMeter, 3), add("2026-03", registry.RunsMeter, 99),
			add("2026-02", registry.GPUMeter, 1.5), add("2026-02", registry.TokensMeter, 500_000), add("2026-02", registry.RemoteCostMeter, 0.25),
			s.RaiseUsage(t.Context(), "other", registry.Use{Month: "2026-02", Meter: registry.RunsMeter, Amount: 99}),
		)
		if err != nil {
			t.Fatal(err)
		}
		r, err := open(s).Of(t.Context(), "w", "")
		if err != nil || r.Month != "2026-02" || !r.Until.Equal(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)) || r.Currency != "EUR" || len(r.Meters) != len(registry.Meters()) {
			t.Fatalf("%+v, %v", r, err)
		}
		if want := 1.5*0.5 + 0.5*3 + 0.25; r.Cost != want {
			t.Errorf("the month costs %v, want %v", r.Cost, want)
		}
		runs := r.Meters[0]
		if h := runs.History; runs.Amount != 3 || len(h) != usage.Months || h[0] != (usage.MonthlyAmount{Month: "2025-03", Amount: 1}) || h[5].Amount != 0 || h[10] != (usage.MonthlyAmount{Month: "2026-01", Amount: 2}) || h[11] != (usage.MonthlyAmount{Month: "2026-02", Amount: 3}) {
			t.Errorf("runs: %+v", runs)
		}
		if before, err := open(s).Of(t.Context(), "w", "2026-01"); err != nil || before.Meters[0].Amount != 2 || before.Meters[0].History[11].Month != "2026-01" {
			t.Errorf("the month before: %+v, %v", before, err)
		}
	})
}

func TestOf_Storage_HighestOfTheMonth(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		at := now
		err := s.FinishRun(t.Context(), registry.Run{ID: "r", Workspace: "w", Status: registry.Succeeded, Stdout: "twelve bytes", CreatedAt: at, FinishedAt: &at}, nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := open(s).Of(t.Context(), "w", "")
		stored := r.Meters[len(r.Meters)-1].Amount
		if err != nil || stored < 12 {
			t.Fatalf("%v bytes, %v", stored, err)
		}
		if _, _, err := s.SweepRuns(at.Add(time.Hour), 0).Next(t.Context(), 10); err != nil {
			t.Fatal(err)
		}
		if r, err = open(s).Of(t.Context(), "w", ""); err != nil || r.Meters[len(r.Meters)-1].Amount != stored {
			t.Errorf("after the run was removed: %v, %v", r.Meters[len(r.Meters)-1].Amount, err)
		}
	})
}

func TestOf_NoMonth_Refused(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.SQLite)
	for _, month := range []registry.Month{"2026", "2026-13", "now", "2026-02-01"} {
		if _, err := open(s).Of(t.Context(), "w", month); !fault.Is(err, fault.InvalidInput) {
			t.Errorf("%s: %v", month, err)
		}
	}
}
