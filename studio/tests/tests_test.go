package tests_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/runs"
	"github.com/atelier-run/atelier/studio/tests"
)

// engine is a function that implements Runs.
type engine func(ctx context.Context, req runs.Request) (runs.Result, error)

func (e engine) Execute(ctx context.Context, _ registry.Actor, req runs.Request) (runs.Result, error) {
	return e(ctx, req)
}

func echo(_ context.Context, req runs.Request) (runs.Result, error) {
	return runs.Result{Run: registry.Run{ID: "r", Status: registry.Succeeded, Output: req.Input}}, nil
}

func cases(n int) []registry.Test {
	all := make([]registry.Test, n)
	for i := range all {
		all[i] = registry.Test{Name: string(rune('a' + i)), Input: json.RawMessage(`{}`), Expect: registry.Expectation{Output: json.RawMessage(`{}`)}}
	}
	return all
}

func plan(t *testing.T, run engine, list []registry.Test) *tests.Plan {
	t.Helper()
	p, err := tests.New(tests.Options{Runs: run}).PrepareSpec(registry.Actor{}, registry.Spec{}, list, nil, registry.TriggerCLI)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// If the server has only one free slot, the tests must run one after the other, and all must finish.
func TestRun_QueueFull_OneByOne(t *testing.T) {
	t.Parallel()
	var live atomic.Int32
	run := func(ctx context.Context, req runs.Request) (runs.Result, error) {
		defer live.Add(-1)
		if live.Add(1) > 1 {
			return runs.Result{}, fault.New(fault.QueueFull, "The queue is full.")
		}
		return echo(ctx, req)
	}
	report, err := plan(t, run, cases(20)).Run(t.Context(), func(tests.Result) {})
	if err != nil || report.Passed != 20 {
		t.Errorf("%+v (%v)", report, err)
	}
}

// An error of the server must not count as a failed test. It must end the other tests too.
func TestRun_ServerFails_Ends(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	var calls atomic.Int32
	run := func(ctx context.Context, req runs.Request) (runs.Result, error) {
		if calls.Add(1) == 3 {
			return runs.Result{}, broken
		}
		if ctx.Err() != nil {
			return runs.Result{}, context.Cause(ctx)
		}
		return echo(ctx, req)
	}
	if report, err := plan(t, run, cases(20)).Run(t.Context(), func(tests.Result) {}); !errors.Is(err, broken) || report.Failed != 0 {
		t.Errorf("%+v (%v)", report, err)
	}
}

// After a cancellation, tests that have not started do not run.
func TestRun_Cancelled_Ends(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var calls atomic.Int32
	run := func(ctx context.Context, req runs.Request) (runs.Result, error) {
		if calls.Add(1) == 2 {
			cancel()
		}
		return echo(ctx, req)
	}
	if _, err := plan(t, run, cases(20)).Run(ctx, func(tests.Result) {}); !errors.Is(err, context.Canceled) || calls.Load() > 10 {
		t.Errorf("%d runs (%v)", calls.Load(), err)
	}
}
