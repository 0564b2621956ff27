package worker_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/runtimes/worker"
)

// troupe is a Jailer whose workers all run the function play.
type troupe struct {
	t    testing.TB
	play func(*actor)
	wrap func(*stage) worker.Jail // nil for none

	mu     sync.Mutex
	failed error
	stages []*stage
	disks  []int64
	names  []string // launchers
}

func (j *troupe) Level() string { return "full" }

func (j *troupe) Prepare(_ context.Context, profile sandbox.Profile) (worker.Jail, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.failed != nil {
		return nil, j.failed
	}
	s := newStage(j.t, j.play)
	j.stages, j.disks = append(j.stages, s), append(j.disks, profile.DiskBytes)
	j.names = append(j.names, profile.Launcher)
	if j.wrap != nil {
		return j.wrap(s), nil
	}
	return s, nil
}

// made returns the number of workers prepared so far.
func (j *troupe) made() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.stages)
}

func (j *troupe) fail(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.failed = err
}

// tireless is a worker that serves jobs without end. The output of a job is the number of jobs served so far.
func tireless(a *actor) {
	for n := 1; ; n++ {
		if kind, _ := a.read(); kind != frames.Job {
			return
		}
		a.send(frames.Started, "")
		a.send(frames.Done, `{"output":`+strings.Repeat("1", n)+`}`)
	}
}

func newPool(t testing.TB, options worker.Options) *worker.Pool {
	t.Helper()
	pool := worker.NewPool(options)
	t.Cleanup(pool.Close)
	return pool
}

// serve runs a job in a workspace and returns its output. With tireless this is the number of jobs of its worker.
func serve(t *testing.T, pool *worker.Pool, workspace string, edit ...func(*runtimes.Job)) string {
	t.Helper()
	task := worker.Task{Job: job(), Payload: struct{}{}}
	task.Job.Workspace = workspace
	for _, change := range edit {
		change(&task.Job)
	}
	outcome, err := pool.Run(t.Context(), task, newAudience())
	if err != nil || outcome.Error != nil {
		t.Fatalf("%+v, %v", outcome.Error, err)
	}
	if outcome.Level != "full" {
		t.Errorf("level %q", outcome.Level)
	}
	return string(outcome.Output)
}

func expect(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %s, want %s", what, got, want)
	}
}

// TestLauncherDiesBeforeStart_AnotherWorker checks that a run gets another worker, up to maxAttempts, if its worker or the
// worker's launcher is killed before the program has begun. Afterwards it must not, because effects would be repeated.
func TestLauncherDiesBeforeStart_AnotherWorker(t *testing.T) {
	t.Parallel()
	orphaned := func(_ *sandbox.Usage, e *sandbox.Exit) { e.Signal, e.Orphaned = 9, true }
	killed := func(_ *sandbox.Usage, e *sandbox.Exit) { e.Signal = 9 }
	crashed := func(_ *sandbox.Usage, e *sandbox.Exit) { e.Code = 1 }
	for name, tt := range map[string]struct {
		deaths, workers int
		begun, prelude  bool
		unread          bool // the worker ends before it reads the job
		prompt          bool
		end             func(*sandbox.Usage, *sandbox.Exit) // default: with its launcher
		want            string
	}{
		"killed alone":                    {deaths: 1, workers: 2, want: "1", end: killed},
		"killed alone in its preparation": {deaths: 1, workers: 2, want: "1", end: killed, prelude: true},
		"killed alone, always":            {deaths: 99, workers: 3, end: killed},
		"killed alone, prompt":            {deaths: 1, workers: 2, want: "1", end: killed, unread: true, prompt: true},
		"crashed":                         {deaths: 1, workers: 2, want: "1", end: crashed},
		"once":                            {deaths: 1, workers: 2, want: "1"},
		"in its preparation":              {deaths: 1, workers: 2, want: "1", prelude: true},
		"always":                          {deaths: 99, workers: 3},
		"after the start":                 {deaths: 1, workers: 1, begun: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var deaths atomic.Int64
			jailer := &troupe{t: t, play: func(a *actor) {
				if deaths.Add(1) <= int64(tt.deaths) {
					if !tt.unread {
						a.read()
					}
					if tt.begun {
						a.send(frames.Started, "")
					}
					if tt.end == nil {
						tt.end = orphaned
					}
					a.set(tt.end)
					return
				}
				if tt.prelude {
					a.read()
					a.send(frames.Ready, "")
				}
				tireless(a)
			}}
			options := worker.Options{Jailer: jailer}
			if tt.prelude {
				options.Prelude = struct{}{}
			}
			task := worker.Task{Job: job(), Payload: struct{}{}, Prompt: tt.prompt}
			outcome, err := newPool(t, options).Run(t.Context(), task, newAudience())
			if string(outcome.Output) != tt.want || (err == nil) != (tt.want != "") {
				t.Errorf("%s, %v", outcome.Output, err)
			}
			if made := jailer.made(); made != tt.workers {
				t.Errorf("%d workers, want %d", made, tt.workers)
			}
		})
	}
}

