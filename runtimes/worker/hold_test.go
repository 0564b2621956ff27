package worker_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/worker"
)

// patient serves jobs as tireless does, but each has to be let go.
func patient(begun chan<- struct{}, goOn func(workspace string) <-chan struct{}) func(*actor) {
	return func(a *actor) {
		for n := 1; ; n++ {
			kind, workspace := a.read()
			if kind != frames.Job {
				return
			}
			begun <- struct{}{}
			<-goOn(workspace)
			a.send(frames.Started, "")
			a.send(frames.Done, `{"output":`+strings.Repeat("1", n)+`}`)
		}
	}
}

// busyPool has one worker at work for ana, and another that nobody uses.
func busyPool(t *testing.T, wait time.Duration) (pool *worker.Pool, first <-chan runtimes.Outcome, begun <-chan struct{}, goOn chan<- struct{}) {
	t.Helper()
	starts, ends := make(chan struct{}, 8), make(chan struct{})
	pool = newPool(t, worker.Options{
		Jailer: &troupe{t: t, play: patient(starts, func(string) <-chan struct{} { return ends })}, Idle: 1, Max: 4,
		Reuse: worker.Reuse{Runs: 100}, Hot: worker.Hot{Runs: 1, Wait: wait},
	})
	if err := pool.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	first = begin(t, t.Context(), pool, "ana")
	<-starts
	if err := pool.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	return pool, first, starts, ends
}

// begin starts a run of a workspace.
func begin(t *testing.T, ctx context.Context, pool *worker.Pool, workspace string) <-chan runtimes.Outcome { //nolint:revive // t is first in tests
	t.Helper()
	task := worker.Task{Job: job(), Payload: workspace}
	task.Job.Workspace = workspace
	ended := make(chan runtimes.Outcome, 1)
	go func() {
		outcome, err := pool.Run(ctx, task, newAudience())
		if err != nil {
			t.Error(err)
		}
		ended <- outcome
	}()
	return ended
}

// awaitWaiting returns when so many runs wait.
func awaitWaiting(t *testing.T, pool *worker.Pool, runs int) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for pool.Stats().Waiting != runs {
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatal(context.Cause(t.Context()))
		}
	}
}

// TestHeldRunGetsTheBusyWorker: a run takes the worker that is at work for its workspace when that one is free, though
// another one was free all the time.
func TestHeldRunGetsTheBusyWorker(t *testing.T) {
	t.Parallel()
	pool, first, _, goOn := busyPool(t, time.Hour)
	second := begin(t, t.Context(), pool, "ana")
	awaitWaiting(t, pool, 1)
	close(goOn)
	expect(t, "first", string((<-first).Output), "1")
	expect(t, "second", string((<-second).Output), "11")
	if stats := pool.Stats(); stats.Busy != 0 || stats.Waiting != 0 || stats.Idle != 2 {
		t.Errorf("%+v", stats)
	}
}

// TestHeldRunGivesUp: a run whose moment is over takes the free worker, beside the one at work.
func TestHeldRunGivesUp(t *testing.T) {
	t.Parallel()
	pool, first, begun, goOn := busyPool(t, time.Nanosecond)
	second := begin(t, t.Context(), pool, "ana")
	<-begun
	close(goOn)
	expect(t, "first", string((<-first).Output), "1")
	expect(t, "second", string((<-second).Output), "1")
}

// TestNobodyIsHeldForAnother: neither a run of another workspace nor one that shares no worker waits for ana's.
func TestNobodyIsHeldForAnother(t *testing.T) {
	t.Parallel()
	for name, other := range map[string]func(*worker.Pool) string{
		"another workspace": func(pool *worker.Pool) string { return serve(t, pool, "ben") },
		"strict": func(pool *worker.Pool) string {
			return serve(t, pool, "ana", func(j *runtimes.Job) { j.Isolation = runtimes.Strict })
		},
	} {
		t.Run(name, func(t *testing.T) {
			pool, first, begun, goOn := busyPool(t, time.Hour)
			second := make(chan string, 1)
			go func() { second <- other(pool) }()
			<-begun
			close(goOn)
			expect(t, "ana", string((<-first).Output), "1")
			expect(t, "the other", <-second, "1")
		})
	}
}

// TestHeldRunGetsNoForeignWorker: a worker that becomes free goes to nobody but a run of its own workspace.
func TestHeldRunGetsNoForeignWorker(t *testing.T) {
	t.Parallel()
	begun, ana, ben := make(chan struct{}, 8), make(chan struct{}), make(chan struct{})
	play := patient(begun, func(workspace string) <-chan struct{} {
		if workspace == `"ben"` {
			return ben
		}
		return ana
	})
	pool := newPool(t, worker.Options{
		Jailer: &troupe{t: t, play: play}, Max: 4, Reuse: worker.Reuse{Runs: 100}, Hot: worker.Hot{Runs: 1, Wait: time.Hour},
	})
	first := begin(t, t.Context(), pool, "ana")
	<-begun
	bens := begin(t, t.Context(), pool, "ben")
	<-begun
	second := begin(t, t.Context(), pool, "ben")
	awaitWaiting(t, pool, 1)
	close(ana)
	expect(t, "ana", string((<-first).Output), "1")
	if stats := pool.Stats(); stats.Idle != 1 || stats.Waiting != 1 {
		t.Errorf("ana's worker is not left to ana: %+v", stats)
	}
	close(ben)
	expect(t, "ben", string((<-bens).Output), "1")
	expect(t, "ben again", string((<-second).Output), "11")
}

// TestNobodyIsHeldBeforeThoseWhoWait: where runs wait for a place the next one waits with them. Held back, it would be handed
// the worker that becomes free, and so would the one after it: who waits would never have one.
func TestNobodyIsHeldBeforeThoseWhoWait(t *testing.T) {
	t.Parallel()
	begun, ana, others := make(chan struct{}, 8), make(chan struct{}), make(chan struct{})
	play := patient(begun, func(workspace string) <-chan struct{} {
		if workspace == `"ana"` {
			return ana
		}
		return others
	})
	pool := newPool(t, worker.Options{
		Jailer: &troupe{t: t, play: play}, Max: 3, Reuse: worker.Reuse{Runs: 100}, Hot: worker.Hot{Runs: 1, Wait: time.Hour},
	})
	var all []<-chan runtimes.Outcome
	for _, workspace := range []string{"ana", "ben", "cem"} {
		all = append(all, begin(t, t.Context(), pool, workspace))
		<-begun
	}
	for waiting, workspace := range []string{"dan", "ana"} {
		all = append(all, begin(t, t.Context(), pool, workspace))
		awaitWaiting(t, pool, waiting+1)
	}
	close(others)
	<-begun
	<-begun // both have a place, and ana's first run is at work all the time
	close(ana)
	for _, ended := range all {
		expect(t, "a run", string((<-ended).Output), "1")
	}
}

// TestHeldRunIsCancelled: who is held can be cancelled, and a pool can be closed meanwhile.
func TestHeldRunIsCancelled(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*worker.Pool, context.CancelFunc){
		"cancelled": func(_ *worker.Pool, cancel context.CancelFunc) { cancel() },
		"closed":    func(pool *worker.Pool, _ context.CancelFunc) { go pool.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			pool, first, _, goOn := busyPool(t, time.Hour)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			second := begin(t, ctx, pool, "ana")
			awaitWaiting(t, pool, 1)
			end(pool, cancel)
			if got := <-second; got.Error == nil || got.Error.Type != runtimes.Cancelled {
				t.Errorf("%+v", got)
			}
			close(goOn)
			<-first
		})
	}
}
