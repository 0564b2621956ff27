package agents

import (
	"context"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/packages"
)

// Resolved holds the exact packages of a draft, and how they differ from those of the latest version.
type Resolved struct {
	Digest   string            `json:"digest,omitempty" doc:"Digest of the lock. Absent without packages."`
	Lock     *runtimes.Lock    `json:"lock,omitempty"`
	Compared string            `json:"comparedWith,omitempty" doc:"The latest version, if there is one."`
	Changes  []packages.Change `json:"changes" doc:"Packages that differ from that version."`
}

// ResolvePackages returns the exact packages of a draft. It resolves them if they are not resolved yet or if renew is
// set. If install is set, it also installs them.
func (s *Service) ResolvePackages(ctx context.Context, actor registry.Actor, ref string, seen registry.Seen, renew, install bool) (Resolved, error) {
	if s.Packages == nil {
		return Resolved{}, fault.New(fault.RuntimeUnavailable, "This server installs no packages.")
	}
	a, err := s.Agents.Agent(ctx, actor.Workspace, ref)
	if err != nil {
		return Resolved{}, err
	}
	draft, err := a.DraftAt(seen)
	if err != nil {
		return Resolved{}, err
	}
	var found Resolved
	if packages.Needed(draft.Spec) {
		var lock runtimes.Lock
		if renew {
			lock, err = s.Packages.Renew(ctx, actor.Workspace, a.ID, draft.Spec)
		} else {
			lock, err = s.Packages.Lock(ctx, actor.Workspace, a.ID, draft.Spec, func(packages.Step) {})
		}
		if err != nil {
			return found, err
		}
		found.Lock, found.Digest = &lock, lock.Digest()
		if install {
			_, release, err := s.Packages.Install(ctx, actor.Workspace, lock, func(packages.Step) {})
			release()
			if err != nil {
				return found, err
			}
		}
	}
	var before *runtimes.Lock
	if a.LatestVersion != "" {
		latest, err := s.Resolver.Resolve(ctx, actor.Workspace, registry.Reference{Agent: a.ID, Version: a.LatestVersion})
		if err != nil {
			return found, err
		}
		before, found.Compared = latest.Lock, latest.Version
	}
	found.Changes = packages.Changes(before, found.Lock)
	return found, nil
}

// PackageTypes returns the files from which an editor reads the types of the packages of a version or the draft. The
// result is empty until the packages are installed.
func (s *Service) PackageTypes(ctx context.Context, actor registry.Actor, ref, version string) (packages.Types, error) {
	none := packages.Types{Files: map[string]string{}}
	if s.Packages == nil {
		return none, nil
	}
	var agentID string
	var spec registry.Spec
	if version == registry.DraftVersion {
		a, err := s.Agents.Agent(ctx, actor.Workspace, ref)
		if err != nil {
			return none, err
		}
		draft, err := a.DraftAt(registry.AnyRevision())
		if err != nil {
			return none, err
		}
		agentID, spec = a.ID, draft.Spec
	} else {
		v, err := s.Version(ctx, actor, ref, version)
		if err != nil {
			return none, err
		}
		agentID, spec = v.AgentID, v.Spec
	}
	lock, err := s.Packages.Known(ctx, actor.Workspace, agentID, spec)
	if err != nil || lock == nil {
		return none, err
	}
	named, err := packages.Declared(spec)
	if err != nil {
		return none, nil //nolint:nilerr // An invalid package list is reported when the draft is checked.
	}
	return s.Packages.TypesOf(actor.Workspace, *lock, named)
}

// SBOM returns the software bill of materials of a version's packages.
func (s *Service) SBOM(ctx context.Context, actor registry.Actor, ref, version string) (packages.BOM, error) {
	if s.Packages == nil {
		return packages.BOM{}, fault.New(fault.RuntimeUnavailable, "This server installs no packages.")
	}
	v, err := s.Version(ctx, actor, ref, version)
	if err != nil {
		return packages.BOM{}, err
	}
	return s.Packages.SBOM(actor.Workspace, v), nil
}

// packagesApart lists the packages that differ between the two sides of a comparison. For a draft it uses the packages
// with which the draft last ran.
func (s *Service) packagesApart(ctx context.Context, workspace string, before, after registry.Version) ([]packages.Change, error) {
	if s.Packages == nil {
		return []packages.Change{}, nil
	}
	was, err := s.Packages.Known(ctx, workspace, before.AgentID, before.Spec)
	if err != nil {
		return nil, err
	}
	is, err := s.Packages.Known(ctx, workspace, after.AgentID, after.Spec)
	if err != nil {
		return nil, err
	}
	if was == nil && packages.Needed(before.Spec) || is == nil && packages.Needed(after.Spec) {
		return []packages.Change{}, nil // One side is not resolved yet. The settings already show how the package lists differ.
	}
	return packages.Changes(was, is), nil
}
