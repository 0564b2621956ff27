package store_test

import (
	"errors"
	"testing"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/registry/store/storetest"
)

// An agent's latest version is the one that name@latest selects, whatever is deprecated and published in between.
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
		t.Errorf("name@latest stands for %d of %v, not %s", at, all, want)
	}
}

// A migration corrects older databases: numbers are compared as numbers, and build metadata is ignored.
func TestLatestVersionsAreRepaired(t *testing.T) {
	t.Parallel()
	const migration = "20261122051000"
	for _, d := range []storetest.Dialect{storetest.SQLite, storetest.Postgres} {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			s := storetest.Open(t, d)
			want := map[string]string{"some": "1.10.0+b-1", "all": "12.0.1", "none": "2.0.0", "early": ""}
			agents := map[string]registry.Agent{}
			for name, numbers := range map[string][]string{
				"some": {"1.9.9", "1.10.0+b-1", "1.2.30", "!2.0.0", "2.1.0-rc.1"}, "all": {"!9.0.0", "!12.0.1", "!12.0.0"}, "none": {"1.0.0", "2.0.0"}, "early": {"!1.0.0-rc.1"},
			} {
				agents[name] = create(t, s, agent(name))
				for _, number := range numbers {
					v := version(agents[name], number)
					if number[0] == '!' {
						v = version(agents[name], number[1:])
						v.Deprecated = true
					}
					if err := s.InsertVersion(t.Context(), ws, v); err != nil {
						t.Fatal(err)
					}
				}
			}
			err := errors.Join(
				s.Exec(t.Context(), "UPDATE agents SET latest_version = '2.0.0' WHERE name = 'some'"),
				s.Exec(t.Context(), "ALTER TABLE agents DROP COLUMN latest_deprecated"),
				s.Exec(t.Context(), "DELETE FROM bun_migrations WHERE name = '"+migration+"'"),
			)
			if err != nil {
				t.Fatal(err)
			}
			if applied, err := s.Migrate(t.Context()); err != nil || len(applied) != 1 {
				t.Fatal(applied, err)
			}
			for name, latest := range want {
				got, err := s.Agent(t.Context(), ws, agents[name].ID)
				if err != nil || got.LatestVersion != latest || got.LatestDeprecated != (name == "all") {
					t.Errorf("%s: %q, deprecated %t, %v; want %q", name, got.LatestVersion, got.LatestDeprecated, err, latest)
				}
			}
		})
	}
}
