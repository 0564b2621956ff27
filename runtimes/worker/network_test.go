package worker_test

import (
	"net"
	"testing"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/runtimes/worker"
)

// TestNetworkOfATask checks that the task's network service runs while the program runs, and has stopped before the result
// is reported.
func TestNetworkOfATask(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	open := false
	jailer := &troupe{t: t, play: func(a *actor) {
		if a.read(); !open {
			t.Error("the program has no network yet")
		}
		a.send(frames.Started, "")
		a.send(frames.Done, `{"output":1}`)
	}, wrap: func(s *stage) worker.Jail {
		s.network = listener
		return s
	}}
	pool := newPool(t, worker.Options{Jailer: jailer})
	task := worker.Task{Job: runtimes.Job{Workspace: "a", Limits: runtimes.DefaultLimits()}, Network: func(l net.Listener) func() {
		open = l == listener
		return func() { open = false }
	}}
	outcome, err := pool.Run(t.Context(), task, runtimetest.NewHost())
	if err != nil || string(outcome.Output) != "1" || open {
		t.Errorf("%+v, %v, open %v", outcome, err, open)
	}
}

// TestNetworkOfAnotherWorker checks a run whose first worker ends before the program starts: the network service must then
// use the listener of the second worker.
func TestNetworkOfAnotherWorker(t *testing.T) {
	t.Parallel()
	jailer := &troupe{t: t}
	jailer.play = func(a *actor) {
		if jailer.made() == 1 {
			a.read()
			a.set(func(_ *sandbox.Usage, e *sandbox.Exit) { e.Signal, e.Orphaned = 9, true })
			return
		}
		tireless(a)
	}
	jailer.wrap = func(s *stage) worker.Jail {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Error(err)
		}
		t.Cleanup(func() { _ = listener.Close() })
		s.network = listener
		return s
	}
	var served, stopped int
	task := worker.Task{Job: job(), Payload: struct{}{}, Network: func(net.Listener) func() {
		served++
		return func() { stopped++ }
	}}
	outcome, err := newPool(t, worker.Options{Jailer: jailer}).Run(t.Context(), task, newAudience())
	if err != nil || string(outcome.Output) != "1" || served != 2 || stopped != 1 {
		t.Errorf("%s, %v; served %d times, stopped %d times", outcome.Output, err, served, stopped)
	}
}

// TestNetworkThatIsNotThere checks that a run fails with sandbox_unavailable if its task needs a network and the jail has
// none.
func TestNetworkThatIsNotThere(t *testing.T) {
	t.Parallel()
	pool := newPool(t, worker.Options{Jailer: &troupe{t: t, play: tireless}})
	task := worker.Task{Job: runtimes.Job{Workspace: "a", Limits: runtimes.DefaultLimits()}, Network: func(net.Listener) func() { return func() {} }}
	if _, err := pool.Run(t.Context(), task, runtimetest.NewHost()); !fault.Is(err, fault.SandboxUnavailable) {
		t.Errorf("%v", err)
	}
}
