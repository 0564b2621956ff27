// Package quotas enforces the quotas of workspaces: concurrent runs, runs per day, CPU time per day, and stored bytes.
// It reads the usage of a workspace from the database once and then counts in memory, so that a run needs no query. If
// there are several servers, they exchange their counts.
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

// Store stores the quotas of workspaces.
type Store interface {
	Quota(ctx context.Context, workspace string) (registry.OwnQuota, error)
	PutQuota(ctx context.Context, workspace string, q registry.OwnQuota) error
}

// Ledger returns the recorded usage of workspaces.
type Ledger interface {
	RunsSince(ctx context.Context, workspace string, from time.Time) (registry.DayUse, error)
	Stored(ctx context.Context, workspace string) (int64, error)
}

// Workspaces finds a workspace by its name.
type Workspaces interface {
	Workspace(ctx context.Context, nameOrID string) (registry.Workspace, error)
}

const (
	measureEvery = time.Hour        // maximum age of a storage measurement that is used
	measureFull  = 10 * time.Second // maximum age of a measurement that exceeds the quota; it is short because data may have been removed since
	tryAgain     = time.Second
)

// Options configures a Service. Defaults are the quotas of workspaces that have no quotas of their own.
type Options struct {
	Store      Store
	Ledger     Ledger
	Workspaces Workspaces
	Defaults   registry.Quota
	Now        func() time.Time
}

// Service enforces quotas. It is safe for concurrent use.
type Service struct {
	Options

	mu       sync.Mutex
	accounts map[string]*account
}

// New returns the service.
func New(o Options) *Service { return &Service{Options: o, accounts: map[string]*account{}} }

