// Package quotas holds workspaces to what they may take: runs at once, runs and processor time a day, bytes that are kept. It
// counts in memory what it has found in the database once, so that a run pays for two short locks.
package quotas

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/atelier-run/atelier/internal/bytesize"
	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// Store keeps the quotas of workspaces.
type Store interface {
	Quota(ctx context.Context, workspace string) (registry.OwnQuota, error)
	PutQuota(ctx context.Context, workspace string, q registry.OwnQuota) error
}

// Ledger knows what workspaces have taken.
type Ledger interface {
	RunsSince(ctx context.Context, workspace string, from time.Time) (registry.DayUse, error)
	Stored(ctx context.Context, workspace string) (int64, error)
}

// Workspaces finds one by its name.
type Workspaces interface {
	Workspace(ctx context.Context, nameOrID string) (registry.Workspace, error)
}

const (
	measureEvery = time.Hour        // how old a measurement of storage may be
	measureFull  = 10 * time.Second // where it stands in the way, something may have been removed
	tryAgain     = time.Second
)

// Options configures a Service. Defaults are for workspaces without quotas of their own.
type Options struct {
	Store      Store
	Ledger     Ledger
	Workspaces Workspaces
	Defaults   registry.Quota
	Now        func() time.Time
}

// Service is safe for concurrent use.
type Service struct {
	Options

	mu       sync.Mutex
	accounts map[string]*account
}

// New returns the service.
func New(o Options) *Service { return &Service{Options: o, accounts: map[string]*account{}} }

// account is one workspace.
type account struct {
	workspace string

	mu        sync.Mutex
	loaded    bool
	own       registry.OwnQuota
	quota     registry.Quota
	live      int64
	day       time.Time // its midnight, UTC
	used      registry.DayUse
	stored    int64
	measured  time.Time // zero before the first time
	measuring bool
}

func (s *Service) account(workspace string) *account {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.accounts[workspace]
	if a == nil {
		a = &account{workspace: workspace}
		s.accounts[workspace] = a
	}
	return a
}

// load reads what the database knows, once: from then on everything that is taken is taken here. It needs the lock.
func (s *Service) load(ctx context.Context, a *account) error {
	if a.loaded {
		s.turn(a)
		return nil
	}
	own, err := s.Store.Quota(ctx, a.workspace)
	if err != nil {
		return err
	}
	day := midnight(s.Now())
	used, err := s.Ledger.RunsSince(ctx, a.workspace, day)
	if err != nil {
		return err
	}
	a.loaded, a.own, a.quota, a.day, a.used = true, own, own.Over(s.Defaults), day, used
	return nil
}

// turn begins a new day.
func (s *Service) turn(a *account) {
	if day := midnight(s.Now()); day.After(a.day) {
		a.day, a.used = day, registry.DayUse{}
	}
}

