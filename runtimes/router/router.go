// Package router selects the engine of a job and admits runs. Each workspace has a bounded queue. A free slot goes to
// the workspace with the fewest active runs; workspaces with the same number take turns. So a workspace with very many
// runs only gets the slots that others do not need. Within a workspace, agents and callers share the slots in the same
// way, and interactive runs start first. If there are four or more slots, the last free slot is reserved for a
// workspace without active runs. A started run keeps its slot until it ends or pauses. A paused run that continues gets
// a slot before the runs of its workspace that have not started yet. The package does not depend on a storage.
package router

import (
	"context"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
)

// Options configures a Router. Engines holds the engines of this server.
type Options struct {
	Engines map[runtimes.Name]runtimes.Runtime
	Running int // maximum number of active runs of all workspaces
	Queue   int // maximum number of waiting runs per workspace
	Paused  int // maximum number of paused runs of all workspaces
}

// Router selects engines and admits runs. It is safe for concurrent use.
type Router struct {
	engines map[runtimes.Name]runtimes.Runtime
	running int
	depth   int
	most    int // maximum number of paused runs

	mu       sync.Mutex
	busy     int
	paused   int
	pausedBy map[string]int        // number of paused runs per workspace
	byName   map[runtimes.Name]int // number of active runs per engine
	tenants  map[string]*tenant    // workspaces with active or waiting runs
	turn     []string              // workspaces with waiting tickets; the workspace whose ticket started last is at the end
	average  time.Duration         // average duration of recent runs, for Retry-After
	tickets  int64                 // number of tickets created so far
	starts   int64                 // number of started runs so far
	waiting  int                   // number of waiting runs in all queues
	history  history
}

// New returns a router.
func New(o Options) *Router {
	return &Router{engines: o.Engines, running: o.Running, depth: o.Queue, most: o.Paused, byName: map[runtimes.Name]int{}, pausedBy: map[string]int{}, tenants: map[string]*tenant{}, average: time.Second}
}

// Ticket is a run in the queue. The run may start after Wait has returned nil. Release must be called exactly once.
type Ticket struct {
	router    *Router
	workspace string
	source    Source
	number    int64         // number of the ticket, in the order of Admit
	admitted  chan struct{} // closed when the ticket may run
	since     time.Time
	running   bool // guarded by router.mu
	paused    bool // guarded by router.mu
	inner     bool // true if the run uses the slot of the run that called it
}

// Position is the place of a waiting run in the queue of its workspace.
type Position struct {
	At       int           // from 1; runs of other agents and callers may still start earlier
	Expected time.Duration // estimated time until the run starts
}

// Admit starts a run of the workspace if a slot is free, or adds it to the queue. It never waits: if the queue is full, it
// returns a QueueFull error with RetryAfter.
func (r *Router) Admit(workspace string, source Source) (*Ticket, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tickets++
	t := &Ticket{router: r, workspace: workspace, source: source, number: r.tickets, admitted: make(chan struct{})}
	q := r.tenant(workspace)
	if q.waiting == 0 && r.may(q) { // not if a ticket of the workspace waits, because that ticket must start first
		r.start(t, q)
		return t, nil
	}
	if q.full(source, r.depth) {
		defer r.forget(workspace)
		message := "The queue of this workspace is full. Try again later."
		if q.waiting < r.depth {
			message = "Too many runs of this agent are in the queue of this workspace. Try again later."
		}
		return nil, &fault.Error{
			Code: fault.QueueFull, Message: message, RetryAfter: min(max(r.expected(q.waiting), time.Second), time.Minute).Round(time.Second),
			Extra: map[string]any{"queueDepth": q.waiting},
		}
	}
	r.queue(t, q)
	return t, nil
}

// queue adds a ticket to the queue of its workspace.
func (r *Router) queue(t *Ticket, q *tenant) {
	if q.waiting == 0 {
		r.turn = append(r.turn, t.workspace)
	}
	q.add(t)
	r.waiting++
	r.history.note(time.Now(), 0, present{r.busy, r.waiting})
}

// Within returns the ticket of a run that a running program has called. The program waits for the called run. So both
// runs use the same slot, and the called run does not wait. If called runs needed their own slots, waiting programs
// could occupy all slots.
func (r *Router) Within(outer *Ticket) *Ticket {
	return &Ticket{router: r, workspace: outer.workspace, admitted: outer.admitted, inner: true}
}

