package agents_test

import (
	"testing"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/hostpattern"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store/storetest"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/access"
	"github.com/atelier-run/atelier/studio/agents"
	"github.com/atelier-run/atelier/studio/agents/agentstest"
	"github.com/atelier-run/atelier/studio/catalog"
)

// Regression: a version with hosts that may no longer be granted to the workspace was copied and restored as a draft.
// The next save of that draft failed.
func TestCopiesAskForNoMoreThanTheWorkspaceMayBeGranted(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.SQLite)
	service := agents.New(agentstest.Options(s))
	ceiling := hostpattern.Ceiling{All: true}
	service.Specs.CapGrants(func(string) hostpattern.Ceiling { return ceiling })
	shelf := catalog.New(catalog.Options{Listings: s, Agents: s, Pages: s, Resolver: service.Resolver, Specs: service.Specs, Now: service.Now, NewID: service.NewID})

	actor, name, language, code := access.Administrator(), "weather", runtimes.Bash, "echo 1\n"
	a, err := service.Create(t.Context(), actor, agents.Input{Name: &name, Language: &language, Code: &code, Capabilities: &runtimes.Capabilities{Hosts: []string{"api.example.com:443"}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := service.Publish(t.Context(), actor, name, agents.PublishRequest{Seen: registry.AnyRevision()}); err != nil {
		t.Fatal(err)
	}
	if _, err := shelf.List(t.Context(), actor, name, true); err != nil {
		t.Fatal(err)
	}
	copies := map[string]func() (registry.Agent, error){
		"a draft of a version": func() (registry.Agent, error) {
			return service.Redraft(t.Context(), actor, name, registry.SeenRevision(1), registry.Latest)
		},
		"a copy of an agent": func() (registry.Agent, error) {
			return service.Copy(t.Context(), actor, a.ID, "copy", registry.AnyRevision())
		},
		"a copy of what is listed": func() (registry.Agent, error) {
			return shelf.Copy(t.Context(), actor, a.ID, catalog.CopyRequest{Name: "copy-of-listed"})
		},
	}
	ceiling = hostpattern.Ceiling{}
	for what, copied := range copies {
		if _, err := copied(); !fault.Is(err, fault.InvalidInput) {
			t.Errorf("%s: %v", what, err)
		}
	}
	ceiling = hostpattern.Ceiling{All: true}
	for what, copied := range copies {
		if _, err := copied(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}
