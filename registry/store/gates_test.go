package store_test

import (
	"testing"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/registry/store/storetest"
)

func TestPutGateSettings_OlderRevision_Conflict(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		put := func(seen, want int64, code fault.Code) {
			t.Helper()
			got, err := s.PutGateSettings(t.Context(), ws, registry.GateSettings{Gate: registry.GateEnforce, Revision: seen})
			if got != want || fault.CodeOf(err) != code {
				t.Errorf("revision %d: %d, %v", seen, got, err)
			}
		}
		put(3, 0, fault.Conflict) // of settings that do not exist
		put(1, 2, "")
		put(1, 0, fault.Conflict)
		put(2, 3, "")
		put(0, 4, "")
		put(4, 5, "")
		if got, found, err := s.GateSettings(t.Context(), ws); err != nil || !found || got.Revision != 5 || got.Gate != registry.GateEnforce {
			t.Errorf("%+v, %v, %v", got, found, err)
		}
	})
}