// expected returns the estimated time until n waiting runs of one workspace have started. It assumes that the
// workspaces with waiting runs take turns.
func (r *Router) expected(waiting int) time.Duration {
	return r.average * time.Duration(waiting*max(len(r.turn), 1)) / time.Duration(max(r.running, 1))
}

// tenant returns the tenant of a workspace. It creates the tenant if there is none.
func (r *Router) tenant(workspace string) *tenant {
	q := r.tenants[workspace]
	if q == nil {
		q = newTenant()
		r.tenants[workspace] = q
	}
	return q
}

// forget removes the tenant of a workspace if it has no runs.
func (r *Router) forget(workspace string) {
	if q := r.tenants[workspace]; q != nil && q.held == 0 && q.waiting == 0 {
		delete(r.tenants, workspace)
	}
}

// keptFrom is the minimum number of slots for which the last one is reserved. With fewer slots, the reserved slot would
// be too large a part of the capacity.
const keptFrom = 4

// may reports whether a slot is free for the workspace. For a workspace with active runs, the last slot is not free.
// Otherwise a run of another workspace might have to wait for minutes until one of these runs ends.
func (r *Router) may(q *tenant) bool {
	free := r.running - r.busy
	return free > 1 || free == 1 && (r.running < keptFrom || q.held == 0)
}

func (r *Router) start(t *Ticket, q *tenant) {
	r.busy++
	r.starts++
	q.held++
	q.shares(t.source, func(s *share) { s.active, s.served = s.active+1, r.starts })
	t.running, t.since = true, time.Now()
	started := 1
	if t.source.started { // not for a continued run, which was counted before its pause
		started = 0
	}
	r.history.note(t.since, started, present{r.busy, r.waiting})
	close(t.admitted)
}

// reportEvery is the interval at which a waiting run reports a changed position. The interval is needed because each
// report is an event of the run, and on a busy server positions change thousands of times a second.
const reportEvery = 250 * time.Millisecond

// Wait blocks until the ticket may run or ctx ends. It reports the position in the queue at once. After that it reports
// changes every reportEvery.
func (t *Ticket) Wait(ctx context.Context, moved func(Position)) error {
	select {
	case <-t.admitted:
		return nil
	default:
	}
	tick := time.NewTicker(reportEvery)
	defer tick.Stop()
	for last := 0; ; {
		if now := t.where(); now.At > 0 && now.At != last {
			last = now.At
			moved(now)
		}
		select {
		case <-t.admitted:
			return nil
		case <-tick.C:
		case <-ctx.Done():
			select {
			case <-t.admitted: // an admitted ticket stays admitted, because the run itself checks ctx
				return nil
			default:
				return context.Cause(ctx)
			}
		}
	}
}

// where returns the current position of the ticket.
func (t *Ticket) where() Position {
	r := t.router
	r.mu.Lock()
	defer r.mu.Unlock()
	q := r.tenants[t.workspace]
	if t.running || q == nil {
		return Position{}
	}
	at := q.position(t, time.Now())
	return Position{At: at, Expected: r.expected(at)}
}

// Release returns the slot of a running ticket or removes a waiting ticket.
func (t *Ticket) Release() {
	if t.inner {
		return
	}
	r := t.router
	r.mu.Lock()
	defer r.mu.Unlock()
	if t.paused {
		r.unpause(t)
		return
	}
	if t.running {
		t.running = false
		r.stop(t)
		return
	}
	q := r.tenants[t.workspace]
	defer r.forget(t.workspace)
	q.remove(t)
	r.waiting--
	r.history.note(time.Now(), 0, present{r.busy, r.waiting})
	if q.waiting == 0 {
		r.turn = slices.DeleteFunc(r.turn, func(workspace string) bool { return workspace == t.workspace })
	}
}

// stop frees the slot of a running ticket and starts waiting tickets.
func (r *Router) stop(t *Ticket) {
	defer r.forget(t.workspace)
	q := r.tenants[t.workspace]
	r.busy--
	q.held--
	q.shares(t.source, func(s *share) { s.active-- })
	now := time.Now()
	r.average = (7*r.average + now.Sub(t.since)) / 8
	r.history.note(now, 0, present{r.busy, r.waiting})
	for r.next() {
	}
}

