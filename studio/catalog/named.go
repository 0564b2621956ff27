package catalog

import (
	"context"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// mostSearched is the maximum number of registry entries that a search for a name reads.
const mostSearched = 2000

// Named returns the agent of the registry with the given name, or with PUBLISHER/NAME, and its latest released version.
// Errors: NotFound; Conflict if several publishers list an agent with this name.
func (s *Service) Named(ctx context.Context, name string) (registry.Agent, registry.Version, error) {
	publisher, own, qualified := strings.Cut(name, "/")
	if !qualified {
		own = name
		publishers, err := s.publishersOf(ctx, name)
		switch {
		case err != nil:
			return registry.Agent{}, registry.Version{}, err
		case len(publishers) == 0:
			return registry.Agent{}, registry.Version{}, fault.New(fault.NotFound, "The registry lists no agent named %s.", fault.Shown(name, 80))
		case len(publishers) > 1:
			return registry.Agent{}, registry.Version{}, fault.New(fault.Conflict, "Several workspaces list an agent named %s. Choose one of: %s.", own, strings.Join(publishers, ", "))
		}
		publisher = strings.TrimSuffix(publishers[0], "/"+own)
	}
	a, err := s.Pages.ListedAs(ctx, publisher, own)
	if err != nil {
		return registry.Agent{}, registry.Version{}, err
	}
	v, err := s.Version(ctx, publisher, own, registry.Latest)
	return a, v, err
}

// publishersOf returns PUBLISHER/NAME for each listed agent that has the given name.
func (s *Service) publishersOf(ctx context.Context, name string) ([]string, error) {
	var found []string
	filter := registry.AgentFilter{Query: name}
	for read := 0; read < mostSearched; {
		page, err := s.Listings.Listed(ctx, filter)
		if err != nil {
			return nil, err
		}
		for _, a := range page.Items {
			if registry.NameKey(a.Name) == registry.NameKey(name) {
				found = append(found, a.Publisher+"/"+a.Name)
			}
		}
		if read += len(page.Items); page.NextCursor == "" {
			break
		}
		filter.Cursor = page.NextCursor
	}
	return found, nil
}
