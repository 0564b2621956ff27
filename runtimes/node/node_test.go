package node_test

import (
	"testing"

	"github.com/atelier-run/atelier/runtimes/node"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
	"github.com/atelier-run/atelier/runtimes/sandbox/sandboxtest"
	"github.com/atelier-run/atelier/runtimes/worker"
)

const interpreter = "/usr/bin/node"

func newEngine(tb testing.TB) *node.Engine {
	tb.Helper()
	box := sandboxtest.New(tb, sandboxtest.Exe(tb))
	engine := node.New(node.Options{Jailer: worker.FromSandbox(box), Interpreter: interpreter})
	tb.Cleanup(engine.Close)
	if err := engine.Warm(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	return engine
}

func programs() runtimetest.Programs { return runtimetest.JavaScript() }

func TestConformance(t *testing.T) {
	t.Parallel()
	runtimetest.Conformance(t, newEngine(t), programs())
}
