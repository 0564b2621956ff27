// Package runs executes runs. For each run it resolves the reference, validates the input, queues and executes the
// program, checks the output, stores the record and returns the answer. The package contains no HTTP, no SQL and
// nothing specific to a language.
package runs

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/atelier-run/atelier/internal/budget"
	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/vault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/router"
	"github.com/atelier-run/atelier/studio/budgets"
	"github.com/atelier-run/atelier/studio/packages"
	"github.com/atelier-run/atelier/studio/projects"
	"github.com/atelier-run/atelier/studio/quotas"
	"github.com/atelier-run/atelier/studio/routing"
	"github.com/atelier-run/atelier/studio/secrets"
	"github.com/atelier-run/atelier/studio/specs"
)

// Journal stores the records and events of runs durably.
type Journal interface {
	// Ready returns the reason why runs cannot be recorded now, or nil if they can.
	Ready() error
	BeginRun(ctx context.Context, run registry.Run) error
	AppendEvents(ctx context.Context, workspace, runID string, events []runtimes.Event) error
	FinishRun(ctx context.Context, run registry.Run, events []runtimes.Event) error
}

// Later stores records of finished runs after an outage of the journal, when the journal works again.
type Later interface {
	// FinishLater queues a record. It calls stored once, when the record is durable or cannot be stored at all. If there
	// is no room for the record, it returns false.
	FinishLater(run registry.Run, events []runtimes.Event, stored func(error)) bool
}

// Others represents the other servers that record runs in the same journal.
type Others interface {
	// AskToCancel asks the server that executes a run to cancel it.
	AskToCancel(ctx context.Context, workspace, runID string) error
	// TakeCancellations returns the IDs of the runs that other servers asked this server to cancel. It returns each ID
	// once.
	TakeCancellations(ctx context.Context) ([]string, error)
	// Epoch changes when this server gets a new lease because another server has ended the old one and interrupted this
	// server's runs.
	Epoch() int64
	// Signal notifies the other servers. A signal may be lost.
	Signal(ctx context.Context, kind, subject string) error
}

// Archive reads runs.
type Archive interface {
	Run(ctx context.Context, workspace, id string) (registry.Run, error)
	// RunSummary returns a run without its input, output and streams, and the total size in bytes of these omitted fields.
	RunSummary(ctx context.Context, workspace, id string) (registry.Run, int64, error)
	ListRuns(ctx context.Context, workspace string, filter registry.RunFilter) (registry.RunPage, error)
	Events(ctx context.Context, workspace, runID string, from int64, limit int) ([]runtimes.Event, error)
}

// Drafts reads agents with their drafts.
type Drafts interface {
	Agent(ctx context.Context, workspace, nameOrID string) (registry.Agent, error)
}

// Resolver returns the version that a reference selects.
type Resolver interface {
	Resolve(ctx context.Context, workspace string, ref registry.Reference) (registry.Version, error)
}

// Meter counts runs that have ended.
type Meter interface {
	RunFinished(run registry.Run)   // the run ended and is recorded
	RunUnrecorded(run registry.Run) // the run ended but could not be recorded
}

// Gate decides whether a run may start.
type Gate interface {
	// Review decides whether a program may run at once, may never run, or may run after a person has approved.
	Review(ctx context.Context, actor registry.Actor, c Candidate) (Ruling, error)
	// Ask records a run together with a request. If the run waits, this is the request for its approval. If the run is
	// blocked, this is the stored request with which it can be submitted again. Errors: those of Journal.BeginRun.
	Ask(ctx context.Context, run registry.Run, c Candidate, r Ruling, request json.RawMessage) error
	// Withdraw ends the approval request of a waiting run that was cancelled.
	Withdraw(ctx context.Context, actor registry.Actor, runID string) error
}