// TestLauncherOfAWorkspace checks that a jail prepared for a run comes from a launcher of the run's workspace. Jails of a
// fork server are an exception, because a fork server has a pool for each workspace.
func TestLauncherOfAWorkspace(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		profile sandbox.Profile
		want    []string
	}{
		"launcher":    {sandbox.Profile{Launcher: "python"}, []string{"python of a", "python of b", "python"}},
		"fork server": {sandbox.Profile{Launcher: "forks 1", Forks: &sandbox.Command{}}, []string{"forks 1", "forks 1", "forks 1"}},
		"none":        {sandbox.Profile{}, []string{"", "", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			jailer := &troupe{t: t, play: tireless}
			pool := newPool(t, worker.Options{Jailer: jailer, Profile: tt.profile})
			for _, workspace := range []string{"a", "b", ""} {
				serve(t, pool, workspace)
			}
			if !slices.Equal(jailer.names, tt.want) {
				t.Errorf("%q, want %q", jailer.names, tt.want)
			}
		})
	}
}

func TestPoolReusesWithinAWorkspaceOnly(t *testing.T) {
	t.Parallel()
	jailer := &troupe{t: t, play: tireless}
	pool := newPool(t, worker.Options{Jailer: jailer, Reuse: worker.Reuse{Runs: 3}})
	expect(t, "first", serve(t, pool, "a"), "1")
	expect(t, "again", serve(t, pool, "a"), "11")
	expect(t, "another workspace", serve(t, pool, "b"), "1")
	expect(t, "no workspace", serve(t, pool, ""), "1")
	expect(t, "no workspace again", serve(t, pool, ""), "1")
	expect(t, "strict", serve(t, pool, "a", func(j *runtimes.Job) { j.Isolation = runtimes.Strict }), "1")
	expect(t, "the last of its runs", serve(t, pool, "a"), "111")
	expect(t, "recycled", serve(t, pool, "a"), "1")
}

// TestPoolCountsProcessorTimeOfARun checks that a run's usage contains its worker's CPU time since the previous run, but
// not the CPU time of the worker's start.
func TestPoolCountsProcessorTimeOfARun(t *testing.T) {
	t.Parallel()
	const start, each = 7 * time.Millisecond, 5 * time.Millisecond
	spend := func(a *actor, more time.Duration) {
		a.set(func(usage *sandbox.Usage, _ *sandbox.Exit) { usage.CPU += more })
	}
	jailer := &troupe{t: t, play: func(a *actor) {
		for range 3 {
			if kind, _ := a.read(); kind != frames.Job {
				return
			}
			spend(a, each)
			a.send(frames.Started, "")
			a.send(frames.Done, `{"output":1}`)
		}
	}, wrap: func(s *stage) worker.Jail {
		s.set(func(usage *sandbox.Usage, _ *sandbox.Exit) { usage.CPU = start })
		return s
	}}
	pool := newPool(t, worker.Options{Jailer: jailer, Reuse: worker.Reuse{Runs: 3}})
	for range 3 {
		task := worker.Task{Job: job(), Payload: struct{}{}}
		task.Job.Workspace = "a"
		outcome, err := pool.Run(t.Context(), task, newAudience())
		if err != nil || outcome.Error != nil || outcome.Usage.CPU != each {
			t.Errorf("%v, %+v, %v", outcome.Usage.CPU, outcome.Error, err)
		}
	}
}

