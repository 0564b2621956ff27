package bash_test

import (
	"testing"

	"github.com/atelier-run/atelier/runtimes/bash"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
	"github.com/atelier-run/atelier/runtimes/sandbox/sandboxtest"
	"github.com/atelier-run/atelier/runtimes/worker"
)

func newEngine(tb testing.TB) *bash.Engine {
	tb.Helper()
	box := sandboxtest.New(tb, sandboxtest.Exe(tb))
	engine := bash.New(bash.Options{Jailer: worker.FromSandbox(box), Interpreter: "/usr/bin/bash"})
	tb.Cleanup(engine.Close)
	if err := engine.Warm(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	return engine
}

func programs() runtimetest.Programs { return runtimetest.Bash() }

func TestConformance(t *testing.T) {
	t.Parallel()
	runtimetest.Conformance(t, newEngine(t), programs())
}

func BenchmarkHello(b *testing.B) {
	runtimetest.Benchmark(b, newEngine(b), programs())
}
