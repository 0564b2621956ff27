package python

import (
	"context"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/worker"
)

// maxLockPools is the maximum number of pools for programs with packages. The number is exceeded only while all pools
// are in use.
const maxLockPools = 16

// lockKey identifies a pool for programs with packages. Each pool belongs to one workspace.
type lockKey struct {
	workspace string
	dir       string // host directory of the packages
	network   bool
	fresh     bool // a new interpreter for each run
}

// lockPools is the set of pools for programs with packages. Each pool mounts one directory of packages into its jails.
type lockPools struct {
	create func(launcher string, key lockKey, environment []string) *worker.Pool

	mu     sync.Mutex
	named  map[lockKey]*workspacePool
	made   int
	past   worker.Stats // added counts of closed pools
	closed bool
	joined sync.WaitGroup // waits for closing pools
}

func newLockPools(create func(launcher string, key lockKey, environment []string) *worker.Pool) *lockPools {
	return &lockPools{create: create, named: map[lockKey]*workspacePool{}}
}

// oneThread returns environment variables for interpreters with packages. With them, numeric libraries start no threads
// when they are imported. By default such a library starts a thread per processor. Threads cost memory, and an
// interpreter with threads cannot be forked.
func oneThread() []string {
	return []string{"OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1", "MKL_NUM_THREADS=1"}
}

// importLine matches an import statement at the beginning of a line, with the module and the imported names. It may
// also match other text, such as a line of a string. The only effect is that a module is imported in advance without
// need.
var importLine = regexp.MustCompile(`(?m)^[ \t]*(?:import|from)[ \t]+([A-Za-z_][\w.]*)(?:[ \t]+import[ \t]+(\([^()]*\)|[^\n;#(]+))?`)

// importedName matches one name in the list of imported names, without its alias.
var importedName = regexp.MustCompile(`(?:^|[(,])\s*([A-Za-z_]\w*)`)

// expected returns the environment variable with the modules that a program imports. Waiting interpreters import them
// in advance. Imported names are listed as MODULE:NAME, because some packages load a submodule only when a name is
// used.
func expected(job runtimes.Job) string {
	found := map[string]bool{}
	for name, source := range job.Files {
		if !strings.HasSuffix(name, ".py") || len(source) > maxCode {
			continue
		}
		for _, match := range importLine.FindAllSubmatch(source, maxImports) {
			module := string(match[1])
			if top, _, _ := strings.Cut(module, "."); !slices.Contains(job.Packages.Modules, top) {
				continue
			}
			found[module] = true
			for _, taken := range importedName.FindAllSubmatch(match[2], maxImports) {
				found[module+":"+string(taken[1])] = true
			}
		}
	}
	all := slices.Sorted(maps.Keys(found))
	return "ATELIER_IMPORTS=" + strings.Join(all[:min(len(all), maxImports)], " ")
}

// maxImports is the maximum number of imports that are read from one file, and of a program's imports that are made in
// advance.
const maxImports = 200

// runLocked executes a program with packages. If possible, it does so in a fork of an interpreter that has imported the
// packages.
func (e *Engine) runLocked(ctx context.Context, task worker.Task, host runtimes.Host) (runtimes.Outcome, error) {
	job := task.Job
	key := lockKey{workspace: job.Workspace, dir: job.Packages.Dir, network: task.Network != nil}
	if key.network || job.Isolation == runtimes.Strict || job.Workspace == "" {
		key.fresh = !key.network
		return e.locked.run(ctx, key, task, host)
	}
	outcome, err := e.locked.run(ctx, key, task, host)
	if fault.Is(err, fault.SandboxUnavailable) && !errors.Is(err, worker.ErrLost) {
		e.warnNoForks(ctx, err)
		key.fresh = true
		return e.locked.run(ctx, key, task, host)
	}
	return outcome, err
}

func (f *lockPools) run(ctx context.Context, key lockKey, task worker.Task, host runtimes.Host) (runtimes.Outcome, error) {
	own := f.acquire(key, task.Job)
	if own == nil {
		return runtimes.Outcome{}, fault.New(fault.ShuttingDown, "The server is shutting down.")
	}
	defer f.release(own)
	return own.pool.Run(ctx, task, host)
}

func (f *lockPools) acquire(key lockKey, job runtimes.Job) *workspacePool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil
	}
	own := f.named[key]
	if own == nil {
		if len(f.named) >= maxLockPools {
			f.dropOldest()
		}
		f.made++
		own = &workspacePool{pool: f.create("python packages "+strconv.Itoa(f.made), key, append(oneThread(), expected(job))), used: time.Now()}
		own.idle = time.AfterFunc(poolIdle, func() { f.expire(key, own) })
		f.named[key] = own
	}
	own.busy++
	return own
}

func (f *lockPools) release(own *workspacePool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	own.busy--
	own.used = time.Now()
	own.idle.Reset(poolIdle)
}

// dropOldest closes the pool that has been idle longest. It does nothing if all pools are in use. The caller must hold
// the lock.
func (f *lockPools) dropOldest() {
	var oldest *workspacePool
	var at lockKey
	for key, own := range f.named {
		if own.busy == 0 && (oldest == nil || own.used.Before(oldest.used)) {
			oldest, at = own, key
		}
	}
	if oldest != nil {
		f.drop(at)
	}
}

func (f *lockPools) expire(key lockKey, own *workspacePool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.named[key] == own && own.busy == 0 && !f.closed {
		f.drop(key)
	}
}

func (f *lockPools) drop(key lockKey) {
	own := f.named[key]
	delete(f.named, key)
	own.idle.Stop()
	stats := own.pool.Stats()
	f.past = f.past.Plus(worker.Stats{Started: stats.Started, Died: stats.Died, Retired: stats.Started - stats.Died})
	f.joined.Go(own.pool.Close)
}

// stats adds up the counts of all pools, including closed ones.
func (f *lockPools) stats() worker.Stats {
	f.mu.Lock()
	defer f.mu.Unlock()
	sum := f.past
	for _, own := range f.named {
		sum = sum.Plus(own.pool.Stats())
	}
	return sum
}

func (f *lockPools) close() {
	f.mu.Lock()
	f.closed = true
	for _, own := range f.named {
		own.idle.Stop()
		f.joined.Go(own.pool.Close)
	}
	f.mu.Unlock()
	f.joined.Wait()
}