func TestPoolOfSingleUse(t *testing.T) {
	t.Parallel()
	jailer := &troupe{t: t, play: tireless}
	pool := newPool(t, worker.Options{Jailer: jailer, Idle: 2, Max: 4})
	if err := pool.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := pool.Stats(); got != (worker.Stats{Idle: 2, Started: 2}) {
		t.Errorf("%+v", got)
	}
	for range 10 {
		expect(t, "any run", serve(t, pool, "a"), "1")
	}
	if err := pool.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	if jailer.made() < 10 {
		t.Errorf("%d workers for 10 runs", jailer.made())
	}
}

func TestPoolReplacesTheOld(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	now := time.Unix(0, 0)
	pool := newPool(t, worker.Options{Jailer: &troupe{t: t, play: tireless}, Reuse: worker.Reuse{Runs: 100, Age: time.Minute}, Now: func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}})
	expect(t, "young", serve(t, pool, "a"), "1")
	expect(t, "young", serve(t, pool, "a"), "11")
	mu.Lock()
	now = now.Add(2 * time.Minute)
	mu.Unlock()
	expect(t, "replaced", serve(t, pool, "a"), "1")
}

func TestPoolHeals(t *testing.T) {
	t.Parallel()
	jailer := &troupe{t: t, play: tireless}
	pool := newPool(t, worker.Options{Jailer: jailer, Reuse: worker.Reuse{Runs: 100}})
	serve(t, pool, "a")
	jailer.stages[0].kill() // the worker dies while it is idle
	expect(t, "after a death", serve(t, pool, "a"), "1")
}

func TestPoolCounts(t *testing.T) {
	t.Parallel()
	jailer := &troupe{t: t, play: tireless}
	pool := newPool(t, worker.Options{Jailer: jailer, Reuse: worker.Reuse{Runs: 2}})
	serve(t, pool, "a")
	if got, want := pool.Stats(), (worker.Stats{Idle: 1, Started: 1}); got != want {
		t.Errorf("after one run %+v, want %+v", got, want)
	}
	serve(t, pool, "a") // the last job before the worker is replaced
	serve(t, pool, "a")
	if got, want := pool.Stats(), (worker.Stats{Idle: 1, Started: 2, Retired: 1}); got != want {
		t.Errorf("after three runs %+v, want %+v", got, want)
	}
	jailer.stages[1].kill()
	serve(t, pool, "a")
	if got, want := pool.Stats(), (worker.Stats{Idle: 1, Started: 3, Died: 1, Retired: 1}); got != want {
		t.Errorf("after a death %+v, want %+v", got, want)
	}
}