// Options configures a Service.
type Options struct {
	Gate    Gate // nil if the server has no gate, so that every run may start
	Journal Journal
	Later   Later // stores records that the journal rejected; if it is nil, such records are dropped
	Archive Archive
	// RemoteJobs stores remote jobs, so that a restarted server can follow them. If it is nil, a restart interrupts the
	// runs with remote jobs.
	RemoteJobs RemoteJobs
	Drafts     Drafts
	Resolver   Resolver
	Specs      *specs.Checker
	Routing    *routing.Router
	Secrets    *secrets.Service  // nil if there are no secrets
	Quotas     *quotas.Service   // nil if workspaces have no quotas
	Budgets    *budgets.Service  // nil if workspaces have no budgets
	Projects   *projects.Service // nil if there are no projects
	Packages   *packages.Service // nil if packages are not supported
	Model      Model             // nil if the server has no language model
	// ModelTokens is the maximum number of language model tokens for a run together with the runs that it calls. 0 means
	// no limit.
	ModelTokens int64
	Validator   *specs.Validator
	Router      *router.Router
	Meter       Meter
	Tracer      trace.Tracer
	Log         *slog.Logger
	Ceilings    runtimes.Limits
	Models      string     // code digest of the only program that may read the directory of models; "" if there is none
	Keys        vault.Keys // keys that encrypt the inputs of private runs that wait for an approval
	Server      string     // ID under which the journal records the runs of this server
	Others      Others     // nil if no other server records runs in the journal
	Level       string     // isolation level of this server: full, reduced (with the missing parts) or none
	Now         func() time.Time
	NewID       func() string
}

// Service executes runs. It is safe for concurrent use.
type Service struct {
	Options

	resuming sync.Mutex // serializes changes of waiting runs, so that no waiting run is continued twice

	mu        sync.Mutex
	live      map[string]*execution
	kept      map[string]kept            // private runs that have just ended, by ID
	waiting   map[string][]chan struct{} // channels of readers of runs on other servers, by run ID
	keptBytes int64
	closed    bool
	all       sync.WaitGroup

	early atomic.Int64 // number of runs that returned their slots before they were recorded
}

// New returns the service.
func New(o Options) *Service {
	return &Service{Options: o, live: map[string]*execution{}, kept: map[string]kept{}, waiting: map[string][]chan struct{}{}}
}

// Request describes one run of an agent's version or draft, or of an inline program.
type Request struct {
	Agent         string        // name or ID of the agent; "" if Inline is set
	Version       string        // version, range, digest, latest or draft
	Seen          registry.Seen // revision of the draft to run, as the client has seen it
	Inline        *registry.Spec
	Input         json.RawMessage
	Limits        runtimes.Limits // limits of the run; for a value of 0 the version's limit applies
	AtMost        runtimes.Limits // limits that can only lower the other limits; a value of 0 does not
	Isolation     runtimes.Isolation
	Hints         routing.Hints
	Trigger       registry.Trigger
	ParentRunID   string
	WorkflowRunID string
	NodeID        string
	Key           *registry.KeyRef // idempotency key whose record gets the run's ID; nil if there is none
	// Of is the version that Agent and Version select. It is nil if the caller has not resolved the version.
	Of *registry.Version
	// Watch receives the events of the run in order while Execute runs. It may be nil.
	Watch func(runtimes.Event)
	// Project is the project of a task, or "" if there is none. The program must be allowed to write files of the project.
	Project string
	// RequestID is the client's own ID for the request, or "" if there is none.
	RequestID string
	// Claimed is the actor on whose behalf the client says that it acts.
	Claimed registry.Claim

	resumed *registry.Run            // the waiting run to continue; nil for a new run
	attach  string                   // handle of the remote job that already executes the program
	begun   *registry.Spec           // the draft as it was when the continued run began
	events  []runtimes.Event         // events of a continued run that are already stored
	id      string                   // ID of the run; "" for a new one
	allowed bool                     // the policy service has already allowed the run
	once    *registry.IdempotencyKey // key to reserve for the run in keys; nil for none
	keys    Keys

	outer *outer // the program that calls this run; nil if no program does
}

// Result is a run and the version that ran. If a draft ran, Of contains only the agent; if inline code ran, Of is
// empty.
type Result struct {
	registry.Run
	Of      registry.Version
	Private bool // whether the record contains only digests of input and output
}

// keyed returns a context that contains only the request's own idempotency key. A key of the outer context must not be
// used for the run, because the outer request may create other things too.
func (r Request) keyed(ctx context.Context) context.Context {
	switch {
	case r.once != nil:
		return registry.WithReservation(registry.WithoutKey(ctx), *r.once)
	case r.Key == nil:
		return registry.WithoutKey(ctx)
	}
	return registry.WithKey(ctx, *r.Key)
}

// These are the causes with which the context of a run ends.
var (
	errInterrupted = errors.New("the server is shutting down")
	errCancelled   = errors.New("the run was cancelled")
)

