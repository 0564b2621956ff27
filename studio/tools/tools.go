// Package tools offers published versions as tools. A client can select the latest version of each agent, a single
// reference, or a tool set that pins several versions. The package also runs tools for protocols that call tools by
// name.
package tools

import (
	"context"
	"sync"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/pins"
	"github.com/atelier-run/atelier/studio/references"
)

// Store reads agents, versions and tool sets.
type Store interface {
	LatestVersions(ctx context.Context, workspace string) ([]registry.LatestVersion, error)
	VersionsByID(ctx context.Context, workspace string, ids []string) ([]registry.Version, error)

	ToolSets(ctx context.Context, workspace string) ([]registry.ToolSet, error)
	ToolSet(ctx context.Context, workspace, name string) (registry.ToolSet, error)
	PutToolSet(ctx context.Context, set registry.ToolSet) error
	DeleteToolSet(ctx context.Context, workspace, name string) error
}

// Options configures a Service.
type Options struct {
	Store    Store
	Resolver *references.Resolver
	Pins     *pins.Service
	Now      func() time.Time
	NewID    func() string
}

// Service lists and runs tools. It is safe for concurrent use.
type Service struct {
	Options

	mu     sync.Mutex
	latest map[string]*catalogue // cached catalogues, by workspace
}

// New returns the service.
func New(o Options) *Service { return &Service{Options: o, latest: map[string]*catalogue{}} }

// maxCatalogues is the maximum number of workspaces whose catalogue is in memory.
const maxCatalogues = 64

// catalogue caches the latest versions of a workspace, without files.
type catalogue struct {
	versions map[string]registry.Version // versions by their row ID
}

// Selection states which tools an address offers. The zero value selects the latest version of each agent.
type Selection struct {
	Set       string             // name of a tool set
	Reference registry.Reference // reference to a single version
}

// All reports whether a selection offers the whole catalogue.
func (s Selection) All() bool { return s.Set == "" && s.Reference.Agent == "" }

// Select returns the versions that a selection offers to a caller. They are sorted by the name of the tool and have no
// files. Errors: NotFound for a tool set or reference that does not exist or that the caller may not use.
func (s *Service) Select(ctx context.Context, caller registry.Caller, selection Selection) ([]registry.Version, error) {
	switch {
	case selection.Set != "":
		return s.ofSet(ctx, caller, selection.Set)
	case selection.Reference.Agent != "":
		v, err := s.Resolver.Resolve(ctx, caller.Actor.Workspace, selection.Reference)
		if err != nil {
			return nil, err
		}
		if !caller.MayTouch(v.AgentID) {
			return nil, fault.New(fault.NotFound, "Agent %s not found.", selection.Reference.Agent)
		}
		v.Files = nil
		return []registry.Version{v}, nil
	}
	return s.newest(ctx, caller)
}

// newest returns the latest version of each agent. It reads each version only once. Later calls read only the short
// list of version numbers.
func (s *Service) newest(ctx context.Context, caller registry.Caller) ([]registry.Version, error) {
	workspace := caller.Actor.Workspace
	list, err := s.Store.LatestVersions(ctx, workspace)
	if err != nil {
		return nil, err
	}
	known := s.known(workspace)
	var missing []string
	for _, l := range list {
		if _, ok := known.versions[l.ID]; !ok {
			missing = append(missing, l.ID)
		}
	}
	fresh := &catalogue{versions: make(map[string]registry.Version, len(list))}
	if len(missing) > 0 {
		read, err := s.Store.VersionsByID(ctx, workspace, missing)
		if err != nil {
			return nil, err
		}
		for _, v := range read {
			fresh.versions[v.ID] = v
		}
	}
	versions := make([]registry.Version, 0, len(list))
	for _, l := range list {
		v, ok := fresh.versions[l.ID]
		if !ok {
			if v, ok = known.versions[l.ID]; !ok {
				continue // The version was deleted after the list was read.
			}
		}
		fresh.versions[l.ID] = v
		if !caller.MayTouch(v.AgentID) {
			continue
		}
		if l.Deprecated { // An older version of the agent may not be deprecated.
			if v, err = s.Resolver.Resolve(ctx, workspace, registry.Reference{Agent: l.AgentID, Version: registry.Latest}); err != nil {
				return nil, err
			}
			v.Files = nil
		}
		v.Agent = l.Agent
		versions = append(versions, v)
	}
	s.keep(workspace, fresh)
	return versions, nil
}

func (s *Service) known(workspace string) *catalogue {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.latest[workspace]; c != nil {
		return c
	}
	return &catalogue{}
}

func (s *Service) keep(workspace string, c *catalogue) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.latest) >= maxCatalogues && s.latest[workspace] == nil {
		clear(s.latest)
	}
	s.latest[workspace] = c
}
