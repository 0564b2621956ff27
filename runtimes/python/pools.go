package python

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/worker"
)

// A workspace's fork server is closed after poolIdle without a run. If more than maxPools workspaces have a fork
// server, the one that has been idle longest is closed.
const (
	maxPools = 8
	poolIdle = 5 * time.Minute
)

// workspacePools is the set of fork servers: one per workspace that runs programs, and a spare one for the next workspace.
// Workspaces do not share a fork server, because its children have the same memory layout and hash seed.
type workspacePools struct {
	create func(launcher string) *worker.Pool

	mu     sync.Mutex
	named  map[string]*workspacePool // key: workspace
	spare  *workspacePool
	made   int
	past   worker.Stats // added counts of closed pools
	closed bool
	joined sync.WaitGroup // waits for closing pools
}

// workspacePool is the pool of one fork server and its children.
type workspacePool struct {
	pool *worker.Pool
	busy int
	used time.Time
	idle *time.Timer
	// resume is the time after a failure from which the fork server may be used again.
	resume time.Time
}

func newWorkspacePools(create func(launcher string) *worker.Pool) *workspacePools {
	f := &workspacePools{create: create, named: map[string]*workspacePool{}}
	f.spare = f.another()
	return f
}

// another starts a new fork server for f. The caller must hold the lock, unless no other goroutine uses f yet.
func (f *workspacePools) another() *workspacePool {
	f.made++
	return &workspacePool{pool: f.create("python forks " + strconv.Itoa(f.made)), used: time.Now()}
}

// run executes a task in the pool of its workspace. ok is false if every pool is in use by another workspace, or if the
// pool of this workspace is paused.
func (f *workspacePools) run(ctx context.Context, task worker.Task, host runtimes.Host) (outcome runtimes.Outcome, ok bool, err error) {
	own := f.acquire(task.Job.Workspace)
	if own == nil {
		return runtimes.Outcome{}, false, nil
	}
	defer f.release(own)
	outcome, err = own.pool.Run(ctx, task, host)
	return outcome, true, err
}

func (f *workspacePools) acquire(workspace string) *workspacePool {
	f.mu.Lock()
	defer f.mu.Unlock()
	own := f.named[workspace]
	if own == nil {
		if f.closed || len(f.named) >= maxPools && !f.dropOne() {
			return nil
		}
		own, f.spare = f.spare, f.another()
		f.named[workspace] = own
		own.idle = time.AfterFunc(poolIdle, func() { f.expire(workspace, own) })
	}
	if time.Now().Before(own.resume) {
		return nil
	}
	own.busy++
	return own
}

// pause stops the use of a workspace's fork server for a while.
func (f *workspacePools) pause(workspace string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if own := f.named[workspace]; own != nil {
		own.resume = time.Now().Add(pause)
	}
}

// pauseSpare stops the use of the spare fork server for a while.
func (f *workspacePools) pauseSpare() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.spare.resume = time.Now().Add(pause)
}

func (f *workspacePools) release(own *workspacePool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	own.busy--
	own.used = time.Now()
	own.idle.Reset(poolIdle)
}

// dropOne closes the pool that has been idle longest. It reports whether it closed one. The caller must hold the lock.
func (f *workspacePools) dropOne() bool {
	var oldest string
	for workspace, own := range f.named {
		if own.busy == 0 && (oldest == "" || own.used.Before(f.named[oldest].used)) {
			oldest = workspace
		}
	}
	if oldest == "" {
		return false
	}
	f.drop(oldest)
	return true
}

func (f *workspacePools) expire(workspace string, own *workspacePool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.named[workspace] == own && own.busy == 0 && !f.closed {
		f.drop(workspace)
	}
}

func (f *workspacePools) drop(workspace string) {
	own := f.named[workspace]
	delete(f.named, workspace)
	own.idle.Stop()
	stats := own.pool.Stats()
	f.past = f.past.Plus(worker.Stats{Started: stats.Started, Died: stats.Died, Retired: stats.Started - stats.Died})
	f.joined.Go(own.pool.Close)
}

// warm waits until the spare fork server is ready, so that the first run of a new workspace starts without delay.
func (f *workspacePools) warm(ctx context.Context) error {
	f.mu.Lock()
	spare := f.spare
	f.mu.Unlock()
	return spare.pool.Warm(ctx)
}

// stats adds up the counts of all pools, including closed ones.
func (f *workspacePools) stats() worker.Stats {
	f.mu.Lock()
	defer f.mu.Unlock()
	sum := f.spare.pool.Stats().Plus(f.past)
	for _, own := range f.named {
		sum = sum.Plus(own.pool.Stats())
	}
	return sum
}

func (f *workspacePools) close() {
	f.mu.Lock()
	f.closed = true
	all := []*workspacePool{f.spare}
	for _, own := range f.named {
		own.idle.Stop()
		all = append(all, own)
	}
	f.mu.Unlock()
	for _, own := range all {
		f.joined.Go(own.pool.Close)
	}
	f.joined.Wait()
}