func TestPoolCountsWhoDiesInARun(t *testing.T) {
	t.Parallel()
	pool := newPool(t, worker.Options{Jailer: &troupe{t: t, play: func(a *actor) { a.begin() }}})
	if outcome, err := pool.Run(t.Context(), worker.Task{Job: job()}, newAudience()); err != nil || outcome.Error == nil {
		t.Fatalf("%+v, %v", outcome, err)
	}
	if got, want := pool.Stats(), (worker.Stats{Started: 1, Died: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestPoolGivesPlaces checks that a full pool replaces an idle worker of one workspace for a run of another workspace.
func TestPoolGivesPlaces(t *testing.T) {
	t.Parallel()
	jailer := &troupe{t: t, play: tireless}
	pool := newPool(t, worker.Options{Jailer: jailer, Reuse: worker.Reuse{Runs: 100}, Max: 2})
	for _, workspace := range []string{"a", "b", "c", "d", "a"} {
		expect(t, workspace, serve(t, pool, workspace), "1")
	}
}

func TestPoolIsBounded(t *testing.T) {
	t.Parallel()
	const most = 3
	var mu sync.Mutex
	busy, peak := 0, 0
	jailer := &troupe{t: t, play: func(a *actor) {
		a.begin()
		mu.Lock()
		busy++
		peak = max(peak, busy)
		mu.Unlock()
		a.send(frames.CallReq, `{"id":1,"name":"pause"}`)
		a.read()
		mu.Lock()
		busy--
		mu.Unlock()
		a.send(frames.Done, `{}`)
	}}
	pool := newPool(t, worker.Options{Jailer: jailer, Idle: 2, Max: most})
	var all sync.WaitGroup
	for range 30 {
		all.Go(func() {
			if outcome, err := pool.Run(t.Context(), worker.Task{Job: job()}, newAudience()); err != nil || outcome.Error != nil {
				t.Errorf("%+v, %v", outcome.Error, err)
			}
		})
	}
	all.Wait()
	if peak > most {
		t.Errorf("%d at once, at most %d", peak, most)
	}
}

func TestPoolPreparesAnotherDisk(t *testing.T) {
	t.Parallel()
	jailer := &troupe{t: t, play: tireless}
	profile := sandbox.Profile{Filter: sandbox.FilterProgram, DiskBytes: runtimes.DefaultLimits().DiskBytes}
	pool := newPool(t, worker.Options{Jailer: jailer, Profile: profile, Idle: 1, Max: 2})
	if err := pool.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	serve(t, pool, "a", func(j *runtimes.Job) { j.Limits.DiskBytes = 1 << 20 })
	jailer.mu.Lock()
	defer jailer.mu.Unlock()
	if jailer.disks[1] != 1<<20 {
		t.Errorf("disks %v", jailer.disks)
	}
}

// TestPoolWaitsForThePrelude checks that a worker with a prelude becomes idle only when it has sent Ready, and that it is
// destroyed if it does not send it.
func TestPoolWaitsForThePrelude(t *testing.T) {
	t.Parallel()
	good := newPool(t, worker.Options{Idle: 1, Prelude: "ahead", Jailer: &troupe{t: t, play: func(a *actor) {
		if _, payload := a.read(); payload != `"ahead"` {
			return
		}
		a.send(frames.Ready, "")
		tireless(a)
	}}})
	if err := good.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	expect(t, "after the prelude", serve(t, good, "a"), "1")
	for name, play := range map[string]func(*actor){
		"dies":            func(a *actor) { a.read() },
		"speaks nonsense": func(a *actor) { a.read(); a.send(frames.Done, "{}"); a.stuck() },
	} {
		bad := newPool(t, worker.Options{Idle: 1, Prelude: "ahead", Jailer: &troupe{t: t, play: play}})
		if err := bad.Warm(t.Context()); !fault.Is(err, fault.SandboxUnavailable) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPoolReportsWhyItIsEmpty(t *testing.T) {
	t.Parallel()
	jailer := &troupe{t: t, play: tireless}
	jailer.fail(fault.New(fault.SandboxUnavailable, "no namespaces"))
	pool := newPool(t, worker.Options{Jailer: jailer, Idle: 1})
	if err := pool.Warm(t.Context()); !fault.Is(err, fault.SandboxUnavailable) {
		t.Errorf("warm: %v", err)
	}
	if _, err := pool.Run(t.Context(), worker.Task{Job: job()}, newAudience()); !fault.Is(err, fault.SandboxUnavailable) {
		t.Errorf("run: %v", err)
	}
	jailer.fail(nil)
	serve(t, pool, "a")
}

func TestPoolCloses(t *testing.T) {
	t.Parallel()
	jailer := &troupe{t: t, play: func(a *actor) { a.begin(); a.send(frames.Stdout, "started"); a.stuck() }}
	pool := worker.NewPool(worker.Options{Jailer: jailer, Idle: 2, Max: 3})
	if err := pool.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	host := newAudience()
	var run sync.WaitGroup
	run.Go(func() {
		outcome, err := pool.Run(t.Context(), worker.Task{Job: job()}, host)
		if err != nil || outcome.Error == nil || outcome.Error.Type != runtimes.Cancelled {
			t.Errorf("%+v, %v, want cancelled", outcome.Error, err)
		}
	})
	<-host.seen
	pool.Close()
	run.Wait()
	for _, s := range jailer.stages {
		select {
		case <-s.done:
		default:
			t.Error("a worker was still alive after Close")
		}
	}
	if _, err := pool.Run(t.Context(), worker.Task{Job: job()}, host); !fault.Is(err, fault.ShuttingDown) && err != nil {
		t.Errorf("after the end: %v", err)
	}
	if err := pool.Warm(t.Context()); !errors.As(err, new(*fault.Error)) {
		t.Errorf("warm after the end: %v", err)
	}
}
