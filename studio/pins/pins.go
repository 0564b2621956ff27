// Package pins stores which agents are referenced, and by which owners. Nodes of workflows in other systems, tool sets
// and other agents register their references here. With pins, an agent in use is not deleted by mistake, and a
// deprecation can list the owners who must change their references.
package pins

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/references"
)

// Store stores pins.
type Store interface {
	ReplacePins(ctx context.Context, workspace, owner string, pins []registry.Pin) error
	PinsOf(ctx context.Context, workspace, agentID string) ([]registry.Pin, error)
	PinsBy(ctx context.Context, workspace, owner string) ([]registry.Pin, error)
}

// Agents finds an agent by its current or a former name.
type Agents interface {
	Agent(ctx context.Context, workspace, nameOrID string) (registry.Agent, error)
}

// Resolver returns the versions that references select now.
type Resolver interface {
	FindAll(ctx context.Context, workspace string, refs []registry.Reference) ([]references.Found, error)
}

// Service stores pins. It is safe for concurrent use.
type Service struct {
	store    Store
	agents   Agents
	resolver Resolver
	now      func() time.Time
}

// New returns the service.
func New(store Store, agents Agents, resolver Resolver, now func() time.Time) *Service {
	return &Service{store, agents, resolver, now}
}

const (
	maxOwner      = 200 // maximum size of an owner, and of a label, in bytes
	maxReferences = 200
)

// Request holds all references of an owner. An earlier reference that is not in the request is removed.
type Request struct {
	Owner      string
	Label      string
	References []string
}

// Put replaces an owner's references. Each reference must select a version.
func (s *Service) Put(ctx context.Context, actor registry.Actor, req Request) ([]registry.Pin, error) {
	switch {
	case strings.TrimSpace(req.Owner) == "" || len(req.Owner) > maxOwner:
		return nil, fault.Invalid("/owner", "must have 1 to %d bytes.", maxOwner)
	case len(req.Label) > maxOwner:
		return nil, fault.Invalid("/label", "must have at most %d bytes.", maxOwner)
	case len(req.References) > maxReferences:
		return nil, fault.Invalid("/references", "must have at most %d references.", maxReferences)
	}
	refs, malformed := make([]registry.Reference, len(req.References)), make([]error, len(req.References))
	for i, text := range req.References {
		refs[i], malformed[i] = registry.ParseReference(text)
	}
	found, err := s.resolver.FindAll(ctx, actor.Workspace, refs)
	if err != nil {
		return nil, err
	}
	wrong := &fault.Error{Code: fault.InvalidInput, Message: "A reference cannot be resolved."}
	seen := map[string]bool{}
	var pins []registry.Pin
	for i, f := range found {
		if malformed[i] != nil {
			f.Err = malformed[i]
		}
		if detail, told := explain(f.Err); told {
			detail.Pointer = fmt.Sprintf("/references/%d", i)
			wrong.Details = append(wrong.Details, detail)
			continue
		}
		if f.Err != nil {
			return nil, f.Err
		}
		if key := f.Version.AgentID + "@" + refs[i].Version; !seen[key] {
			seen[key] = true
			pins = append(pins, registry.Pin{Owner: req.Owner, Label: req.Label, AgentID: f.Version.AgentID, Reference: refs[i].Version, CreatedAt: s.now()})
		}
	}
	if len(wrong.Details) > 0 {
		return nil, wrong
	}
	if err := s.store.ReplacePins(ctx, actor.Workspace, req.Owner, pins); err != nil {
		return nil, err
	}
	return s.By(ctx, actor, req.Owner)
}

// explain returns the detail of an error that the caller can fix. For any other error it returns false.
func explain(err error) (fault.Detail, bool) {
	var f *fault.Error
	if !errors.As(err, &f) || f.Code == fault.Internal {
		return fault.Detail{}, false
	}
	if len(f.Details) > 0 {
		return fault.Detail{Code: string(f.Code), Message: f.Details[0].Message}, true
	}
	return fault.Detail{Code: string(f.Code), Message: f.Message}, true
}

// Drop removes all of an owner's pins.
func (s *Service) Drop(ctx context.Context, actor registry.Actor, owner string) error {
	return s.store.ReplacePins(ctx, actor.Workspace, owner, nil)
}

// By returns an owner's pins.
func (s *Service) By(ctx context.Context, actor registry.Actor, owner string) ([]registry.Pin, error) {
	pins, err := s.store.PinsBy(ctx, actor.Workspace, owner)
	if err != nil {
		return nil, err
	}
	return s.resolved(ctx, actor.Workspace, pins)
}

// Of returns the pins that reference an agent.
func (s *Service) Of(ctx context.Context, actor registry.Actor, ref string) ([]registry.Pin, error) {
	a, err := s.agents.Agent(ctx, actor.Workspace, ref)
	if err != nil {
		return nil, err
	}
	return s.Holding(ctx, actor.Workspace, a.ID)
}

// Holding returns the pins that reference an agent. The caller must know that the agent exists.
func (s *Service) Holding(ctx context.Context, workspace, agentID string) ([]registry.Pin, error) {
	pins, err := s.store.PinsOf(ctx, workspace, agentID)
	if err != nil {
		return nil, err
	}
	return s.resolved(ctx, workspace, pins)
}

// resolved formats references and adds the version that each reference selects now.
func (s *Service) resolved(ctx context.Context, workspace string, pins []registry.Pin) ([]registry.Pin, error) {
	refs := make([]registry.Reference, len(pins))
	for i, p := range pins {
		refs[i] = registry.Reference{Agent: p.AgentID, Version: p.Reference}
	}
	found, err := s.resolver.FindAll(ctx, workspace, refs)
	if err != nil {
		return nil, err
	}
	for i, f := range found {
		p := &pins[i]
		switch {
		case f.Err == nil:
			p.Version, p.Deprecated = f.Version.Version, f.Version.Deprecated
		case !fault.Is(f.Err, fault.NotFound):
			return nil, f.Err
		}
		p.Reference = registry.Reference{Agent: cmp.Or(f.CurrentName, p.AgentID), Version: p.Reference}.String()
	}
	return pins, nil
}
