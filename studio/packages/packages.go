// Package packages gives programs the packages that they name. It keeps the exact packages of each list of a draft, so
// that a run, the next run and the version have the same ones, applies the rules of the workspace, and removes what is no
// longer used. Resolving and installing is done by runtimes/packages.
package packages

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/jcs"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/packages"
)

// Store stores the locks of lists.
type Store interface {
	PackageLock(ctx context.Context, workspace, agentID, list string) (registry.PackageLock, bool, error)
	PutPackageLock(ctx context.Context, lock registry.PackageLock) error
	UsePackageLock(ctx context.Context, workspace, agentID, list string, at time.Time) error
}

// Used returns the locks that must stay installed.
type Used interface {
	PackageLocks(ctx context.Context, workspace string) ([]registry.PackageLock, error)
	VersionLocks(ctx context.Context, workspace string) ([]runtimes.Lock, error)
	DropPackageLocks(ctx context.Context, workspace string, before time.Time) error
}

// Options configures a Service.
type Options struct {
	Store   Store
	Used    Used
	Manager *packages.Manager
	Allow   []Rule // a workspace with one of these may use only what they name
	Block   []Rule
	Now     func() time.Time
}

// Service gives programs their packages. It is safe for concurrent use.
type Service struct {
	Options

	mu        sync.Mutex
	resolving map[string]chan struct{} // lists that are being resolved; closed at the end
}

// New returns the service.
func New(o Options) *Service { return &Service{Options: o, resolving: map[string]chan struct{}{}} }

// Step is the progress of providing packages, for the person who waits.
type Step struct {
	Message     string
	Done, Total int
}

// refresh is the age from which the use of a lock is recorded again.
const refresh = time.Hour

// Lock returns the exact packages for the list of a draft or, with the agent "", of an inline program. It resolves a list
// only once.
func (s *Service) Lock(ctx context.Context, workspace, agentID string, spec registry.Spec, told func(Step)) (runtimes.Lock, error) {
	ecosystem, list, requirements, err := s.read(spec)
	if err != nil {
		return runtimes.Lock{}, err
	}
	done, err := s.alone(ctx, workspace+"\x00"+agentID+"\x00"+list)
	if err != nil {
		return runtimes.Lock{}, err
	}
	defer done()
	known, found, err := s.Store.PackageLock(ctx, workspace, agentID, list)
	if err != nil {
		return runtimes.Lock{}, err
	}
	if found {
		now := s.Now()
		if now.Sub(known.UsedAt) > refresh {
			err = s.Store.UsePackageLock(registry.WithoutKey(ctx), workspace, agentID, list, now)
		}
		return known.Lock, err
	}
	told(Step{Message: "resolving packages"})
	return s.resolve(ctx, workspace, agentID, ecosystem, list, requirements)
}

// Renew resolves the list of a draft again, and replaces its exact packages.
func (s *Service) Renew(ctx context.Context, workspace, agentID string, spec registry.Spec) (runtimes.Lock, error) {
	ecosystem, list, requirements, err := s.read(spec)
	if err != nil {
		return runtimes.Lock{}, err
	}
	done, err := s.alone(ctx, workspace+"\x00"+agentID+"\x00"+list)
	if err != nil {
		return runtimes.Lock{}, err
	}
	defer done()
	return s.resolve(ctx, workspace, agentID, ecosystem, list, requirements)
}

func (s *Service) read(spec registry.Spec) (runtimes.Ecosystem, string, []packages.Requirement, error) {
	ecosystem, ok := packages.EcosystemOf(spec.Language)
	if !ok {
		return "", "", nil, fault.Invalid("/packages", "must be empty: %s has no packages.", spec.Language)
	}
	requirements, err := packages.Parse(ecosystem, spec.Packages)
	if err != nil {
		return "", "", nil, err
	}
	list, err := jcs.DigestValue(map[string]any{"ecosystem": ecosystem, "requirements": packages.Texts(requirements)})
	return ecosystem, list, requirements, err
}

func (s *Service) resolve(ctx context.Context, workspace, agentID string, ecosystem runtimes.Ecosystem, list string, requirements []packages.Requirement) (runtimes.Lock, error) {
	lock, err := s.Manager.Resolve(ctx, ecosystem, requirements)
	if err != nil {
		return lock, faultOf(err, requirements)
	}
	if err := s.allowed(workspace, lock); err != nil {
		return lock, faultOf(err, requirements)
	}
	now := s.Now()
	err = s.Store.PutPackageLock(registry.WithoutKey(ctx), registry.PackageLock{
		Workspace: workspace, AgentID: agentID, List: list, Lock: lock, CreatedAt: now, UsedAt: now,
	})
	return lock, err
}

// alone waits until no other caller resolves the same list.
func (s *Service) alone(ctx context.Context, key string) (done func(), err error) {
	for {
		s.mu.Lock()
		running := s.resolving[key]
		if running == nil {
			mine := make(chan struct{})
			s.resolving[key] = mine
			s.mu.Unlock()
			return func() {
				s.mu.Lock()
				delete(s.resolving, key)
				s.mu.Unlock()
				close(mine)
			}, nil
		}
		s.mu.Unlock()
		select {
		case <-running:
		case <-ctx.Done():
			return nil, fault.New(fault.Cancelled, "Resolving the packages was cancelled.")
		}
	}
}

// Install returns the installed packages of a lock. release must be called when the run has ended.
func (s *Service) Install(ctx context.Context, workspace string, lock runtimes.Lock, told func(Step)) (found runtimes.Installed, release func(), err error) {
	if err := s.allowed(workspace, lock); err != nil {
		return found, func() {}, faultOf(err, nil)
	}
	found, release, err = s.Manager.Acquire(ctx, workspace, lock, func(p packages.Progress) {
		message := p.Step + " packages"
		if p.Done > 0 {
			message = fmt.Sprintf("%s %d of %d packages", p.Step, p.Done, p.Total)
		}
		told(Step{Message: message, Done: p.Done, Total: p.Total})
	})
	if err != nil {
		return found, release, faultOf(err, nil)
	}
	return found, release, nil
}

// Provide locks and installs the packages of a program: those of its version, or those for the list of its draft.
func (s *Service) Provide(ctx context.Context, workspace, agentID string, spec registry.Spec, told func(Step)) (found runtimes.Installed, release func(), err error) {
	var lock runtimes.Lock
	if spec.Lock != nil {
		lock = *spec.Lock
	} else if lock, err = s.Lock(ctx, workspace, agentID, spec, told); err != nil {
		return found, func() {}, err
	}
	return s.Install(ctx, workspace, lock, told)
}

// faultOf describes a problem with packages by the entry of the list that causes it, if one does.
func faultOf(err error, requirements []packages.Requirement) error {
	var problem *packages.Problem
	if !errors.As(err, &problem) {
		return err
	}
	extra := map[string]any{"package": problem.Package}
	if problem.Remedy != "" {
		extra["remedy"] = problem.Remedy
	}
	if problem.Code == "index" {
		return &fault.Error{Code: fault.IndexUnavailable, Message: problem.Error(), Extra: extra}
	}
	pointer := "/packages"
	if at := slices.IndexFunc(requirements, func(r packages.Requirement) bool { return r.Name == problem.Package }); at >= 0 {
		pointer = fmt.Sprintf("/packages/%d", at)
	}
	return &fault.Error{
		Code: fault.InvalidInput, Message: "The packages could not be installed: " + problem.Error(), Extra: extra,
		Details: []fault.Detail{{Pointer: pointer, Code: problem.Code, Message: problem.Error()}},
	}
}
