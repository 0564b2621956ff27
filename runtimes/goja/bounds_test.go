package goja_test

import (
	"strings"
	"testing"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
)

// TestLongWords expects the program's own error if its message is very long, and an error for invalid names of host
// functions.
func TestLongWords(t *testing.T) {
	t.Parallel()
	engine := newEngine(t)
	for source, want := range map[string]runtimes.ErrorType{
		`throw new Error("x".repeat(2e6))`:                     runtimes.RuntimeError,
		`throw new Error("x".repeat(6e7))`:                     runtimes.RuntimeError, // larger than the largest frame
		`throw { toString() { throw 1 }, x: "x".repeat(2e6) }`: runtimes.RuntimeError,
		`ctx.call("x".repeat(2e6), {})`:                        runtimes.RuntimeError,
		`ctx.call("", {})`:                                     runtimes.RuntimeError,
	} {
		job := javascript().Job("export default (input, ctx) => { " + source + " }")
		job.Limits.MemoryBytes, job.Limits.TimeoutMs = 1<<30, 20_000
		outcome, err := engine.Run(t.Context(), job, runtimetest.NewHost())
		if err != nil || outcome.Error == nil || outcome.Error.Type != want || outcome.Error.Line == 0 && strings.Contains(source, "Error(") {
			t.Errorf("%s: %.300v, %v, want %s with a line", source, outcome.Error, err, want)
		}
	}
}

// TestLeftovers expects that memory used by one run does not count for the memory limit of the next run.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	engine := newEngine(t)
	run := func(megabytes string, limit int64) runtimes.Outcome {
		t.Helper()
		job := javascript().Job("export default () => { const all = []; for (let i = 0; i < " + megabytes + "; i++) all.push(new Uint8Array(1 << 20).fill(1)) }")
		job.Limits.MemoryBytes = limit
		outcome, err := engine.Run(t.Context(), job, runtimetest.NewHost())
		if err != nil {
			t.Fatal(err)
		}
		return outcome
	}
	for range 3 {
		for _, large := range []string{"70", "150"} {
			if outcome := run(large, 256<<20); outcome.Error != nil {
				t.Fatalf("%+v", outcome.Error)
			}
			if outcome := run("20", 64<<20); outcome.Error != nil {
				t.Errorf("after %s MB: %+v", large, outcome.Error)
			}
		}
	}
}
