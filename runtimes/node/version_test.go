package node_test

import (
	"context"
	"errors"
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

// TestVersionIsRemembered expects that the version is read only once. If the interpreter was ended before it printed the
// version, it must be read again.
func TestVersionIsRemembered(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ script, first, then string }{
		"answers":  {"echo v18.20.4", "v18.20.4", "v18.20.4"},
		"is ended": {"x=12345678; while :; do x=$x$x; done", "memory limit", "v19.0.0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, err := os.MkdirTemp("/var/tmp", "atelier-node") // a sandbox has its own /tmp
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(home) })
			path := filepath.Join(home, "bin", "node")
			if err := errors.Join(os.Mkdir(filepath.Dir(path), 0o755), os.Chmod(home, 0o755)); err != nil { // for the sandbox's user
				t.Fatal(err)
			}
			var engine *node.Engine
			ask := func(script, want string) {
				t.Helper()
				if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
					t.Fatal(err)
				}
				if engine == nil {
					engine = node.New(node.Options{Jailer: worker.FromSandbox(sandboxtest.New(t, sandboxtest.Exe(t))), Interpreter: path})
					t.Cleanup(engine.Close)
				}
				_, err := engine.Run(t.Context(), programs().Job("export default () => 1"), runtimetest.NewHost())
				if !fault.Is(err, fault.RuntimeUnavailable) || !strings.Contains(err.Error(), want) {
					t.Errorf("%v", err)
				}
			}
			ask(tt.script, tt.first)
			ask("echo v19.0.0", tt.then)
		})
	}
}

// TestCancelledFirst expects that a run cancelled before the version is known ends as cancelled, like any other.
func TestCancelledFirst(t *testing.T) {
	t.Parallel()
	engine := node.New(node.Options{Jailer: worker.FromSandbox(sandboxtest.New(t, sandboxtest.Exe(t))), Interpreter: interpreter})
	t.Cleanup(engine.Close)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	outcome, err := engine.Run(ctx, programs().Job("export default () => 1"), runtimetest.NewHost())
	if err != nil || outcome.Error == nil || outcome.Error.Type != runtimes.Cancelled {
		t.Errorf("%+v, %v", outcome.Error, err)
	}
}
