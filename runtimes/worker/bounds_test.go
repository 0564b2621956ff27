package worker_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/worker"
)

// TestTurnsAreBounded checks that a program that writes single bytes to stdout and stderr in turn does not cause an event
// for each byte.
func TestTurnsAreBounded(t *testing.T) {
	t.Parallel()
	const each = 20_000
	host := newAudience()
	task := worker.Task{Job: job()}
	task.Job.Limits.OutputBytes = 2 * each
	outcome, err := worker.Run(t.Context(), newStage(t, func(a *actor) {
		a.begin()
		for range each {
			a.send(frames.Stdout, "o")
			a.send(frames.Stderr, "e")
		}
		a.send(frames.Done, `{}`)
	}), task, host)
	if err != nil || outcome.Error != nil {
		t.Fatalf("%+v, %v", outcome, err)
	}
	count, text := map[runtimes.Kind]int{}, host.transcript(t)
	for _, e := range host.events {
		count[e.Kind]++
	}
	if n := len(host.events); n > each/2 {
		t.Errorf("%d events of %d bytes", n, 2*each)
	}
	if strings.Count(text, "o")-strings.Count(text, "stdout") != each || count[runtimes.KindDropped] > 0 {
		t.Errorf("output was lost: %v", count)
	}
	if !slices.Equal(host.kinds()[:3], []runtimes.Kind{runtimes.KindStdout, runtimes.KindStderr, runtimes.KindStdout}) {
		t.Error("the order of the first lines is lost")
	}
}

// TestCallsAreBounded checks that the rate of a program's host calls is limited: after a burst, replies are delayed.
func TestCallsAreBounded(t *testing.T) {
	t.Parallel()
	const burst, rate = 10_000, 1_000
	var served atomic.Int64
	host := newAudience()
	host.answer = func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
		served.Add(1)
		return nil, &runtimes.CallError{Code: "denied"}
	}
	task := worker.Task{Job: job()}
	task.Job.Limits.TimeoutMs = 1500
	began := time.Now()
	outcome, err := worker.Run(t.Context(), newStage(t, func(a *actor) {
		a.begin()
		go func() {
			for kind, _ := a.read(); kind != 0; kind, _ = a.read() {
			}
		}()
		for i := range 100 * burst {
			if err := a.out.Write(frames.CallReq, fmt.Appendf(nil, `{"id":%d,"name":"fetch","args":{}}`, i+1)); err != nil {
				return
			}
		}
	}), task, host)
	if err != nil || outcome.Error == nil || outcome.Error.Type != runtimes.Timeout {
		t.Errorf("%+v, %v", outcome.Error, err)
	}
	if n, most := served.Load(), burst+rate*int64(time.Since(began).Seconds()+1); n > most {
		t.Errorf("%d calls, at most %d are allowed", n, most)
	}
}

func (h *audience) kinds() []runtimes.Kind {
	h.mu.Lock()
	defer h.mu.Unlock()
	kinds := make([]runtimes.Kind, 0, len(h.events))
	for _, e := range h.events {
		kinds = append(kinds, e.Kind)
	}
	return kinds
}

// full is a worker that, after its first run, uses more memory than the limit of a run with a small limit.
type full struct {
	*stage
	limited atomic.Int64
}

func (f *full) Limit(l runtimes.Limits) error {
	if f.limited.Add(1) > 1 && l.MemoryBytes < 100<<20 {
		return errors.New("in use")
	}
	return nil
}

// TestPoolReplacesTheFull checks that a worker is replaced if it still uses more memory than the next run's limit allows.
func TestPoolReplacesTheFull(t *testing.T) {
	t.Parallel()
	jailer := &troupe{t: t, play: tireless, wrap: func(s *stage) worker.Jail { return &full{stage: s} }}
	pool := newPool(t, worker.Options{Jailer: jailer, Max: 1, Reuse: worker.Reuse{Runs: 100}})
	small := func(j *runtimes.Job) { j.Limits.MemoryBytes = 64 << 20 }
	expect(t, "first", serve(t, pool, "a"), "1")
	expect(t, "large again", serve(t, pool, "a"), "11")
	expect(t, "small", serve(t, pool, "a", small), "1")
	expect(t, "large after it", serve(t, pool, "a"), "11")
}
