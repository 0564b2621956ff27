package store_test

import (
	"testing"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/registry/store/storetest"
)

// TestTheLatestIsWhatLatestStandsFor checks that an agent's latest version is always the version that name@latest
// selects, in different orders of publishing and deprecating.
func TestTheLatestIsWhatLatestStandsFor(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		a := create(t, s, agent("weather"))
		deprecate := func(number string, deprecated bool) func() error {
			return func() error { return s.SetDeprecated(t.Context(), ws, a.ID, number, deprecated, "", "") }
		}
		insert := func(number string, deprecated bool) func() error {
			return func() error {
				v := version(a, number)
				v.Deprecated = deprecated
				return s.InsertVersion(t.Context(), ws, v)
			}
		}
		list := func() error { return s.SetListed(t.Context(), ws, a.ID, true, start) }
		for i, step := range []struct {
			do         func() error
			latest     string
			deprecated bool
		}{
			{insert("1.9.0", true), "1.9.0", true}, {insert("1.2.0", false), "1.2.0", false}, {list, "1.2.0", false}, {insert("2.0.0", false), "2.0.0", false},
			{insert("3.0.0-rc.1", false), "2.0.0", false}, {deprecate("2.0.0", true), "1.2.0", false}, {insert("1.10.0", false), "1.10.0", false},
			{deprecate("1.10.0", true), "1.2.0", false}, {deprecate("1.2.0", true), "2.0.0", true}, {deprecate("1.9.0", false), "1.9.0", false}, {deprecate("2.0.0", false), "2.0.0", false},
		} {
			if err := step.do(); err != nil {
				t.Fatal(i, err)
			}
			tellsLatest(t, s, a, step.latest, step.deprecated)
		}
		page, err := s.Listed(t.Context(), registry.AgentFilter{})
		if err != nil || len(page.Items) != 1 || page.Items[0].LatestVersion != "2.0.0" {
			t.Errorf("the registry has %+v, %v", page.Items, err)
		}
	})
}

func tellsLatest(t *testing.T, s *store.Store, a registry.Agent, want string, deprecated bool) {
	t.Helper()
	got, err := s.Agent(t.Context(), ws, a.ID)
	if err != nil || got.LatestVersion != want || got.LatestDeprecated != deprecated {
		t.Errorf("latest is %q, deprecated %t, %v; want %q, %t", got.LatestVersion, got.LatestDeprecated, err, want, deprecated)
	}
	_, all := candidates(t, s, a.ID, registry.Latest)
	if at := registry.Pick(registry.Latest, all); at < 0 || all[at].Version != want {
		t.Errorf("name@latest selects number %d of %v, not %s", at, all, want)
	}
}
