package packages

import (
	"cmp"
	"context"
	"slices"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
)

// Change is one package that differs between two locks.
type Change struct {
	Name   string `json:"name"`
	Before string `json:"before,omitempty" doc:"Version before. Absent for an added package."`
	After  string `json:"after,omitempty" doc:"Version after. Absent for a removed package."`
}

// Changes lists the packages that differ between two locks, sorted by name. A nil lock has no packages.
func Changes(before, after *runtimes.Lock) []Change {
	was, is := byPlace(before), byPlace(after)
	all := []Change{}
	for place, p := range was {
		if now, ok := is[place]; !ok || now.Version != p.Version || now.Hash != p.Hash {
			all = append(all, Change{Name: p.Name, Before: p.Version, After: now.Version})
		}
	}
	for place, p := range is {
		if _, ok := was[place]; !ok {
			all = append(all, Change{Name: p.Name, After: p.Version})
		}
	}
	slices.SortFunc(all, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Before, b.Before), cmp.Compare(a.After, b.After))
	})
	return all
}

// byPlace returns the packages of a lock by folder, or by name if they have no folder.
func byPlace(lock *runtimes.Lock) map[string]runtimes.LockedPackage {
	all := map[string]runtimes.LockedPackage{}
	if lock != nil {
		for _, p := range lock.Packages {
			all[cmp.Or(p.Path, p.Name)] = p
		}
	}
	return all
}

// Known returns the exact packages of a version, or those that are already resolved for a draft. If there are none, it
// returns nil. It does not resolve packages.
func (s *Service) Known(ctx context.Context, workspace, agentID string, spec registry.Spec) (*runtimes.Lock, error) {
	if spec.Lock != nil {
		return spec.Lock, nil
	}
	named, list, err := s.read(spec)
	if err != nil || len(named.Requirements) == 0 {
		return nil, nil //nolint:nilerr // An invalid package list has no lock.
	}
	known, found, err := s.Store.PackageLock(ctx, workspace, agentID, list)
	if err != nil || !found {
		return nil, err
	}
	return &known.Lock, nil
}
