package python_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/python"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
	"github.com/atelier-run/atelier/runtimes/sandbox/sandboxtest"
	"github.com/atelier-run/atelier/runtimes/worker"
)

// newEngine starts an engine over a real sandbox. It uses only the repository's own interpreters, never one from PATH.
func newEngine(tb testing.TB) *python.Engine {
	tb.Helper()
	box := sandboxtest.New(tb, sandboxtest.Exe(tb))
	engine := python.New(python.Options{Jailer: worker.FromSandbox(box), Interpreter: "/usr/bin/python3"})
	tb.Cleanup(engine.Close)
	if err := engine.Warm(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	return engine
}

func programs() runtimetest.Programs { return runtimetest.Python() }

func TestConformance(t *testing.T) {
	t.Parallel()
	runtimetest.Conformance(t, newEngine(t), programs())
}

// TestBrokenInterpreter expects that a program that is not Python, or is missing, is reported as a server error without
// delay.
func TestBrokenInterpreter(t *testing.T) {
	t.Parallel()
	box := sandboxtest.New(t, sandboxtest.Exe(t))
	for path, want := range map[string]fault.Code{
		"/usr/bin/false": fault.SandboxUnavailable, "/usr/bin/nope": fault.RuntimeUnavailable, "python3": fault.RuntimeUnavailable, "/usr/lib": fault.RuntimeUnavailable,
	} {
		engine := python.New(python.Options{Jailer: worker.FromSandbox(box), Interpreter: path})
		for range 3 {
			if _, err := engine.Run(t.Context(), programs().Job(programs().Hello), runtimetest.NewHost()); !fault.Is(err, want) {
				t.Errorf("%s: %v, want %s", path, err, want)
			}
		}
		engine.Close()
	}
}

func TestImpossibleEnvironment(t *testing.T) {
	t.Parallel()
	job := programs().Job(programs().Hello, func(j *runtimes.Job) { j.Environment = map[string]string{"A": "\x00"} })
	if _, err := newEngine(t).Run(t.Context(), job, runtimetest.NewHost()); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("%v, want invalid_input", err)
	}
}

func BenchmarkHello(b *testing.B) {
	runtimetest.Benchmark(b, newEngine(b), programs())
}

// TestForksShareNothing expects that a fork server serves only one workspace and is replaced when a child crashes. A run
// with strict isolation must get its own interpreter. The hash seed shows which fork server a run comes from.
func TestForksShareNothing(t *testing.T) {
	t.Parallel()
	engine := newEngine(t)
	seed := func(workspace string, isolation runtimes.Isolation) string {
		t.Helper()
		outcome, _ := runtimetest.Run(t, engine, programs().Job("def main(): return hash('seed')", func(j *runtimes.Job) {
			j.Workspace, j.Isolation = workspace, isolation
		}))
		if outcome.Error != nil {
			t.Fatalf("%+v", outcome.Error)
		}
		return string(outcome.Output)
	}
	one := seed("one", "")
	if again := seed("one", ""); again != one {
		t.Errorf("two runs of one workspace come from two fork servers: %s, %s", one, again)
	}
	seen := map[string]string{one: "the first workspace"}
	check := func(name, value string) {
		t.Helper()
		if before, ok := seen[value]; ok {
			t.Errorf("%s has the seed of %s", name, before)
		}
		seen[value] = name
	}
	check("another workspace", seed("two", ""))
	check("strict isolation", seed("one", runtimes.Strict))
	check("strict isolation again", seed("one", runtimes.Strict))
	outcome, _ := runtimetest.Run(t, engine, programs().Job("import ctypes\ndef main(): ctypes.string_at(0)", func(j *runtimes.Job) { j.Workspace = "one" }))
	if outcome.Error == nil || !strings.Contains(outcome.Error.Message, "SIGSEGV") {
		t.Fatalf("%+v", outcome.Error)
	}
	for range 8 { // the first runs may get children that were forked before the crash
		if value := seed("one", ""); value != one {
			check("the workspace after a crash", value)
			return
		}
	}
	t.Error("the fork server outlived a crash")
}

