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

// TestUnfit: a Node that is too old, none at all or not there is told as such, with what to do.
func TestUnfit(t *testing.T) {
	t.Parallel()
	ask := func(engine *node.Engine) error {
		_, err := engine.Run(t.Context(), programs().Job("export default () => 1"), runtimetest.NewHost())
		return err
	}
	refused := func(t *testing.T, err error, because string) {
		t.Helper()
		if !fault.Is(err, fault.RuntimeUnavailable) || !strings.Contains(err.Error(), because) || !strings.Contains(err.Error(), "install Node.js 20 or newer") {
			t.Errorf("%v", err)
		}
	}
	for name, tt := range map[string]struct{ script, because string }{
		"too old":        {"echo v18.20.4", "v18.20.4"},
		"something else": {"echo Python 3.13", "Python 3.13"},
		"says nothing":   {"exit 0", `""`},
		"is ended":       {"x=12345678; while :; do x=$x$x; done", "memory limit"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, err := os.MkdirTemp("/var/tmp", "atelier-node") // a jail has a /tmp of its own
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(home) })
			path := filepath.Join(home, "bin", "node")
			if err := errors.Join(os.Mkdir(filepath.Dir(path), 0o755), os.Chmod(home, 0o755)); err != nil { // for the jail's user
				t.Fatal(err)
			}
			write := func(script string) {
				if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			write(tt.script)
			engine := node.New(node.Options{Jailer: worker.FromSandbox(sandboxtest.New(t, sandboxtest.Exe(t))), Interpreter: path})
			t.Cleanup(engine.Close)
			refused(t, ask(engine), tt.because)
			write("echo v19.0.0") // an answer is remembered, and nothing else
			if name == "is ended" {
				tt.because = "v19.0.0"
			}
			refused(t, ask(engine), tt.because)
		})
	}
	refused(t, ask(node.New(node.Options{Interpreter: filepath.Join(t.TempDir(), "node")})), "no such file")
}

// TestCancelledFirst: a run that is cancelled before anybody knows the version is a cancelled run like others.
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