// unpause ends the pause of a ticket. The caller must hold the lock.
func (r *Router) unpause(t *Ticket) {
	t.paused = false
	r.paused--
	if r.pausedBy[t.workspace]--; r.pausedBy[t.workspace] == 0 {
		delete(r.pausedBy, t.workspace)
	}
}

// Pause frees the slot of a running ticket whose program waits for a long time. It returns false and changes nothing in
// three cases: the maximum number of paused runs is reached, the ticket uses the slot of its caller, or the ticket was
// released. A workspace may have a quarter of Options.Paused paused runs, but at least four.
func (t *Ticket) Pause() bool {
	if t.inner {
		return false
	}
	r := t.router
	r.mu.Lock()
	defer r.mu.Unlock()
	if !t.running || r.paused >= r.most || r.pausedBy[t.workspace] >= max(4, r.most/4) {
		return false
	}
	r.paused++
	r.pausedBy[t.workspace]++
	t.running, t.paused, t.admitted = false, true, make(chan struct{})
	r.stop(t)
	return true
}

// Continue gets a new slot for a paused ticket. It waits until a slot is free or ctx ends. The ticket comes before all
// runs of the workspace that have not started. If the ticket is not paused, Continue returns context.Canceled.
func (t *Ticket) Continue(ctx context.Context) error {
	if !t.router.again(t) {
		return context.Canceled
	}
	return t.Wait(ctx, func(Position) {})
}

// again starts a paused ticket, or queues it. It reports whether the ticket was paused.
func (r *Router) again(t *Ticket) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !t.paused {
		return false
	}
	r.unpause(t)
	t.source.started = true
	q := r.tenant(t.workspace)
	if q.waiting == 0 && r.may(q) {
		r.start(t, q)
	} else {
		r.queue(t, q)
	}
	return true
}

// next starts a waiting ticket of the workspace with the fewest active runs. It moves that workspace to the end of
// turn. It returns false if no ticket may start.
func (r *Router) next() bool {
	at := -1
	for i, workspace := range r.turn {
		if q := r.tenants[workspace]; r.may(q) && (at < 0 || q.held < r.tenants[r.turn[at]].held) {
			at = i
		}
	}
	if at < 0 {
		return false
	}
	workspace := r.turn[at]
	r.turn = slices.Delete(r.turn, at, at+1)
	q := r.tenants[workspace]
	t := q.first()
	q.remove(t)
	r.waiting--
	r.start(t, q)
	if q.waiting > 0 {
		r.turn = append(r.turn, workspace)
	}
	return true
}

// Run executes an admitted job on its engine. It implements runtimes.Runtime.
func (r *Router) Run(ctx context.Context, job runtimes.Job, host runtimes.Host) (runtimes.Outcome, error) {
	engine, ok := r.engines[job.Runtime]
	if !ok {
		return runtimes.Outcome{}, fault.New(fault.RuntimeUnavailable, "The runtime %q is not available on this server.", job.Runtime)
	}
	r.count(job.Runtime, 1)
	defer r.count(job.Runtime, -1)
	return engine.Run(ctx, job, host)
}

func (r *Router) count(name runtimes.Name, by int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.byName[name] += by
}

// Has reports whether this server can execute the runtime.
func (r *Router) Has(name runtimes.Name) bool {
	_, ok := r.engines[name]
	return ok
}

// Runtimes lists the engines by name.
func (r *Router) Runtimes() []runtimes.Name {
	names := make([]runtimes.Name, 0, len(r.engines))
	for name := range r.engines {
		names = append(names, name)
	}
	sort.Slice(names, func(i, j int) bool { return names[i] < names[j] })
	return names
}

// Load holds the numbers of active and waiting runs.
type Load struct {
	Running   int                   // number of active runs
	Waiting   int                   // number of waiting runs in all queues
	ByRuntime map[runtimes.Name]int // number of active runs per engine
	LastHour  []Minute              // history by minute, the oldest minute first
}

// Load returns the current load.
func (r *Router) Load() Load {
	r.mu.Lock()
	defer r.mu.Unlock()
	load := Load{Running: r.busy, Waiting: r.waiting, ByRuntime: map[runtimes.Name]int{}, LastHour: r.history.last(time.Now())}
	for name, n := range r.byName {
		load.ByRuntime[name] = n
	}
	return load
}
