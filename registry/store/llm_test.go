package store_test

import (
	"testing"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/registry/store/storetest"
)

func TestModelUse(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		for range 2 {
			if err := s.AddModelUse(t.Context(), ws, "2026-11", registry.Tokens{Input: 100, Output: 7}); err != nil {
				t.Fatal(err)
			}
		}
		for month, want := range map[string]registry.Tokens{"2026-11": {Input: 200, Output: 14}, "2026-12": {}} {
			if used, err := s.ModelUse(t.Context(), ws, month); err != nil || used != want {
				t.Errorf("in %s %+v tokens were used, want %+v; error %v", month, used, want, err)
			}
		}
		if used, err := s.Usage(t.Context(), ws, "2026-11", "2026-11"); err != nil || len(used) != 1 || used[0] != (registry.Use{Month: "2026-11", Meter: registry.TokensMeter, Amount: 214}) {
			t.Errorf("the usage is %v, error %v", used, err)
		}
		for _, choice := range []registry.ModelChoice{{}, {Off: true, Model: "small"}, {Model: "large"}} {
			if err := s.ChooseModel(t.Context(), ws, choice); err != nil {
				t.Fatal(err)
			}
			if got, err := s.ModelChoice(t.Context(), ws); err != nil || got != choice {
				t.Errorf("the choice is %+v, want %+v; error %v", got, choice, err)
			}
		}
		if got, err := s.ModelChoice(t.Context(), "other"); err != nil || got != (registry.ModelChoice{}) {
			t.Errorf("another workspace chose %+v, error %v", got, err)
		}
	})
}
