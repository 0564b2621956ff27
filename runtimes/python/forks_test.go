package python_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/atelier-run/atelier/runtimes/runtimetest"
)

// TestForksHaveNothingInCommon expects that children of one fork server get different random numbers, UUIDs and names of
// temporary files.
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

// TestAllThatWasPrintedIsThere expects that no output is lost, even if the program made its pipes larger than usual. The
// launcher does not wait until the program is dead, but must read all output.
func TestAllThatWasPrintedIsThere(t *testing.T) {
	t.Parallel()
	job := programs().Job(`import fcntl, os, subprocess
def main():
    for n in (1, 2):
        fcntl.fcntl(n, fcntl.F_SETPIPE_SZ, 1 << 20)
    subprocess.run(["/usr/bin/python3", "-c", "import os; os.write(1, b'a' * 400_000)"], check=True)
    return os.write(1, b"b" * 400_000) + os.write(2, b"c" * 700_000)
`)
	job.Limits.OutputBytes = 4 << 20
	outcome, host := runtimetest.Run(t, newEngine(t), job)
	if outcome.Error != nil || string(outcome.Output) != "1100000" {
		t.Fatalf("%s, %+v", outcome.Output, outcome.Error)
	}
	if out, err := host.Stdout(t), host.Stderr(t); len(out) != 800_000 || len(err) != 700_000 {
		t.Errorf("%d bytes of 800000 and %d of 700000", len(out), len(err))
	}
}
