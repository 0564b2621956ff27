// Package pins keeps who references what: nodes of workflows in other systems, sets of tools, other agents register
// here, so that nobody deletes what somebody uses, and a deprecation says who must move.
package pins

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// Store keeps pins.
type Store interface {
	ReplacePins(ctx context.Context, workspace, owner string, pins []registry.Pin) error
	PinsOf(ctx context.Context, workspace, agentID string) ([]registry.Pin, error)
	PinsBy(ctx context.Context, workspace, owner string) ([]registry.Pin, error)
}

// Agents finds the agent that has or had a name.
type Agents interface {
	Agent(ctx context.Context, workspace, nameOrID string) (registry.Agent, error)
}

// Resolver tells what a reference stands for now.
type Resolver interface {
	Find(ctx context.Context, workspace string, ref registry.Reference) (registry.Version, error)
}

// Service is safe for concurrent use.
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
	maxOwner      = 200 // bytes, and of a label
	maxReferences = 200
)

// Request says what an owner references, all of it: what it referenced before and does not name now is let go.
type Request struct {
	Owner      string
	Label      string
	References []string
}

// Put registers an owner's references. To put the same again changes nothing. Each must stand for a version.
func (s *Service) Put(ctx context.Context, actor registry.Actor, req Request) ([]registry.Pin, error) {
	switch {
	case strings.TrimSpace(req.Owner) == "" || len(req.Owner) > maxOwner:
		return nil, fault.Invalid("/owner", "must have 1 to %d bytes.", maxOwner)
	case len(req.Label) > maxOwner:
		return nil, fault.Invalid("/label", "must have at most %d bytes.", maxOwner)
	case len(req.References) > maxReferences:
		return nil, fault.Invalid("/references", "must have at most %d references.", maxReferences)
	}
	wrong := &fault.Error{Code: fault.InvalidInput, Message: "A reference stands for nothing."}
	seen := map[string]bool{}
	var pins []registry.Pin
	for i, text := range req.References {
		v, version, err := s.referenced(ctx, actor.Workspace, text)
		if detail, told := explain(err); told {
			detail.Pointer = fmt.Sprintf("/references/%d", i)
			wrong.Details = append(wrong.Details, detail)
			continue
		}
		if err != nil {
			return nil, err
		}
		if key := v.AgentID + "@" + version; !seen[key] {
			seen[key] = true
			pins = append(pins, registry.Pin{Owner: req.Owner, Label: req.Label, AgentID: v.AgentID, Reference: version, CreatedAt: s.now()})
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

func (s *Service) referenced(ctx context.Context, workspace, text string) (v registry.Version, version string, err error) {
	ref, err := registry.ParseReference(text)
	if err != nil {
		return v, "", err
	}
	v, err = s.resolver.Find(ctx, workspace, ref)
	return v, ref.Version, err
}

// explain is what the caller can mend.
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

// Drop lets go of all that an owner references.
func (s *Service) Drop(ctx context.Context, actor registry.Actor, owner string) error {
	return s.store.ReplacePins(ctx, actor.Workspace, owner, nil)
}

// By returns what an owner references.
func (s *Service) By(ctx context.Context, actor registry.Actor, owner string) ([]registry.Pin, error) {
	pins, err := s.store.PinsBy(ctx, actor.Workspace, owner)
	if err != nil {
		return nil, err
	}
	return s.resolved(ctx, actor.Workspace, pins)
}

// Of returns who references an agent.
func (s *Service) Of(ctx context.Context, actor registry.Actor, ref string) ([]registry.Pin, error) {
	a, err := s.agents.Agent(ctx, actor.Workspace, ref)
	if err != nil {
		return nil, err
	}
	return s.Holding(ctx, actor.Workspace, a.ID)
}

// Holding returns who references an agent that is known to be there.
func (s *Service) Holding(ctx context.Context, workspace, agentID string) ([]registry.Pin, error) {
	pins, err := s.store.PinsOf(ctx, workspace, agentID)
	if err != nil {
		return nil, err
	}
	return s.resolved(ctx, workspace, pins)
}

// resolved writes references out and says what they stand for now.
func (s *Service) resolved(ctx context.Context, workspace string, pins []registry.Pin) ([]registry.Pin, error) {
	names := map[string]string{}
	for i := range pins {
		p := &pins[i]
		v, err := s.resolver.Find(ctx, workspace, registry.Reference{Agent: p.AgentID, Version: p.Reference})
		switch {
		case err == nil:
			p.Version, p.Deprecated = v.Version, v.Deprecated
		case !fault.Is(err, fault.NotFound):
			return nil, err
		}
		if _, known := names[p.AgentID]; !known {
			names[p.AgentID] = p.AgentID
			if a, err := s.agents.Agent(ctx, workspace, p.AgentID); err == nil {
				names[p.AgentID] = a.Name
			}
		}
		p.Reference = registry.Reference{Agent: names[p.AgentID], Version: p.Reference}.String()
	}
	return pins, nil
}