func midnight(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

// Place is a run's part of a quota. Exactly one of its methods is called, once. The zero value is of nobody.
type Place struct {
	service *Service
	account *account
	day     time.Time
}

// Admit takes a place for a run, or says which quota is in the way and until when: QuotaExceeded or StorageFull.
func (s *Service) Admit(ctx context.Context, workspace string) (Place, error) {
	a := s.account(workspace)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := s.load(ctx, a); err != nil {
		return Place{}, err
	}
	if err := s.checkAgentLimit(ctx, a); err != nil {
		return Place{}, err
	}
	tomorrow := a.day.Add(24 * time.Hour)
	switch q := a.quota; {
	case q.ConcurrentRuns > 0 && a.live >= q.ConcurrentRuns:
		return Place{}, s.exceeded("concurrentRuns", q.ConcurrentRuns, s.Now().Add(tryAgain), "The quota of %d concurrent runs of this workspace is reached.", q.ConcurrentRuns)
	case q.RunsPerDay > 0 && a.used.Runs >= q.RunsPerDay:
		return Place{}, s.exceeded("runsPerDay", q.RunsPerDay, tomorrow, "The quota of %d runs per day of this workspace is reached.", q.RunsPerDay)
	case q.CPUSecondsPerDay > 0 && a.used.CPUMs >= float64(q.CPUSecondsPerDay)*1000:
		return Place{}, s.exceeded("cpuSecondsPerDay", q.CPUSecondsPerDay, tomorrow, "The quota of %d seconds of CPU time per day of this workspace is reached.", q.CPUSecondsPerDay)
	}
	a.live++
	a.used.Runs++
	return Place{service: s, account: a, day: a.day}, nil
}

func (s *Service) exceeded(quota string, limit int64, until time.Time, format string, args ...any) error {
	return &fault.Error{
		Code: fault.QuotaExceeded, RetryAfter: max(tryAgain, until.Sub(s.Now())), Extra: map[string]any{"quota": quota, "limit": limit, "until": until.UTC()},
		Message: fmt.Sprintf(format, args...) + fmt.Sprintf(" Try again at %s, or ask the operator of the server for a higher quota.", until.UTC().Format(time.RFC3339)),
	}
}

// Back gives a place back that no run was made of.
func (p Place) Back() {
	if p.account == nil {
		return
	}
	p.account.mu.Lock()
	defer p.account.mu.Unlock()
	p.account.live--
	if p.account.day.Equal(p.day) {
		p.account.used.Runs--
	}
}

// End gives a place back when its run is over, and counts what it took.
func (p Place) End(cpu time.Duration, bytes int64) {
	if p.account == nil {
		return
	}
	a := p.account
	a.mu.Lock()
	defer a.mu.Unlock()
	a.live--
	p.service.turn(a)
	a.used.CPUMs += float64(cpu.Microseconds()) / 1000
	a.stored += bytes
}

// CheckAgentLimit refuses what would be kept in a workspace that is full.
func (s *Service) CheckAgentLimit(ctx context.Context, workspace string) error {
	a := s.account(workspace)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := s.load(ctx, a); err != nil {
		return err
	}
	return s.checkAgentLimit(ctx, a)
}

// checkAgentLimit measures where that is due. It needs the lock, and lets go of it while it measures again.
func (s *Service) checkAgentLimit(ctx context.Context, a *account) error {
	limit := a.quota.StorageBytes
	if limit == 0 {
		return nil
	}
	age := s.Now().Sub(a.measured)
	if !a.measuring && (age > measureEvery || a.stored >= limit && age > measureFull) {
		if err := s.measure(ctx, a); err != nil {
			return err
		}
	}
	if a.stored < limit {
		return nil
	}
	return &fault.Error{
		Code: fault.StorageFull, Extra: map[string]any{"quota": "storageBytes", "limit": limit, "used": a.stored},
		Message: fmt.Sprintf("This workspace stores %s; its quota is %s. Ask the operator of the server for a higher quota, or to keep runs for a shorter time.", bytesize.Text(a.stored), bytesize.Text(limit)),
	}
}

func (s *Service) measure(ctx context.Context, a *account) error {
	before, again := a.stored, !a.measured.IsZero()
	if again { // others go by what was measured last
		a.measuring = true
		a.mu.Unlock()
	}
	stored, err := s.Ledger.Stored(ctx, a.workspace)
	if again {
		a.mu.Lock()
		a.measuring = false
	}
	if err != nil {
		return err
	}
	a.stored, a.measured = stored+a.stored-before, s.Now()
	return nil
}

// Report is what a workspace may take and has taken.
type Report struct {
	Quota registry.Quota
	Own   registry.OwnQuota
	Used  registry.QuotaUse
	Until time.Time // when the day ends
}

// Of tells the quotas of the actor's workspace.
func (s *Service) Of(ctx context.Context, workspace string) (Report, error) {
	a := s.account(workspace)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := s.load(ctx, a); err != nil {
		return Report{}, err
	}
	if !a.measuring && s.Now().Sub(a.measured) > measureEvery {
		if err := s.measure(ctx, a); err != nil {
			return Report{}, err
		}
	}
	r := Report{Quota: a.quota, Own: a.own, Until: a.day.Add(24 * time.Hour), Used: registry.QuotaUse{
		ConcurrentRuns: a.live, RunsPerDay: a.used.Runs, CPUSecondsPerDay: a.used.CPUMs / 1000, StorageBytes: a.stored,
	}}
	if !a.measured.IsZero() {
		measured := a.measured.UTC()
		r.Used.MeasuredAt = &measured
	}
	return r, nil
}

// For tells the quotas of any workspace. It is for administrators of the workspace default, who run the server.
func (s *Service) For(ctx context.Context, actor registry.Actor, nameOrID string) (Report, error) {
	w, err := s.find(ctx, actor, nameOrID)
	if err != nil {
		return Report{}, err
	}
	return s.Of(ctx, w.ID)
}

// Set gives a workspace quotas of its own. It is for whom For is.
func (s *Service) Set(ctx context.Context, actor registry.Actor, nameOrID string, own registry.OwnQuota) (Report, error) {
	w, err := s.find(ctx, actor, nameOrID)
	if err != nil {
		return Report{}, err
	}
	if err := s.put(ctx, w.ID, own); err != nil {
		return Report{}, err
	}
	return s.Of(ctx, w.ID)
}

func (s *Service) find(ctx context.Context, actor registry.Actor, nameOrID string) (registry.Workspace, error) {
	if actor.Workspace != registry.DefaultWorkspace {
		return registry.Workspace{}, fault.New(fault.Forbidden, "Quotas of other workspaces require the role administrator in the workspace %s.", registry.DefaultWorkspace)
	}
	return s.Workspaces.Workspace(ctx, nameOrID)
}

func (s *Service) put(ctx context.Context, workspace string, own registry.OwnQuota) error {
	a := s.account(workspace)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := s.load(ctx, a); err != nil {
		return err
	}
	if err := s.Store.PutQuota(ctx, workspace, own); err != nil {
		return err
	}
	a.own, a.quota = own, own.Over(s.Defaults)
	return nil
}
