package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/registry/store/storetest"
)

func TestPinsAreReplaced(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, o store.Options) {
		s := storetest.Reopen(t, o)
		a := create(t, s, agent("weather"))
		pin := func(version string, at time.Time) registry.Pin {
			return registry.Pin{Owner: "o", Label: "l", AgentID: a.ID, Reference: version, CreatedAt: at}
		}
		for _, put := range [][]registry.Pin{{pin("1.0.0", start), pin("^1", start)}, {pin("^1", start.Add(time.Hour)), pin("latest", start.Add(time.Hour))}} {
			if err := s.ReplacePins(t.Context(), ws, "o", put); err != nil {
				t.Fatal(err)
			}
		}
		want := []registry.Pin{pin("^1", start), pin("latest", start.Add(time.Hour))} // an existing pin keeps its time
		of, errOf := s.PinsOf(t.Context(), ws, a.ID)
		by, errBy := s.PinsBy(t.Context(), ws, "o")
		if errOf != nil || errBy != nil {
			t.Fatal(errOf, errBy)
		}
		if diff := cmp.Diff(want, of) + cmp.Diff(want, by); diff != "" {
			t.Error(diff)
		}
		if other, err := s.PinsBy(t.Context(), "other", "o"); err != nil || len(other) != 0 {
			t.Errorf("another workspace sees %v, %v", other, err)
		}
		if err := s.ReplacePins(t.Context(), ws, "o", nil); err != nil {
			t.Fatal(err)
		}
		if left, err := s.PinsOf(t.Context(), ws, a.ID); err != nil || len(left) != 0 {
			t.Errorf("left %v, %v", left, err)
		}
	})
}

// TestPinsHoldTheirAgent checks that a pinned agent cannot be deleted and that a deleted agent cannot be pinned, even
// if both happen concurrently.
func TestPinsHoldTheirAgent(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, o store.Options) {
		s := storetest.Reopen(t, o)
		a := create(t, s, agent("weather"))
		pins := []registry.Pin{{Owner: "o", AgentID: a.ID, Reference: "^1", CreatedAt: start}, {Owner: "o", AgentID: a.ID, Reference: "latest", CreatedAt: start}}
		expect(t, s.ReplacePins(t.Context(), "other", "o", pins), fault.NotFound)
		if err := s.ReplacePins(t.Context(), ws, "o", pins); err != nil {
			t.Fatal(err)
		}
		expect(t, s.DeleteAgent(t.Context(), ws, a.ID, false, start, registry.Deletion{}), fault.Conflict)
		if _, err := s.Agent(t.Context(), ws, a.ID); err != nil {
			t.Error(err)
		}
		if err := s.DeleteAgent(t.Context(), ws, a.ID, true, start, registry.Deletion{}); err != nil {
			t.Error(err)
		}
		expect(t, s.ReplacePins(t.Context(), ws, "o", pins), fault.NotFound)
		if err := s.ReplacePins(t.Context(), ws, "o", nil); err != nil { // pins of a deleted agent can be removed
			t.Error(err)
		}
	})
}