// Execute executes a run and returns it when it has ended. A failing program is not an error of Execute. If ctx ends,
// the run is cancelled and recorded as cancelled. A run that needs an approval is returned at once.
func (s *Service) Execute(ctx context.Context, actor registry.Actor, req Request) (Result, error) {
	l, held, err := s.prepare(ctx, actor, req)
	if err != nil {
		return Result{}, err
	}
	if held != nil {
		return *held, nil
	}
	stop := context.AfterFunc(ctx, func() { l.cancel(errCancelled) })
	defer stop()
	defer s.all.Done()
	if req.Key != nil || req.once != nil { // Store the key now: a repeated request must find the run, even after a crash.
		if err := l.beginKeyed(ctx, req); err != nil {
			l.abandon()
			s.leave(l)
			return Result{}, err
		}
	}
	if req.Watch != nil {
		defer l.watch(req.Watch)()
	}
	if req.outer != nil {
		req.outer.started(l.snapshot())
	}
	l.execute() // Call execute in this goroutine, because a switch to another goroutine and back costs time.
	return Result{Run: l.snapshot(), Of: l.of, Private: l.private}, l.err
}

// watch passes the events of a run to receive. wait blocks until the last event has been passed. If the result must
// wait for the database, wait blocks only until the run has ended.
func (l *execution) watch(receive func(runtimes.Event)) (wait func()) {
	done := make(chan struct{})
	ctx, stop := context.WithCancel(context.WithoutCancel(l.ctx)) // The reader does not end with the run's context, because a cancelled run has a last event too.
	go func() {
		defer close(done)
		f := Follower{recording: l.recording}
		for {
			e, err := f.Next(ctx)
			if err != nil {
				return
			}
			receive(e)
		}
	}()
	return func() {
		if l.late {
			stop()
		}
		<-done
		stop()
	}
}

// Start records a run as queued and returns it. The run continues in the background.
func (s *Service) Start(ctx context.Context, actor registry.Actor, req Request) (Result, error) {
	l, held, err := s.prepare(ctx, actor, req)
	if err != nil {
		return Result{}, err
	}
	if held != nil {
		return *held, nil
	}
	if err := s.Journal.BeginRun(req.keyed(ctx), l.recordOf(l.run)); err != nil {
		l.abandon()
		s.leave(l)
		s.all.Done()
		return Result{}, err
	}
	accepted := Result{Run: l.run, Of: l.of}
	s.begin(l)
	return accepted, nil
}

// Get returns a run. For a live run it returns the current state.
func (s *Service) Get(ctx context.Context, actor registry.Actor, id string) (registry.Run, error) {
	if l := s.find(actor, id); l != nil {
		return l.seenBy(actor), nil
	}
	if l := s.justEnded(actor, id); l != nil {
		return l.snapshot(), nil
	}
	return s.Recorded(ctx, actor, id)
}

// Summary returns a run without its input, output and streams.
func (s *Service) Summary(ctx context.Context, actor registry.Actor, id string) (registry.Run, error) {
	if l := s.find(actor, id); l != nil {
		return l.seenBy(actor), nil
	}
	run, _, err := s.ended(ctx, actor, id)
	return run, err
}

// ended reads the summary of a run that is not live on this server, and the size in bytes of the omitted fields. If the
// record is not final and no server executes or will continue the run, the run's end could not be stored; then ended
// reports the run as interrupted.
func (s *Service) ended(ctx context.Context, actor registry.Actor, id string) (registry.Run, int64, error) {
	run, bytes, err := s.Archive.RunSummary(ctx, actor.Workspace, id)
	if err == nil && s.lost(ctx, run) {
		markInterrupted(&run)
	}
	return run, bytes, err
}

// whole reads a run that is not live on this server. Before that it reserves the memory that is needed to send the run.
func (s *Service) whole(ctx context.Context, workspace, id string, bytes int64) (registry.Run, error) {
	if err := reserve(ctx, answerCopies*bytes); err != nil {
		return registry.Run{}, err
	}
	run, err := s.Archive.Run(ctx, workspace, id)
	if err == nil && s.lost(ctx, run) {
		markInterrupted(&run)
	}
	return run, err
}

const (
	// answerCopies is the number of copies of a run in memory while it is read from the database and sent.
	answerCopies = 5
	// recordCopies is the number of copies of an output in memory while it is checked and stored.
	recordCopies = 6
	// smallBytes is the size in bytes up to which no memory is reserved.
	smallBytes = 256 << 10
	// reservePatience is how long an answer waits until other answers have released memory.
	reservePatience = 10 * time.Second
)

