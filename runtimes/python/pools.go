package python

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/worker"
)

// A workspace that does not run anything for poolIdle loses its fork server, and so does the one that waited longest
// when more than maxPools have one.
const (
	maxPools = 8
	poolIdle = 5 * time.Minute
)

// workspacePools are the fork servers: one for each workspace that runs programs, and one that waits for the next workspace.
// What the children of a fork server have in common is never shared between workspaces.
type workspacePools struct {
	create func(launcher string) *worker.Pool

	mu     sync.Mutex
	named  map[string]*workspacePool // by workspace
	spare  *workspacePool
	made   int
	past   worker.Stats // of pools that are closed
	closed bool
	joined sync.WaitGroup // of closing pools
}

// workspacePool is the pool of one fork server's children.
type workspacePool struct {
	pool *worker.Pool
	busy int
	used time.Time
	idle *time.Timer
	// resume is when its fork server may be asked for again, after it could not be had.
	resume time.Time
}

func newWorkspacePools(create func(launcher string) *worker.Pool) *workspacePools {
	f := &workspacePools{create: create, named: map[string]*workspacePool{}}
	f.spare = f.another()
	return f
}

// another starts a fork server. It needs the lock, or nobody else there.
func (f *workspacePools) another() *workspacePool {
	f.made++
	return &workspacePool{pool: f.create("python forks " + strconv.Itoa(f.made)), used: time.Now()}
}

// run carries out a task in the workspace's family. ok is false when every family is at work for another workspace, or
// that of this workspace is paused.
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

// pause leaves the fork server of a workspace alone for a while.
func (f *workspacePools) pause(workspace string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if own := f.named[workspace]; own != nil {
		own.resume = time.Now().Add(pause)
	}
}

// pauseSpare leaves the fork server that waits for the next workspace alone for a while.
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

// dropOne closes the family that nobody used for the longest time. It needs the lock.
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

// warm waits until the next workspace can run at once.
func (f *workspacePools) warm(ctx context.Context) error {
	f.mu.Lock()
	spare := f.spare
	f.mu.Unlock()
	return spare.pool.Warm(ctx)
}

// stats adds up the pools, those that are closed as well.
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
