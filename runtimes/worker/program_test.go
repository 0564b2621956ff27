package worker_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/worker"
)

// TestProgramTravelsOnce checks that a worker gets a program only with its first job, and again if it sends Need because it
// no longer has it. A second Need, or one after a job with the program, violates the protocol.
func TestProgramTravelsOnce(t *testing.T) {
	t.Parallel()
	const whole, brief = `"whole"`, `"brief"`
	tests := map[string]struct {
		play func(a *actor)
		want []string // outputs of consecutive runs, or the error
	}{
		"remembered": {func(a *actor) {
			for {
				kind, payload := a.read()
				if kind == 0 {
					return
				}
				a.send(frames.Started, "7")
				a.send(frames.Done, `{"output":`+payload+`}`)
			}
		}, []string{whole, brief, brief}},
		"forgotten": {func(a *actor) {
			for {
				kind, payload := a.read()
				if kind == 0 {
					return
				}
				if payload == brief {
					a.send(frames.Need, "")
					continue
				}
				a.send(frames.Started, "")
				a.send(frames.Done, `{"output":`+payload+`}`)
			}
		}, []string{whole, whole, whole}},
		"greedy":           {func(a *actor) { a.read(); a.send(frames.Need, ""); a.stuck() }, []string{"its protocol does not allow"}},
		"after its start":  {func(a *actor) { a.begin(); a.send(frames.Need, ""); a.stuck() }, []string{"its protocol does not allow"}},
		"a start in words": {func(a *actor) { a.read(); a.send(frames.Started, "now"); a.stuck() }, []string{"its protocol does not allow"}},
		"a start too long": {func(a *actor) { a.read(); a.send(frames.Started, strings.Repeat("1", 21)); a.stuck() }, []string{"output limit"}},
		"died of the job":  {func(a *actor) { a.read() }, []string{"ended unexpectedly"}},
		"asking and asking": {func(a *actor) {
			served(a)
			a.read()
			a.send(frames.Need, "")
			a.read()
			a.send(frames.Need, "")
			a.stuck()
		}, []string{whole, "its protocol does not allow"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			jailer := &troupe{t: t, play: tt.play}
			pool := newPool(t, worker.Options{Jailer: jailer, Max: 1, Reuse: worker.Reuse{Runs: 9}})
			for i, want := range tt.want {
				task := worker.Task{Job: job(), Payload: "whole", Brief: "brief", Program: "p", Prompt: true}
				task.Job.Workspace = "w"
				outcome, err := pool.Run(t.Context(), task, newAudience())
				if err != nil {
					t.Fatal(err)
				}
				if got := fmt.Sprintf("%s %v", outcome.Output, outcome.Error); string(outcome.Output) != want && !strings.Contains(got, want) {
					t.Errorf("run %d: %s, want %s", i, got, want)
				}
			}
		})
	}
}

// served serves one job. Its output is the payload.
func served(a *actor) {
	_, payload := a.read()
	a.send(frames.Started, "")
	a.send(frames.Done, `{"output":`+payload+`}`)
}

// TestLateStart checks that a worker may report afterwards when its program started. The reported time must not be before
// the worker got the job. The time limit counts from the start.
func TestLateStart(t *testing.T) {
	t.Parallel()
	began := time.Now()
	outcome, err := worker.Run(t.Context(), newStage(t, func(a *actor) {
		a.read()
		a.send(frames.Started, "4000000000")
		a.send(frames.Done, `{"output":1}`)
	}), worker.Task{Job: job(), Prompt: true}, newAudience())
	if err != nil || outcome.Error != nil {
		t.Fatalf("%+v, %v", outcome.Error, err)
	}
	if took := time.Since(began); outcome.Usage.Run <= 0 || outcome.Usage.Run > took || outcome.Usage.Start > took {
		t.Errorf("%+v in %v", outcome.Usage, took)
	}
	limited := worker.Task{Job: job(), Prompt: true}
	limited.Job.Limits.TimeoutMs = 20
	outcome, err = worker.Run(t.Context(), newStage(t, func(a *actor) { a.read(); a.send(frames.Started, "5"); a.stuck() }), limited, newAudience())
	if err != nil || outcome.Error == nil || outcome.Error.Type != runtimes.Timeout {
		t.Errorf("%+v, %v", outcome.Error, err)
	}
}

// waiting is a host that replies to a call only after the worker has ended.
type waiting struct {
	*audience
	gone <-chan struct{}
}

func (w waiting) Call(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	<-w.gone
	return nil, nil
}

// endless is a host whose calls return only when they are cancelled.
type endless struct{ *audience }

func (endless) Call(ctx context.Context, _ string, _ json.RawMessage) (json.RawMessage, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// asksAndEnds is a worker whose program makes a host call and ends without waiting for the reply. Its result is already in
// the socket when it ends.
func asksAndEnds(t *testing.T) *stage {
	t.Helper()
	listener, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	client, err := net.Dial("unix", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	server, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	return newStageOver(t, server, client, func(a *actor) {
		a.begin()
		a.send(frames.CallReq, `{"id":1,"name":"fetch","args":{}}`)
		a.send(frames.CallReq, `{"id":2,"name":"fetch","args":{}}`)
		a.send(frames.Done, `{"output":7}`)
	})
}

// TestEndBeforeAnAnswer checks that the run of asksAndEnds has its result, even if the call never returns by itself.
func TestEndBeforeAnAnswer(t *testing.T) {
	t.Parallel()
	for name, host := range map[string]func(*stage) runtimes.Host{
		"late answers": func(s *stage) runtimes.Host { return waiting{newAudience(), s.done} },
		"no answers":   func(*stage) runtimes.Host { return endless{newAudience()} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			jail := asksAndEnds(t)
			outcome, err := worker.Run(t.Context(), jail, worker.Task{Job: job()}, host(jail))
			if err != nil || string(outcome.Output) != "7" {
				t.Errorf("%s, %+v, %v", outcome.Output, outcome.Error, err)
			}
		})
	}
}

// TestDeadBeforeTheJob checks that a run returns a server error if its worker died before the job was sent.
func TestDeadBeforeTheJob(t *testing.T) {
	t.Parallel()
	jail := newStage(t, func(*actor) {})
	<-jail.done
	_, err := worker.Run(t.Context(), jail, worker.Task{Job: job(), Prompt: true}, newAudience())
	if !fault.Is(err, fault.SandboxUnavailable) {
		t.Errorf("%v", err)
	}
}
