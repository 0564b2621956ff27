// Package catalog implements the public registry. The registry contains the agents that their workspaces list, so that
// every workspace can browse and copy them. A copy is an independent agent with its own draft. The copy records the
// agent that it came from (its origin), and can report newer versions of the origin.
package catalog

import (
	"context"
	"time"

	"github.com/Masterminds/semver/v3"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/references"
	"github.com/atelier-run/atelier/studio/specs"
)

// Listings reads the registry entries of all workspaces.
type Listings interface {
	SetListed(ctx context.Context, workspace, id string, listed bool, at time.Time) error
	Listed(ctx context.Context, filter registry.AgentFilter) (registry.AgentPage, error)
	ListedAgent(ctx context.Context, id string) (registry.Agent, error)
}

// Agents stores the agents of a workspace.
type Agents interface {
	Agent(ctx context.Context, workspace, nameOrID string) (registry.Agent, error)
	CreateAgent(ctx context.Context, a registry.Agent) error
}

// Pages reads a listed agent by the name of its workspace and its own name, and reads its versions.
type Pages interface {
	ListedAs(ctx context.Context, publisher, name string) (registry.Agent, error)
	Versions(ctx context.Context, workspace, agentID string) ([]registry.Version, error)
}

// Quotas rejects a copy into a workspace whose quota is used up.
type Quotas interface {
	CheckAgentLimit(ctx context.Context, workspace string) error
}

// Options configures a Service.
type Options struct {
	Listings Listings
	Pages    Pages
	Agents   Agents
	Resolver *references.Resolver
	Quotas   Quotas // nil if workspaces have no quotas
	Specs    *specs.Checker
	Now      func() time.Time
	NewID    func() string
}

// Service implements the public registry. It is safe for concurrent use.
type Service struct{ Options }

// New returns the service.
func New(o Options) *Service { return &Service{o} }

// List adds an agent and its released versions to the registry, or removes the agent from the registry. Error:
// NoVersion for an agent without released versions.
func (s *Service) List(ctx context.Context, actor registry.Actor, ref string, public bool) (registry.Agent, error) {
	a, err := s.Agents.Agent(ctx, actor.Workspace, ref)
	if err != nil {
		return a, err
	}
	if public && a.LatestVersion == "" {
		return a, fault.New(fault.NoVersion, "The agent has no released version. Publish one before listing it.")
	}
	if err := s.Listings.SetListed(ctx, actor.Workspace, a.ID, public, s.Now()); err != nil {
		return a, err
	}
	a.Listed = public
	return a, nil
}

// Browse returns a page of the registry.
func (s *Service) Browse(ctx context.Context, filter registry.AgentFilter) (registry.AgentPage, error) {
	return s.Listings.Listed(ctx, filter)
}

// CopyRequest selects the version to copy and the name of the copy. If Version is "", the latest version is copied. If
// Name is "", the copy gets the name of its origin.
type CopyRequest struct {
	Version string
	Name    string
}

// Copy creates an agent in the actor's workspace, with a version from the registry as its draft. Errors: NotFound, also
// for a pre-release and for an agent that is not listed; NameTaken; InvalidInput for hosts that may not be granted to
// the workspace.
func (s *Service) Copy(ctx context.Context, actor registry.Actor, id string, req CopyRequest) (registry.Agent, error) {
	if s.Quotas != nil {
		if err := s.Quotas.CheckAgentLimit(ctx, actor.Workspace); err != nil {
			return registry.Agent{}, err
		}
	}
	origin, err := s.Listings.ListedAgent(ctx, id)
	if err != nil {
		return origin, err
	}
	if req.Version == "" {
		req.Version = registry.Latest
	}
	v, err := s.version(ctx, origin, req.Version)
	if err != nil {
		return registry.Agent{}, err
	}
	spec, err := s.Specs.Complete(v.Spec.Current())
	if err != nil {
		return registry.Agent{}, err
	}
	if err := s.Specs.Grants(actor.Workspace, spec); err != nil {
		return registry.Agent{}, err
	}
	now := s.Now()
	a := registry.Agent{
		ID: s.NewID(), Workspace: actor.Workspace, Name: req.Name, Title: v.Title, Description: v.Description, Tags: origin.Tags,
		Metadata: []byte(`{}`), Draft: registry.FirstDraft(spec, actor, now), Changelog: []registry.ChangelogEntry{},
		Origin:    &registry.Origin{AgentID: origin.ID, Name: origin.Name, Version: v.Version, Digest: v.Digest},
		CreatedAt: now, CreatedBy: actor.ID, Creator: actor, UpdatedAt: now, Editor: actor,
	}
	a.Draft.Tests = v.Tests
	if a.Name == "" {
		a.Name = origin.Name
	}
	if err := registry.CheckAbout(a); err != nil {
		return registry.Agent{}, err
	}
	return a, s.Agents.CreateAgent(ctx, a)
}

// AtOrigin returns the publisher of an agent's origin. newer is the latest version of the origin if it is newer than
// the copied version and not deprecated, else "". If the origin is no longer listed, both results are empty.
func (s *Service) AtOrigin(ctx context.Context, a registry.Agent) (publisher, newer string, err error) {
	if a.Origin == nil {
		return "", "", nil
	}
	origin, err := s.Listings.ListedAgent(ctx, a.Origin.AgentID)
	if fault.Is(err, fault.NotFound) {
		return "", "", nil
	}
	if err != nil {
		return "", "", err
	}
	latest, errLatest := semver.StrictNewVersion(origin.LatestVersion)
	copied, errCopied := semver.StrictNewVersion(a.Origin.Version)
	if errLatest != nil || errCopied != nil || origin.LatestDeprecated || !latest.GreaterThan(copied) {
		return origin.Publisher, "", nil //nolint:nilerr // The error is impossible: the numbers of published versions are valid.
	}
	return origin.Publisher, origin.LatestVersion, nil
}
