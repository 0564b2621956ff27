// Package catalog is the public registry: agents that their workspaces list, for every workspace to browse and to copy. A
// copy is an agent of its own with a draft; it remembers where it came from, and can tell when there is something newer.
package catalog

import (
	"context"
	"time"

	"github.com/Masterminds/semver/v3"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/specs"
)

// Listings is the registry of all workspaces.
type Listings interface {
	SetListed(ctx context.Context, workspace, id string, listed bool, at time.Time) error
	Listed(ctx context.Context, filter registry.AgentFilter) (registry.AgentPage, error)
	ListedAgent(ctx context.Context, id string) (registry.Agent, error)
}

// Agents keeps the agents of a workspace.
type Agents interface {
	Agent(ctx context.Context, workspace, nameOrID string) (registry.Agent, error)
	CreateAgent(ctx context.Context, a registry.Agent) error
}

// Pages are what one reads of a listed agent: it, by the names of its workspace and its own, and its versions.
type Pages interface {
	ListedAs(ctx context.Context, publisher, name string) (registry.Agent, error)
	Versions(ctx context.Context, workspace, agentID string) ([]registry.Version, error)
}

// Resolver gives the version that a reference stands for.
type Resolver interface {
	Resolve(ctx context.Context, workspace string, ref registry.Reference) (registry.Version, error)
}

// Quotas refuses what would be kept in a workspace that is full.
type Quotas interface {
	CheckAgentLimit(ctx context.Context, workspace string) error
}

// Options configures a Service.
type Options struct {
	Listings Listings
	Pages    Pages
	Agents   Agents
	Resolver Resolver
	Quotas   Quotas // nil for none
	Specs    *specs.Checker
	Now      func() time.Time
	NewID    func() string
}

// Service is safe for concurrent use.
type Service struct{ Options }

// New returns the service.
func New(o Options) *Service { return &Service{o} }

// List shows an agent in the registry with its released versions, or takes it out. Error: NoVersion without such a version.
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

// CopyRequest says what to copy: Version "" is the latest, Name "" the origin's own.
type CopyRequest struct {
	Version string
	Name    string
}

// Copy makes an agent of the actor's workspace whose draft is a version of the registry. Errors: NotFound, also for an agent
// that is not listed and for a pre-release; NameTaken; InvalidInput for hosts that the workspace may not be granted.
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
	if a.Name == "" {
		a.Name = origin.Name
	}
	if err := registry.CheckAbout(a); err != nil {
		return registry.Agent{}, err
	}
	return a, s.Agents.CreateAgent(ctx, a)
}

// AtOrigin returns who lists an agent's origin, and its latest version if it is above the one that was copied and not
// deprecated, else "". An origin that is listed no more has nothing to tell.
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
		return origin.Publisher, "", nil //nolint:nilerr // versions are checked when they are published
	}
	return origin.Publisher, origin.LatestVersion, nil
}
