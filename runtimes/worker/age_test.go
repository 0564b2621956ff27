package worker_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/runtimes/worker"
)

// TestPoolForgetsTheOld checks that an idle worker older than Reuse.Age is ended, even if no run requests a worker.
func TestPoolForgetsTheOld(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, worker.Options{Jailer: &troupe{t: t, play: tireless}, Reuse: worker.Reuse{Runs: 100, Age: time.Minute}})
		expect(t, "young", serve(t, pool, "a"), "1")
		<-time.After(50 * time.Second)
		synctest.Wait()
		if n := pool.Stats().Idle; n != 1 {
			t.Errorf("%d workers wait before the age limit, want 1", n)
		}
		<-time.After(time.Minute)
		synctest.Wait()
		if n := pool.Stats().Idle; n != 0 {
			t.Errorf("%d workers wait after the age limit, want 0", n)
		}
	})
}

// TestPoolRests checks that a pool with Options.Rest prepares no worker before the first run, and that it ends its idle
// workers after that time without a run.
func TestPoolRests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pool := newPool(t, worker.Options{Jailer: &troupe{t: t, play: tireless}, Idle: 2, Rest: time.Minute, Guest: "doctor"})
		waiting := func(when string, want int) {
			t.Helper()
			synctest.Wait()
			if n := pool.Stats().Idle; n != want {
				t.Errorf("%s: %d workers wait, want %d", when, n, want)
			}
		}
		<-time.After(30 * time.Second)
		waiting("before the first run", 0)
		expect(t, "examined", serve(t, pool, "doctor"), "1")
		waiting("after an examination", 0)
		expect(t, "first", serve(t, pool, "a"), "1")
		waiting("after a run", 2)
		<-time.After(50 * time.Second)
		waiting("a while after it", 2)
		<-time.After(20 * time.Second)
		waiting("long after it", 0)
		if err := pool.Warm(t.Context()); err != nil {
			t.Fatal(err)
		}
		waiting("when it was warmed", 2)
	})
}

// TestPool_WorkBetweenJobs_NotLimited checks that CPU time that a worker uses between two jobs is part of the second job's
// usage, but does not count for its CPU limit.
func TestPool_WorkBetweenJobs_NotLimited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		jailer := &troupe{t: t, play: func(a *actor) {
			for range 2 {
				if kind, _ := a.read(); kind != frames.Job {
					return
				}
				a.send(frames.Started, "")
				<-time.After(time.Second) // long enough for the watch to check the CPU time
				a.send(frames.Done, `{"output":1}`)
				<-time.After(time.Millisecond)
				a.set(func(usage *sandbox.Usage, _ *sandbox.Exit) { usage.CPU += time.Minute })
			}
		}}
		pool := worker.NewPool(worker.Options{Jailer: jailer, Reuse: worker.Reuse{Runs: 2}})
		defer pool.Close()
		for range 2 {
			task := worker.Task{Job: job(), Payload: struct{}{}}
			task.Job.Workspace, task.Job.Limits.CPUMs = "a", 1000
			if outcome, err := pool.Run(t.Context(), task, newAudience()); err != nil || outcome.Error != nil {
				t.Errorf("%+v, %v", outcome.Error, err)
			}
			<-time.After(time.Second)
		}
	})
}