// TestMainThreadOfAFork expects that libc knows the main thread of a forked interpreter by its own ID, not by the fork
// server's. Then another thread can send it a signal.
func TestMainThreadOfAFork(t *testing.T) {
	t.Parallel()
	const source = `
import os, signal, threading
def main():
    heard, read, write = [], *os.pipe()
    signal.signal(signal.SIGUSR1, lambda number, frame: (heard.append(threading.current_thread().name), os.write(write, b"x")))
    main = threading.main_thread().ident
    threading.Thread(target=lambda: signal.pthread_kill(main, signal.SIGUSR1)).start()
    os.read(read, 1)
    return heard
`
	outcome, _ := runtimetest.Run(t, newEngine(t), programs().Job(source))
	if string(outcome.Output) != `["MainThread"]` {
		t.Errorf("%s %+v", outcome.Output, outcome.Error)
	}
}

// TestForksAreFresh expects that a run sees no changes by earlier runs and inherits nothing from them.
func TestForksAreFresh(t *testing.T) {
	t.Parallel()
	engine := newEngine(t)
	const source = `
import builtins, json, os, random, sys, tempfile, uuid
def main():
    left = hasattr(builtins, "mark") or json.loads is None or "MARK" in os.environ or os.path.exists("/tmp/mark")
    builtins.mark, os.environ["MARK"], json.loads = 1, "1", None
    open("/tmp/mark", "w").close()
    sys.modules.clear()
    return [left, random.random(), next(tempfile._get_candidate_names()), str(uuid.uuid4()), sorted(os.listdir("/proc/self/fd"))]
`
	seen := map[string]bool{}
	for range 4 {
		outcome, _ := runtimetest.Run(t, engine, programs().Job(source))
		var found []any
		if outcome.Error != nil || json.Unmarshal(outcome.Output, &found) != nil || found[0] != false {
			t.Fatalf("%s %+v", outcome.Output, outcome.Error)
		}
		for _, value := range found[1:4] {
			if seen[fmt.Sprint(value)] {
				t.Errorf("%v came twice", value)
			}
			seen[fmt.Sprint(value)] = true
		}
		if diff := cmp.Diff([]any{"0", "1", "2", "3", "4"}, found[4]); diff != "" { // index 4 is the list itself
			t.Error(diff)
		}
	}
}

// TestForksAreAsOnesOwn expects that a child of a fork server has the same visible state as a new interpreter.
func TestForksAreAsOnesOwn(t *testing.T) {
	t.Parallel()
	engine := newEngine(t)
	const source = `
import gc, os, sys
def main(input, ctx):
    ours = sorted(name for name in sys.modules if name == "main" or name.startswith("__agent__"))
    return [sys.path, sys.argv, len(sys.meta_path), ours, sys.getrecursionlimit(), sorted(os.environ), __file__, gc.isenabled()]
`
	said := map[runtimes.Isolation]string{}
	for _, isolation := range []runtimes.Isolation{runtimes.Pooled, runtimes.Strict} {
		job := programs().Job(source)
		job.Isolation = isolation
		outcome, _ := runtimetest.Run(t, engine, job)
		if outcome.Error != nil || !strings.Contains(string(outcome.Output), `"__agent__.main"`) {
			t.Fatalf("%s: %s %+v", isolation, outcome.Output, outcome.Error)
		}
		said[isolation] = string(outcome.Output)
	}
	if diff := cmp.Diff(said[runtimes.Strict], said[runtimes.Pooled]); diff != "" {
		t.Error(diff)
	}
}

// TestForksSucceed expects that a fork server is replaced after a few hundred runs, and that no run has to wait for its
// successor.
func TestForksSucceed(t *testing.T) {
	t.Parallel()
	engine := newEngine(t)
	var mu sync.Mutex
	seeds := map[string]int{}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 270 {
				outcome, err := engine.Run(t.Context(), programs().Job("def main(): return hash('seed')"), runtimetest.NewHost())
				if err != nil || outcome.Error != nil {
					t.Error(err, outcome.Error)
				}
				mu.Lock()
				seeds[string(outcome.Output)]++
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if len(seeds) < 2 {
		t.Errorf("%v", seeds)
	}
}
