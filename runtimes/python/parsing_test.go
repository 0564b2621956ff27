package python_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
)

// TestHugeInteger_TimeLimitCounts checks that parsing the input counts for the program's time limit, and that it does not
// block runs of other workspaces. Parsing an integer of three million digits takes about twenty seconds.
func TestHugeInteger_TimeLimitCounts(t *testing.T) {
	t.Parallel()
	engine := newEngine(t)
	job := programs().Job("def main(input, ctx): return 1")
	job.Input = json.RawMessage(`{"n":` + strings.Repeat("7", 3_000_000) + `}`)
	job.Limits.TimeoutMs, job.Limits.CPUMs = 500, 500
	outcome, err := engine.Run(t.Context(), job, runtimetest.NewHost())
	if err != nil || outcome.Error == nil || outcome.Error.Type != runtimes.Timeout {
		t.Errorf("ended with %+v, %v", outcome.Error, err)
	}
	other := programs().Job("import sys\ndef main(): return hasattr(sys.modules['__main__'], 'serve')")
	other.Workspace = "another"
	if outcome, _ := runtimetest.Run(t, engine, other); string(outcome.Output) != "true" {
		t.Errorf("another workspace has no fork server: %s, %+v", outcome.Output, outcome.Error)
	}
}
