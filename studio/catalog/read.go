package catalog

import (
	"context"

	"github.com/Masterminds/semver/v3"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// Listed is an agent of the registry with its released versions, newest first, without files.
type Listed struct {
	registry.Agent
	Versions []registry.Version
}

// Agent returns the agent that a workspace lists under a current or former name. Error: NotFound. The error does not
// reveal whether the agent exists but is not listed.
func (s *Service) Agent(ctx context.Context, publisher, name string) (Listed, error) {
	a, err := s.Pages.ListedAs(ctx, publisher, name)
	if err != nil {
		return Listed{}, err
	}
	all, err := s.Pages.Versions(ctx, a.Workspace, a.ID)
	if err != nil {
		return Listed{}, err
	}
	found := Listed{Agent: a, Versions: make([]registry.Version, 0, len(all))}
	for _, v := range all {
		if released(v) {
			found.Versions = append(found.Versions, v)
		}
	}
	return found, nil
}

// Version returns a released version with its files. It omits the user who published the version, and the reason for a
// number smaller than advised. Errors: those of Agent; NotFound for a pre-release.
func (s *Service) Version(ctx context.Context, publisher, name, version string) (registry.Version, error) {
	a, err := s.Pages.ListedAs(ctx, publisher, name)
	if err != nil {
		return registry.Version{}, err
	}
	v, err := s.version(ctx, a, version)
	v.PublishedBy, v.Publisher, v.Override = "", registry.Actor{}, nil
	return v, err
}

// version resolves a released version. Error: NotFound. Its message does not reveal whether a pre-release exists.
func (s *Service) version(ctx context.Context, listed registry.Agent, version string) (registry.Version, error) {
	v, err := s.Resolver.Resolve(ctx, listed.Workspace, registry.Reference{Agent: listed.ID, Version: version})
	if fault.Is(err, fault.NotFound) || err == nil && !released(v) {
		asked := registry.Reference{Agent: listed.Name, Version: version}
		return registry.Version{}, fault.New(fault.NotFound, "Version %s not found in the registry, which lists only released versions.", asked)
	}
	return v, err
}

func released(v registry.Version) bool {
	number, err := semver.StrictNewVersion(v.Version)
	return err == nil && number.Prerelease() == ""
}
