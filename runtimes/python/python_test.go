package python_test

import (
	"testing"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/python"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
	"github.com/atelier-run/atelier/runtimes/sandbox/sandboxtest"
	"github.com/atelier-run/atelier/runtimes/worker"
)

// newEngine starts an engine over a real sandbox. Only the house's interpreters are tried, never one from PATH.
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

func programs() runtimetest.Programs {
	return runtimetest.Programs{
		Language: runtimes.Python, Runtime: runtimes.PythonEngine, Entrypoint: "main.py",
		Hello: `def main(name):
    print("hello", name)
    return {"greeting": f"Hello, {name}"}
`,
		Echo: `def main(input, ctx):
    return input
`,
		Order: `def main(input, ctx):
    print("one")
    ctx.log("info", "two", n=2)
    print("three", end="")
    ctx.progress(1, 2, "half")
    print("four")
`,
		Stderr: `import sys
def main():
    print("fine")
    print("oops", file=sys.stderr)
`,
		Env: `import os
def main(input, ctx):
    assert all(os.environ[k] == v for k, v in ctx.env.items()), ctx.env
    return dict(os.environ)
`,
		Unicode: `def main():
    print("grüß 世界 🎉")
    return {"text": "grüß 世界 🎉"}
`,
		Invalid: `def main():
    return {"items": [1, float("nan")]}
`,
		InvalidPath: "output.items[1]: float NaN",
		Fail: `def main():
    def inner():
        raise ValueError("boom")
    inner()
`,
		FailLine: 3,
		Syntax: `def main():
    x = 1

    return (x +
`,
		SyntaxLine: 4,
		Forever: `def main():
    print("started")
    while True:
        pass
`,
		Flood: `def main():
    while True:
        print("0123456789" * 10)
`,
		BigResult: `def main():
    return "x" * 2_000_000
`,
		State: `import os, json
def main():
    seen = hasattr(json, "mark") or any(os.path.exists(d + "/mark") for d in ("/work", "/tmp", "/dev/shm", "/var/tmp", "/run"))
    json.mark = True
    for d in ("/work", "/tmp", "/dev/shm"):
        open(d + "/mark", "w").close()
    return seen
`,
		Lib: map[string]string{
			"lib/__init__.py": "",
			"lib/numbers.py":  "from .other import two\ndef answer():\n    return 20 * two()\n",
			"lib/other.py":    "def two():\n    return 2\n",
			"util.py":         "TWO = 2\n",
		},
		Multi: `from .lib.numbers import answer
from util import TWO
import lib.other

def main():
    return {"answer": answer() + TWO}
`,
		Denied: `def main(input, ctx):
    return ctx.call("nope", path="x")
`,
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	runtimetest.Conformance(t, newEngine(t), programs())
}

// TestBrokenInterpreter: what is there but no Python is the house's failure, and nobody waits for it.
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
