package monty_test

import (
	"strings"
	"testing"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/monty"
	"github.com/atelier-run/atelier/runtimes/monty/guest"
	"github.com/atelier-run/atelier/runtimes/monty/montytest"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
	"github.com/atelier-run/atelier/runtimes/sandbox/sandboxtest"
	"github.com/atelier-run/atelier/runtimes/worker"
)

func newEngine(tb testing.TB) *monty.Engine {
	tb.Helper()
	program, exe := montytest.Program(tb), sandboxtest.Exe(tb)
	engine := monty.New(monty.Options{Jailer: worker.FromSandbox(sandboxtest.New(tb, exe)), Interpreter: program, Exe: exe})
	tb.Cleanup(engine.Close)
	if err := engine.Warm(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	return engine
}

// programs returns the test programs for Monty. Multi is empty, because Monty cannot import other files. Monty has no files,
// so State leaves its mark in a global variable.
func programs() runtimetest.Programs {
	return runtimetest.Programs{
		Language: runtimes.Python, Runtime: runtimes.MontyEngine, Entrypoint: "main.py",
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
    assert all(os.environ[k] == v and os.getenv(k) == v for k, v in ctx.env.items()), ctx.env
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
		State: `try:
    seen = mark
except NameError:
    seen = False
mark = True
def main():
    return seen
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

func TestMissingInterpreter(t *testing.T) {
	t.Parallel()
	engine := monty.New(monty.Options{Interpreter: "/nowhere/monty"})
	t.Cleanup(engine.Close)
	if _, err := engine.Run(t.Context(), programs().Job(programs().Hello), runtimetest.NewHost()); !fault.Is(err, fault.RuntimeUnavailable) {
		t.Error(err)
	}
}

// TestRules checks that a program with language rules is refused, because Monty cannot enforce them.
func TestRules(t *testing.T) {
	t.Parallel()
	outcome, host := runtimetest.Run(t, newEngine(t), programs().Job(programs().Hello, func(j *runtimes.Job) { j.Rules = &runtimes.Rules{Pack: runtimes.Restricted} }))
	if outcome.Error == nil || outcome.Error.Type != runtimes.Denied || host.Stdout(t) != "" {
		t.Errorf("%+v, stdout %q", outcome.Error, host.Stdout(t))
	}
}

// TestStateOfAnotherVersion checks that a saved state is refused if another version of Monty wrote it.
func TestStateOfAnotherVersion(t *testing.T) {
	t.Parallel()
	engine := newEngine(t)
	for state, want := range map[string]string{
		`{"runId":"r","maker":"0.9.0","state":"AAAA"}`: "The state of the program was saved by Monty 0.9.0, but this server has Monty " + guest.Version, `{"runId":"r"}`: "cannot be read", `{`: "cannot be read",
	} {
		outcome, _ := runtimetest.Run(t, engine, programs().Job(programs().Hello, func(j *runtimes.Job) { j.Attach = state }))
		if outcome.Error == nil || outcome.Error.Type != runtimes.Interrupted || !strings.Contains(outcome.Error.Message, want) {
			t.Errorf("%s: %+v", state, outcome.Error)
		}
	}
}