// reserve waits until there is enough memory for a large answer. The memory stays reserved until the request of ctx
// ends.
func reserve(ctx context.Context, bytes int64) error {
	if bytes <= smallBytes {
		return nil
	}
	waiting, cancel := context.WithTimeout(ctx, reservePatience)
	defer cancel()
	if budget.Of(ctx).Await(waiting, bytes) {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fault.New(fault.TooManyRequests, "The server has too little memory for this answer while it sends other large answers. Try again later.")
}

func unfinished(run registry.Run) bool {
	return run.Status == registry.Queued || run.Status == registry.Running
}

// markInterrupted reports a finished run whose record could not be saved as interrupted.
func markInterrupted(run *registry.Run) {
	run.Status = registry.StatusInterrupted
	run.Error = &runtimes.ProgramError{Type: runtimes.Interrupted, Message: "The run finished, but its record could not be stored."}
}

// List returns a page of runs, newest first. If the filter selects queued or running runs, List omits runs that have
// ended but whose records still have such a status.
func (s *Service) List(ctx context.Context, actor registry.Actor, filter registry.RunFilter) (registry.RunPage, error) {
	page, err := s.Archive.ListRuns(ctx, actor.Workspace, filter)
	for i := range page.Items {
		one := &page.Items[i]
		if !s.lost(ctx, *one) || s.find(actor, one.ID) != nil {
			continue
		}
		now, _, err := s.Archive.RunSummary(ctx, actor.Workspace, one.ID) // The run may have ended after the list was read.
		if err != nil {
			return page, err
		}
		if s.lost(ctx, now) {
			markInterrupted(one)
		}
	}
	page.Items = slices.DeleteFunc(page.Items, func(run registry.Run) bool { return filter.Status != "" && run.Status != filter.Status })
	return page, err
}

// Cancel cancels a live run and returns its current state. Error: Conflict for a run that has ended.
func (s *Service) Cancel(ctx context.Context, actor registry.Actor, id string) (registry.Run, error) {
	l := s.find(actor, id)
	if l == nil {
		run, _, err := s.ended(ctx, actor, id)
		if err != nil {
			return registry.Run{}, err
		}
		if run.Status == registry.AwaitingApproval {
			return s.cancelWaiting(ctx, actor, id)
		}
		if s.elsewhere(run) {
			return s.cancelElsewhere(ctx, actor, id)
		}
		if unfinished(run) {
			return s.cancelContinued(ctx, actor, id)
		}
		return registry.Run{}, endedAlready(run)
	}
	if run := l.snapshot(); run.Status.Final() {
		return registry.Run{}, endedAlready(run)
	}
	l.cancel(errCancelled)
	select {
	case <-l.done:
		return l.seenBy(actor), l.err
	case <-ctx.Done():
		return registry.Run{}, context.Cause(ctx)
	}
}

func endedAlready(run registry.Run) error {
	return fault.New(fault.Conflict, "The run has already finished: %s.", run.Status)
}

// Close interrupts the live runs and waits until they are recorded. Remote jobs continue; the server follows them again
// after its next start. New runs are rejected.
func (s *Service) Close() {
	s.mu.Lock()
	s.closed = true
	for _, l := range s.live {
		if l.attached.Load() {
			l.cancel(runtimes.ErrDetached)
		} else {
			l.cancel(errInterrupted)
		}
	}
	for _, one := range s.kept {
		one.timer.Stop()
	}
	clear(s.kept)
	s.mu.Unlock()
	s.all.Wait()
}

// Live returns the number of live runs.
func (s *Service) Live() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.live)
}

func (s *Service) find(actor registry.Actor, id string) *execution {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.live[id]
	if l == nil || l.job.Workspace != actor.Workspace {
		return nil
	}
	return l
}

// enter adds a run to the live runs, so that Close waits for the run. A run may be live before its program starts.
func (s *Service) enter(l *execution) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fault.New(fault.ShuttingDown, "The server is shutting down. Try again later.")
	}
	s.live[l.run.ID] = l
	s.all.Add(1)
	return nil
}

// begin starts a run that enter has added.
func (s *Service) begin(l *execution) {
	go func() {
		defer s.all.Done()
		l.execute()
	}()
}

func (s *Service) leave(l *execution) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.live, l.run.ID)
}

// step returns a span for one step of a run. If the span of the run is not recorded, step creates no span.
func (s *Service) step(ctx context.Context, name string) (context.Context, trace.Span) {
	if !trace.SpanFromContext(ctx).IsRecording() {
		return ctx, noop.Span{}
	}
	return s.Tracer.Start(ctx, name)
}
