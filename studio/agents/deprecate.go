package agents

import (
	"context"
	"slices"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// DeprecateRequest deprecates a version, or ends its deprecation. Successor is a reference to the version that callers
// should use instead. By default it is the agent's latest version that is not deprecated, unless that is the version
// itself.
type DeprecateRequest struct {
	Deprecated bool
	Reason     string
	Successor  string
}

// Deprecate deprecates a version, or ends its deprecation. It returns the owners of references that select the version,
// because they should change these references. A deprecated version still runs.
func (s *Service) Deprecate(ctx context.Context, actor registry.Actor, ref, version string, req DeprecateRequest) (registry.Version, []registry.Pin, error) {
	v, err := s.Version(ctx, actor, ref, version)
	if err != nil {
		return registry.Version{}, nil, err
	}
	if len(req.Reason) > registry.MaxWords {
		return registry.Version{}, nil, fault.Invalid("/reason", "must have at most %d bytes.", registry.MaxWords)
	}
	s.deprecating.Lock() // Without this lock, two concurrent requests could name each other's versions as successors.
	defer s.deprecating.Unlock()
	if req.Successor, err = s.successor(ctx, actor, v, req); err != nil {
		return registry.Version{}, nil, err
	}
	pins, err := s.Pins.Holding(ctx, actor.Workspace, v.AgentID) // List the owners before deprecating, because afterwards ranges select another version.
	if err != nil {
		return registry.Version{}, nil, err
	}
	if err := s.Versions.SetDeprecated(ctx, actor.Workspace, v.AgentID, v.Version, req.Deprecated, req.Reason, req.Successor); err != nil {
		return registry.Version{}, nil, err
	}
	s.Resolver.Forget(actor.Workspace)
	v.Deprecated, v.Reason, v.Successor = req.Deprecated, req.Reason, req.Successor
	return v, slices.DeleteFunc(pins, func(p registry.Pin) bool { return !v.Deprecated || p.Version != v.Version }), nil
}

func (s *Service) successor(ctx context.Context, actor registry.Actor, v registry.Version, req DeprecateRequest) (string, error) {
	if !req.Deprecated {
		return "", nil
	}
	if req.Successor != "" {
		return req.Successor, s.leadsElsewhere(ctx, actor.Workspace, v, req.Successor)
	}
	versions, err := s.Numbers.Numbers(ctx, actor.Workspace, v.AgentID)
	if err != nil {
		return "", err
	}
	others := slices.DeleteFunc(versions, func(other registry.Version) bool { return other.Deprecated || other.Version == v.Version })
	if at := registry.Pick(registry.Latest, others); at >= 0 {
		return others[at].Reference(), nil
	}
	return "", nil
}

// leadsElsewhere rejects a successor that does not exist or is the version itself. It also rejects one whose chain of
// successors leads back to the version, because the chain would be a loop.
func (s *Service) leadsElsewhere(ctx context.Context, workspace string, v registry.Version, successor string) error {
	followed := map[string]bool{}
	for at := successor; at != "" && !followed[at]; {
		followed[at] = true
		next, err := s.find(ctx, workspace, at)
		stale := fault.Is(err, fault.NotFound) || fault.Is(err, fault.InvalidInput) || fault.Is(err, fault.VersionRequired)
		switch {
		case err != nil && !stale:
			return err
		case err != nil && at == successor:
			return fault.Invalid("/successor", "must be a reference to an existing version, for example %s@2.0.0.", v.Agent)
		case err != nil:
			return nil //nolint:nilerr // The next successor no longer exists, so the chain ends here.
		case next.AgentID == v.AgentID && next.Version == v.Version && at == successor:
			return fault.Invalid("/successor", "must not be the deprecated version itself.")
		case next.AgentID == v.AgentID && next.Version == v.Version:
			return fault.Invalid("/successor", "must not be a version whose successors lead back to %s.", at)
		}
		if at = ""; next.Deprecated {
			at = next.Successor
		}
	}
	return nil
}

func (s *Service) find(ctx context.Context, workspace, text string) (registry.Version, error) {
	ref, err := registry.ParseReference(text)
	if err != nil {
		return registry.Version{}, err
	}
	found, err := s.Resolver.FindAll(ctx, workspace, []registry.Reference{ref})
	if err != nil {
		return registry.Version{}, err
	}
	return found[0].Version, found[0].Err
}
