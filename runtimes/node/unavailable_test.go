package node_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/node"
	"github.com/atelier-run/atelier/runtimes/runtimetest"
	"github.com/atelier-run/atelier/runtimes/sandbox/sandboxtest"
	"github.com/atelier-run/atelier/runtimes/worker"
)

// TestNoNode expects an error with advice on installation if Node is missing or too old, or if the path names another
// program.
func TestNoNode(t *testing.T) {
	t.Parallel()
	exe := sandboxtest.Exe(t)
	base, err := os.MkdirTemp("/var/tmp", "node") // a sandbox mounts its own /tmp over the host's
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	if err := os.Chmod(base, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, says := range map[string]string{"absent": "", "old": "v18.20.4", "other": "Python 3.11", "silent": " "} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(base, name, "bin", "node")
			if says != "" {
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte("#!/bin/sh\necho '"+says+"'\n"), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			engine := node.New(node.Options{Jailer: worker.FromSandbox(sandboxtest.New(t, exe)), Interpreter: path})
			defer engine.Close()
			_, err := engine.Run(t.Context(), programs().Job("export default () => 1"), runtimetest.NewHost())
			if !fault.Is(err, fault.RuntimeUnavailable) || !strings.Contains(err.Error(), "Install Node.js 20 or newer") {
				t.Errorf("%v", err)
			}
			if err := engine.Warm(t.Context()); !fault.Is(err, fault.RuntimeUnavailable) {
				t.Errorf("warm: %v", err)
			}
			if says == "" && (engine.Interpreter() != "" || engine.Stats() != worker.Stats{}) {
				t.Error("it has something")
			}
		})
	}
}

// TestBadJobs expects an error with the reason for each job that cannot start.
func TestBadJobs(t *testing.T) {
	t.Parallel()
	engine, p := newEngine(t), programs()
	outcome, _ := runtimetest.Run(t, engine, p.Job("", func(j *runtimes.Job) { j.Entrypoint = "other.js" }))
	if outcome.Error == nil || !strings.Contains(outcome.Error.Message, `"other.js" does not exist`) {
		t.Errorf("%+v", outcome.Error)
	}
	if _, err := engine.Run(t.Context(), p.Job("", func(j *runtimes.Job) { j.Environment = map[string]string{"A=B": ""} }), runtimetest.NewHost()); err == nil {
		t.Error("a name with = is taken")
	}
	if engine.Interpreter() != interpreter {
		t.Error(engine.Interpreter())
	}
}
