package python_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/atelier-run/atelier/runtimes/runtimetest"
)

// TestForksHaveNothingInCommon: children of one fork server have random numbers and names of their own.
func TestForksHaveNothingInCommon(t *testing.T) {
	t.Parallel()
	source := `import os, random, secrets, sys, tempfile, threading, uuid
def main():
    assert hasattr(sys.modules["__main__"], "serve") and threading.main_thread().native_id == threading.get_native_id() == os.getpid()
    state = random.getstate()[1]
    return [str(random.random()), tempfile.mktemp(), str(uuid.uuid4()), secrets.token_hex(), str(hash(state[:312])), str(hash(state[312:-1]))]
`
	engine := newEngine(t)
	var before [][]string
	for range 4 {
		outcome, _ := runtimetest.Run(t, engine, programs().Job(source))
		var now []string
		if err := json.Unmarshal(outcome.Output, &now); err != nil || len(now) != 6 {
			t.Fatalf("%s, %+v", outcome.Output, outcome.Error)
		}
		for _, other := range before {
			for i, value := range now {
				if slices.Contains(other, value) {
					t.Errorf("two children have the same, number %d of a run: %s", i, value)
				}
			}
		}
		before = append(before, now)
	}
}
