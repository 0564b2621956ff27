// Package router selects the engine of a job and admits runs. Each workspace has a bounded queue. A free slot goes to
// the workspace with the fewest active runs, in turn among equals. So a workspace with a flood of runs gets only the
// remaining slots. With four or more slots, the last free one is kept for a workspace without active runs. A started
// run keeps its slot until it ends. The package knows neither agents nor storage.
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
}

// Router selects engines and admits runs. It is safe for concurrent use.
type Router struct {
	engines map[runtimes.Name]runtimes.Runtime
	running int
	depth   int

	mu      sync.Mutex
	busy    int
	byName  map[runtimes.Name]int // active runs per engine
	held    map[string]int        // slots in use per workspace; no zeros
	queues  map[string][]*Ticket  // waiting tickets per workspace, oldest first; no empty entries
	turn    []string              // workspaces with waiting tickets, the most recently served last
	average time.Duration         // average duration of recent runs, for Retry-After
}

// New returns a router.
func New(o Options) *Router {
	return &Router{engines: o.Engines, running: o.Running, depth: o.Queue, byName: map[runtimes.Name]int{}, held: map[string]int{}, queues: map[string][]*Ticket{}, average: time.Second}
}

// Ticket is a place in the queue. After Wait returned nil, it is the right to run. Release must be called exactly once.
type Ticket struct {
	router    *Router
	workspace string
	admitted  chan struct{} // closed when the ticket may run
	moved     chan struct{} // holds one element if the position changed since it was last read
	position  int           // from 1, guarded by router.mu
	since     time.Time
	running   bool // guarded by router.mu
}

// Admit adds a run of the workspace. It never waits: for a full queue it returns a QueueFull error with RetryAfter.
func (r *Router) Admit(workspace string) (*Ticket, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := &Ticket{router: r, workspace: workspace, admitted: make(chan struct{}), moved: make(chan struct{}, 1)}
	waiting := r.queues[workspace]
	if len(waiting) == 0 && r.may(workspace) { // every waiting ticket that may start has started
		r.start(t)
		return t, nil
	}
	if len(waiting) >= r.depth {
		return nil, &fault.Error{
			Code:       fault.QueueFull,
			Message:    "The queue of this workspace is full. Try again later.",
			RetryAfter: r.retryAfter(len(waiting)),
			Extra:      map[string]any{"queueDepth": len(waiting)},
		}
	}
	if len(waiting) == 0 {
		r.turn = append(r.turn, workspace)
	}
	r.queues[workspace] = append(waiting, t)
	t.position = len(waiting) + 1
	return t, nil
}

// retryAfter estimates the time until the queue moves, between one second and one minute.
func (r *Router) retryAfter(waiting int) time.Duration {
	estimate := r.average * time.Duration(waiting) / time.Duration(max(r.running, 1))
	return min(max(estimate, time.Second), time.Minute).Round(time.Second)
}

// keptFrom is the minimum number of slots at which the last one is kept. With fewer slots that would cost too much.
const keptFrom = 4

// may reports whether a slot is free for the workspace. If the workspace has active runs, the last slot is not free for
// it: its runs may take minutes, and a run of another workspace would have to wait for them.
func (r *Router) may(workspace string) bool {
	free := r.running - r.busy
	return free > 1 || free == 1 && (r.running < keptFrom || r.held[workspace] == 0)
}

func (r *Router) start(t *Ticket) {
	r.busy++
	r.held[t.workspace]++
	t.running, t.since, t.position = true, time.Now(), 0
	close(t.admitted)
}

// Wait blocks until the ticket may run or ctx ends. It reports each change of the position in the queue, from 1.
func (t *Ticket) Wait(ctx context.Context, position func(int)) error {
	for {
		t.router.mu.Lock()
		at := t.position
		t.router.mu.Unlock()
		if at > 0 {
			position(at)
		}
		select {
		case <-t.admitted:
			return nil
		case <-t.moved:
		case <-ctx.Done():
			select {
			case <-t.admitted: // an admitted ticket stays admitted; the run itself checks ctx
				return nil
			default:
				return context.Cause(ctx)
			}
		}
	}
}

// Release returns the slot of a running ticket or removes a waiting ticket.
func (t *Ticket) Release() {
	r := t.router
	r.mu.Lock()
	defer r.mu.Unlock()
	if !t.running {
		r.leave(t)
		return
	}
	r.busy--
	if r.held[t.workspace]--; r.held[t.workspace] == 0 {
		delete(r.held, t.workspace)
	}
	r.average = (7*r.average + time.Since(t.since)) / 8
	for r.next() {
	}
}

// next admits the oldest ticket of the workspace with the fewest active runs, and moves that workspace to the end of
// the turn. It reports whether a ticket could start.
func (r *Router) next() bool {
	at := -1
	for i, workspace := range r.turn {
		if r.may(workspace) && (at < 0 || r.held[workspace] < r.held[r.turn[at]]) {
			at = i
		}
	}
	if at < 0 {
		return false
	}
	workspace := r.turn[at]
	r.turn = slices.Delete(r.turn, at, at+1)
	t := r.queues[workspace][0]
	r.setQueue(workspace, r.queues[workspace][1:])
	if len(r.queues[workspace]) > 0 {
		r.turn = append(r.turn, workspace)
	}
	r.start(t)
	return true
}

// leave removes a waiting ticket from its queue.
func (r *Router) leave(t *Ticket) {
	queue := r.queues[t.workspace]
	rest := make([]*Ticket, 0, len(queue))
	for _, other := range queue {
		if other != t {
			rest = append(rest, other)
		}
	}
	r.setQueue(t.workspace, rest)
	if len(rest) > 0 {
		return
	}
	for i, workspace := range r.turn {
		if workspace == t.workspace {
			r.turn = append(r.turn[:i:i], r.turn[i+1:]...)
			return
		}
	}
}

// setQueue replaces a workspace's queue and reports the new positions to its tickets.
func (r *Router) setQueue(workspace string, queue []*Ticket) {
	if len(queue) == 0 {
		delete(r.queues, workspace)
		return
	}
	r.queues[workspace] = queue
	for i, t := range queue {
		t.position = i + 1
		select {
		case t.moved <- struct{}{}:
		default:
		}
	}
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
	Running   int                   // active runs
	Waiting   int                   // waiting runs in all queues
	ByRuntime map[runtimes.Name]int // active runs per engine
}

// Load returns the current load.
func (r *Router) Load() Load {
	r.mu.Lock()
	defer r.mu.Unlock()
	load := Load{Running: r.busy, ByRuntime: map[runtimes.Name]int{}}
	for _, queue := range r.queues {
		load.Waiting += len(queue)
	}
	for name, n := range r.byName {
		load.ByRuntime[name] = n
	}
	return load
}
