// Package packages resolves and installs the packages that programs name. For each package list of a draft it stores
// the exact packages, so that all runs of the draft and of its version use the same ones. It applies the rules of the
// workspace, and removes unused installations. It resolves and installs with the package runtimes/packages.
package packages

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/jcs"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/packages"
)

// Store stores the locks of package lists.
type Store interface {
	PackageLock(ctx context.Context, workspace, agentID, list string) (registry.PackageLock, bool, error)
	PutPackageLock(ctx context.Context, lock registry.PackageLock) error
	UsePackageLock(ctx context.Context, workspace, agentID, list string, at time.Time) error
}

// Used returns the locks that must stay installed.
type Used interface {
	PackageLocks(ctx context.Context, workspace string) ([]registry.PackageLock, error)
	VersionLocks(ctx context.Context, workspace string) ([]registry.VersionLock, error)
	DropPackageLocks(ctx context.Context, workspace string, before time.Time) error
}

// Options configures a Service.
type Options struct {
	Store   Store
	Used    Used
	Manager *packages.Manager
	Allow   []Rule // if a rule in Allow applies to a workspace, only matching packages are allowed in this workspace
	Block   []Rule
	Now     func() time.Time
}

// Service resolves and installs the packages of programs. It is safe for concurrent use.
type Service struct {
	Options

	mu        sync.Mutex
	resolving map[string]chan struct{} // package lists that are being resolved; each channel is closed when its list is resolved
}

// New returns the service.
func New(o Options) *Service { return &Service{Options: o, resolving: map[string]chan struct{}{}} }

// Step describes the progress of an installation to the person who waits for it.
type Step struct {
	Message     string
	Done, Total int
}

// refresh is the minimum time between two records of the use of a lock.
const refresh = time.Hour

// Lock returns the exact packages for the package list of a draft. The agent "" means an inline program. Each list is
// resolved only once.
func (s *Service) Lock(ctx context.Context, workspace, agentID string, spec registry.Spec, report func(Step)) (runtimes.Lock, error) {
	named, list, err := s.read(spec)
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
	report(Step{Message: "resolving packages"})
	return s.resolve(ctx, workspace, agentID, list, named)
}

// Renew resolves the package list of a draft again and replaces the exact packages.
func (s *Service) Renew(ctx context.Context, workspace, agentID string, spec registry.Spec) (runtimes.Lock, error) {
	named, list, err := s.read(spec)
	if err != nil {
		return runtimes.Lock{}, err
	}
	done, err := s.alone(ctx, workspace+"\x00"+agentID+"\x00"+list)
	if err != nil {
		return runtimes.Lock{}, err
	}
	defer done()
	return s.resolve(ctx, workspace, agentID, list, named)
}

// Declared returns the packages that a program names, either in the field packages or in one of its files.
func Declared(spec registry.Spec) (packages.Declaration, error) {
	return packages.Declared(spec.Language, spec.Packages, spec.Files)
}

// Needed reports whether a program names packages. It is also true if the package list is invalid.
func Needed(spec registry.Spec) bool {
	if spec.Lock != nil {
		return true
	}
	named, err := Declared(spec)
	return err != nil || len(named.Requirements) > 0
}

// read returns the packages that a program names, and a digest of everything that affects how these packages are
// resolved.
func (s *Service) read(spec registry.Spec) (packages.Declaration, string, error) {
	named, err := Declared(spec)
	if err != nil {
		return named, "", err
	}
	form := map[string]any{"ecosystem": named.Ecosystem, "requirements": packages.Texts(named.Requirements)}
	hashes := map[string][]string{} // The key is the package name, because a hash applies only to its package.
	for _, r := range named.Requirements {
		if len(r.Hashes) > 0 {
			hashes[r.Name] = append(hashes[r.Name], r.Hashes...)
		}
	}
	if len(hashes) > 0 {
		form["hashes"] = hashes
	}
	if named.Lock != nil {
		sum := sha256.Sum256(named.Lock)
		form["lock"] = hex.EncodeToString(sum[:])
	}
	list, err := jcs.DigestValue(form)
	return named, list, err
}

func (s *Service) resolve(ctx context.Context, workspace, agentID, list string, named packages.Declaration) (runtimes.Lock, error) {
	lock, err := s.Manager.Resolve(ctx, workspace, named)
	if err != nil {
		return lock, faultOf(err, named)
	}
	if err := s.allowed(workspace, lock); err != nil {
		return lock, faultOf(err, named)
	}
	now := s.Now()
	err = s.Store.PutPackageLock(registry.WithoutKey(ctx), registry.PackageLock{
		Workspace: workspace, AgentID: agentID, List: list, Lock: lock, CreatedAt: now, UsedAt: now,
	})
	return lock, err
}

// alone waits until no other caller resolves the same package list. The caller must call done at the end.
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

// Install returns the installed packages of a lock. The caller must call release when the run has ended.
func (s *Service) Install(ctx context.Context, workspace string, lock runtimes.Lock, report func(Step)) (found runtimes.Installed, release func(), err error) {
	if err := s.allowed(workspace, lock); err != nil {
		return found, func() {}, faultOf(err, packages.Declaration{})
	}
	found, release, err = s.Manager.Acquire(ctx, workspace, lock, func(p packages.Progress) {
		message := p.Step + " packages"
		if p.Done > 0 {
			message = fmt.Sprintf("%s %d of %d packages", p.Step, p.Done, p.Total)
		}
		report(Step{Message: message, Done: p.Done, Total: p.Total})
	})
	if err != nil {
		return found, release, faultOf(err, packages.Declaration{})
	}
	return found, release, nil
}

// Provide installs the packages of a program. For a version these are the locked packages; for a draft they are the
// packages to which its list resolves.
func (s *Service) Provide(ctx context.Context, workspace, agentID string, spec registry.Spec, report func(Step)) (found runtimes.Installed, release func(), err error) {
	var lock runtimes.Lock
	if spec.Lock != nil {
		lock = *spec.Lock
	} else if lock, err = s.Lock(ctx, workspace, agentID, spec, report); err != nil {
		return found, func() {}, err
	}
	return s.Install(ctx, workspace, lock, report)
}

// faultOf returns an error about a problem with packages, with the position of the list entry that causes it.
func faultOf(err error, named packages.Declaration) error {
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
	names := []string{problem.Package}
	if len(problem.Named) > 0 {
		names, extra["packages"] = problem.Named, problem.Named
	}
	details := make([]fault.Detail, 0, len(names))
	for _, name := range names {
		detail := named.At(name)
		detail.Code, detail.Message = problem.Code, problem.Error()
		details = append(details, detail)
	}
	return &fault.Error{Code: fault.InvalidInput, Message: "The packages could not be installed: " + problem.Error(), Extra: extra, Details: details}
}
