package wasmedge_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
	"github.com/atelier-run/atelier/runtimes/sandbox/sandboxtest"
	"github.com/atelier-run/atelier/runtimes/wasmedge"
	"github.com/atelier-run/atelier/runtimes/worker"
)

func newEngine(t *testing.T, runner string) *wasmedge.Engine {
	t.Helper()
	engine := wasmedge.New(wasmedge.Options{Jailer: worker.FromSandbox(sandboxtest.New(t, sandboxtest.Exe(t))), Runner: runner})
	t.Cleanup(engine.Close)
	return engine
}

// stub builds testdata/stub, a program that simulates WasmEdge, and returns its path.
func stub(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "bin", "wasmedge")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", path, ".")
	build.Dir, build.Env = "testdata/stub", append(os.Environ(), "CGO_ENABLED=0")
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	for _, open := range []string{filepath.Dir(dir), dir, filepath.Dir(path), path} {
		if err := os.Chmod(open, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func jobOf(module, input string, edit ...func(*runtimes.Job)) runtimes.Job {
	job := runtimes.Job{
		RunID: "run", Workspace: "one", Language: runtimes.WASM, Runtime: runtimes.WasmEdge, Entrypoint: "main.wasm",
		Files: map[string][]byte{"main.wasm": []byte(module)}, Input: json.RawMessage(input), Limits: runtimes.DefaultLimits(),
	}
	for _, change := range edit {
		change(&job)
	}
	return job
}

// TestStub_CommandAndOutput runs the stub instead of WasmEdge. It checks the command line, and the outcome for each kind of
// output.
func TestStub_CommandAndOutput(t *testing.T) {
	t.Parallel()
	engine := newEngine(t, stub(t))
	tests := map[string]struct {
		module, input, output string
		want                  runtimes.ErrorType
		says                  string
		edit                  func(*runtimes.Job)
	}{
		"stdin is the input":   {module: "echo", input: `{"a":[1,"grüß"]}`, output: `{"a":[1,"grüß"]}`},
		"nothing is null":      {module: "print", output: "null"},
		"command":              {module: "command", output: `["--time-limit","31000","--memory-page-limit","4096","--env","A=1","--env","B=x y","main.wasm"]`, edit: func(j *runtimes.Job) { j.Environment = map[string]string{"B": "x y", "A": "1"} }},
		"not JSON":             {module: "print hello", want: runtimes.InvalidOutput, says: "exactly one JSON value"},
		"exit code":            {module: "exit 3", want: runtimes.RuntimeError, says: "code 3"},
		"trap":                 {module: "error execution failed: unreachable", want: runtimes.RuntimeError, says: "stopped: unreachable."},
		"log amid the output":  {module: "grow 0", output: "{}"},
		"output like the log":  {module: `print ["[2026-11-26 10:00:00.000] [error] x"]`, output: `["[2026-11-26 10:00:00.000] [error] x"]`},
		"memory":               {module: "grow 1", want: runtimes.MemoryLimit, says: "256 MiB"},
		"memory at the start":  {module: "small", want: runtimes.MemoryLimit, says: "256 MiB"},
		"deep calls":           {module: "error execution failed: call stack exhausted", want: runtimes.RecursionLimit},
		"not a module":         {module: "error loading failed: magic header not detected", want: runtimes.SyntaxError, says: "magic header"},
		"printing without end": {module: "flood", want: runtimes.OutputLimit},
		"time":                 {module: "loop", want: runtimes.Timeout, says: "500 ms", edit: func(j *runtimes.Job) { j.Limits.TimeoutMs = 500 }},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job := jobOf(tt.module, tt.input)
			if tt.edit != nil {
				tt.edit(&job)
			}
			outcome, host := runtimetest.Run(t, engine, job)
			switch {
			case tt.want == "" && outcome.Error != nil:
				t.Fatalf("%+v, stderr %s", outcome.Error, host.Stderr(t))
			case tt.want == "":
				if diff := cmp.Diff(tt.output, strings.TrimSpace(string(outcome.Output))); diff != "" {
					t.Error(diff)
				}
			case outcome.Error == nil || outcome.Error.Type != tt.want || !strings.Contains(outcome.Error.Message, tt.says):
				t.Errorf("%+v, want %s with %q", outcome.Error, tt.want, tt.says)
			}
		})
	}
}

// TestWithoutRunner_Unavailable checks that an engine without a runner refuses runs with RuntimeUnavailable and has the
// Remedy.
func TestWithoutRunner_Unavailable(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"", "/absent/wasmedge"} {
		engine := newEngine(t, path)
		if _, err := engine.Run(t.Context(), jobOf("", "{}"), runtimetest.NewHost()); !fault.Is(err, fault.RuntimeUnavailable) || !strings.Contains(engine.Lacks(), wasmedge.Remedy) {
			t.Errorf("%q: %v", path, err)
		}
	}
}
