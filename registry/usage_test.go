package registry_test

import (
	"testing"
	"time"

	"github.com/atelier-run/atelier/registry"
)

func TestMonth(t *testing.T) {
	t.Parallel()
	// It is still November in UTC, and already December in Berlin.
	at := time.Date(2026, 12, 1, 0, 30, 0, 0, time.FixedZone("Berlin", 3600))
	month := registry.MonthOf(at)
	first, ok := month.Start()
	if month != "2026-11" || !ok || !first.Equal(time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)) || !month.End().Equal(time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("%s from %s to %s", month, first, month.End())
	}
	for _, text := range []registry.Month{"", "2026", "2026-13", "2026-1", "2026-11-01", "11-2026"} {
		if _, ok := text.Start(); ok || !text.End().IsZero() {
			t.Errorf("%q is a month", text)
		}
	}
}

func TestMeters_SmallestUnits(t *testing.T) {
	t.Parallel()
	for _, m := range registry.Meters() {
		if got := m.Amount(m.Smallest(1.5) + m.Smallest(1.5)); got != 3 && got != 4 { // meters with whole units round up
			t.Errorf("twice 1.5 %s is %v", m, got)
		}
	}
	if got := registry.GPUMeter.Amount(registry.GPUMeter.Smallest(1.0 / 60)); got != 1.0/60 {
		t.Errorf("a GPU second is %v minutes", got)
	}
}