// account holds the usage of a workspace.
type account struct {
	workspace string

	mu        sync.Mutex
	loaded    bool
	outdated  bool // whether another server may have changed the quotas
	limits    registry.OwnQuota
	quota     registry.Quota
	live      int64
	paused    int64     // number of runs that wait for another run and therefore do not count as live
	day       time.Time // start of the current day in UTC
	used      registry.DayUse
	own       registry.DayUse            // part of used that this server added
	seen      map[string]registry.DayUse // usage of each other server at the last exchange
	others    int64                      // number of live runs of other servers
	recount   bool                       // whether another server has stopped that may have counted runs without recording them
	shared    registry.ServerUse         // counts that this server stored at the last exchange
	stored    int64
	measured  time.Time // time of the last storage measurement; zero before the first one
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

// load reads the usage of a workspace from the database once. Later usage is counted in memory. The caller must hold
// a.mu.
func (s *Service) load(ctx context.Context, a *account) error {
	if a.loaded && !a.outdated {
		s.turn(a)
		return nil
	}
	own, err := s.Store.Quota(ctx, a.workspace)
	if err != nil {
		return err
	}
	if a.outdated = false; a.loaded {
		a.limits, a.quota = own, own.Over(s.Defaults)
		s.turn(a)
		return nil
	}
	day := midnight(s.Now())
	used, err := s.Ledger.RunsSince(ctx, a.workspace, day)
	if err != nil {
		return err
	}
	a.loaded, a.limits, a.quota, a.day, a.used = true, own, own.Over(s.Defaults), day, used
	return nil
}

// turn resets the daily usage when a new day has started.
func (s *Service) turn(a *account) {
	if day := midnight(s.Now()); day.After(a.day) {
		a.day, a.used, a.own, a.seen = day, registry.DayUse{}, registry.DayUse{}, nil
	}
}

func midnight(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

// Place is a run's reservation in the quotas. The caller must call exactly one of Back and End, once. The zero value
// reserves nothing.
type Place struct {
	service *Service
	account *account
	day     time.Time
	inner   bool // whether another run's program called this run; the run then does not count as a further concurrent run
}

// Admit reserves a place for a run. Errors: QuotaExceeded or StorageFull, which name the exhausted quota and the time
// of its reset.
func (s *Service) Admit(ctx context.Context, workspace string) (Place, error) {
	return s.admit(ctx, workspace, false)
}

// AdmitWithin reserves a place for a run that the program of another run called. The new run counts for all quotas
// except concurrent runs, because the calling program waits for it.
func (s *Service) AdmitWithin(ctx context.Context, workspace string) (Place, error) {
	return s.admit(ctx, workspace, true)
}

// Check returns the same errors as Admit, but reserves no place. It is called before work that precedes a run.
func (s *Service) Check(ctx context.Context, workspace string) error {
	a := s.account(workspace)
	a.mu.Lock()
	defer a.mu.Unlock()
	return s.check(ctx, a, false)
}

func (s *Service) admit(ctx context.Context, workspace string, inner bool) (Place, error) {
	a := s.account(workspace)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := s.check(ctx, a, inner); err != nil {
		return Place{}, err
	}
	if !inner {
		a.live++
	}
	a.used.Runs++
	a.own.Runs++
	return Place{service: s, account: a, day: a.day, inner: inner}, nil
}

// check returns an error if a quota is used up. The caller must hold a.mu.
func (s *Service) check(ctx context.Context, a *account, inner bool) error {
	if err := s.load(ctx, a); err != nil {
		return err
	}
	if err := s.checkAgentLimit(ctx, a); err != nil {
		return err
	}
	tomorrow := a.day.Add(24 * time.Hour)
	switch q := a.quota; {
	case !inner && q.ConcurrentRuns > 0 && a.live+a.others >= q.ConcurrentRuns:
		return s.exceeded("concurrentRuns", q.ConcurrentRuns, s.Now().Add(tryAgain), "The quota of %d concurrent runs of this workspace is reached.", q.ConcurrentRuns)
	case q.RunsPerDay > 0 && a.used.Runs >= q.RunsPerDay:
		return s.exceeded("runsPerDay", q.RunsPerDay, tomorrow, "The quota of %d runs per day of this workspace is reached.", q.RunsPerDay)
	case q.CPUSecondsPerDay > 0 && a.used.CPUMs >= float64(q.CPUSecondsPerDay)*1000:
		return s.exceeded("cpuSecondsPerDay", q.CPUSecondsPerDay, tomorrow, "The quota of %d seconds of CPU time per day of this workspace is reached.", q.CPUSecondsPerDay)
	}
	return nil
}

func (s *Service) exceeded(quota string, limit int64, until time.Time, format string, args ...any) error {
	return &fault.Error{
		Code: fault.QuotaExceeded, RetryAfter: max(tryAgain, until.Sub(s.Now())), Extra: map[string]any{"quota": quota, "limit": limit, "until": until.UTC()},
		Message: fmt.Sprintf(format, args...) + fmt.Sprintf(" Try again at %s, or ask the operator of the server for a higher quota.", until.UTC().Format(time.RFC3339)),
	}
}

// Back returns the place of a run that was not created after all.
func (p Place) Back() {
	if p.account == nil {
		return
	}
	p.account.mu.Lock()
	defer p.account.mu.Unlock()
	p.free()
	if p.account.day.Equal(p.day) {
		p.account.used.Runs--
		p.account.own.Runs--
	}
}

// End releases a place when its run has ended, and adds the run's usage.
func (p Place) End(cpu time.Duration, bytes int64) {
	if p.account == nil {
		return
	}
	a := p.account
	a.mu.Lock()
	defer a.mu.Unlock()
	p.free()
	p.service.turn(a)
	a.used.CPUMs += float64(cpu.Microseconds()) / 1000
	a.own.CPUMs += float64(cpu.Microseconds()) / 1000
	a.stored += bytes
}

// pausedPerRun limits the paused runs of a workspace to this multiple of its concurrent runs.
const pausedPerRun = 4

// Pause stops counting a run as live while it waits for another run, because otherwise the other run might be unable to
// start. If too many runs are paused, Pause changes nothing and returns false. After true, the caller must call
// Continue.
func (p Place) Pause() bool {
	if p.account == nil || p.inner {
		return true
	}
	a := p.account
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.quota.ConcurrentRuns > 0 && a.paused >= pausedPerRun*a.quota.ConcurrentRuns {
		return false
	}
	a.live--
	a.paused++
	return true
}

// Continue counts a paused run as live again. It does so even if this exceeds the quota of concurrent runs.
func (p Place) Continue() {
	if p.account == nil || p.inner {
		return
	}
	p.account.mu.Lock()
	defer p.account.mu.Unlock()
	p.account.live++
	p.account.paused--
}

// free stops counting the run of a place as concurrent. The caller must hold the lock of the account.
func (p Place) free() {
	if !p.inner {
		p.account.live--
	}
}

// CheckAgentLimit returns an error if the storage quota of a workspace is exhausted.
func (s *Service) CheckAgentLimit(ctx context.Context, workspace string) error {
	a := s.account(workspace)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := s.load(ctx, a); err != nil {
		return err
	}
	return s.checkAgentLimit(ctx, a)
}

// AddStored adds bytes that a workspace has stored outside of runs. The next measurement corrects the sum.
func (s *Service) AddStored(workspace string, bytes int64) {
	a := s.account(workspace)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stored += bytes
}

// checkAgentLimit returns an error if the storage quota is exhausted. If the last measurement is too old, it measures
// the storage again. The caller must hold a.mu, which is released during a measurement.
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
		Message: fmt.Sprintf("This workspace stores %s; its quota is %s. Delete projects that are not needed; their files are removed within four hours. Or ask the operator of the server for a higher quota, or to keep runs for a shorter time.", bytesize.Text(a.stored), bytesize.Text(limit)),
	}
}

func (s *Service) measure(ctx context.Context, a *account) error {
	before, again := a.stored, !a.measured.IsZero()
	if again { // During the measurement, concurrent callers use the last one.
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

// Report contains the quotas and the usage of a workspace.
type Report struct {
	Quota registry.Quota
	Own   registry.OwnQuota
	Used  registry.QuotaUse
	Until time.Time // end of the current day, when the daily usage is reset
}

// Of returns the quotas and the usage of a workspace.
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
	r := Report{Quota: a.quota, Own: a.limits, Until: a.day.Add(24 * time.Hour), Used: registry.QuotaUse{
		ConcurrentRuns: a.live + a.others, RunsPerDay: a.used.Runs, CPUSecondsPerDay: a.used.CPUMs / 1000, StorageBytes: a.stored,
	}}
	if !a.measured.IsZero() {
		measured := a.measured.UTC()
		r.Used.MeasuredAt = &measured
	}
	return r, nil
}

// For returns the quotas and the usage of any workspace. Only an administrator of the default workspace may call it,
// because these are the administrators of the server.
func (s *Service) For(ctx context.Context, actor registry.Actor, nameOrID string) (Report, error) {
	w, err := s.find(ctx, actor, nameOrID)
	if err != nil {
		return Report{}, err
	}
	return s.Of(ctx, w.ID)
}

// Set sets the quotas of a workspace. Only an administrator of the default workspace may call it.
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
	a.limits, a.quota = own, own.Over(s.Defaults)
	return nil
}
