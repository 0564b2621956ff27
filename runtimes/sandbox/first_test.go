package sandbox_test

import (
	"testing"
	"time"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/runtimes/sandbox/sandboxtest"
)

func TestFirst(t *testing.T) {
	box, err := sandbox.New(t.Context(), sandbox.Options{Exe: sandboxtest.Build(t, sandboxtest.Hostile)})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	t.Logf("%+v", box.Level())
	for range 5 {
		start := time.Now()
		j, err := box.Prepare(t.Context(), sandbox.Profile{Role: "program", Filter: sandbox.FilterProgram, Mounts: []sandbox.Mount{{Host: "/usr", Path: "/usr"}}, Limits: runtimes.DefaultLimits(), Proc: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Log(time.Since(start), j.Usage())
		j.Kill()
		t.Log(time.Since(start), j.Wait())
	}
	for range 5 {
		start := time.Now()
		j, err := box.Prepare(t.Context(), sandbox.Profile{Role: "worker", Filter: sandbox.FilterWorker, Limits: runtimes.DefaultLimits()})
		if err != nil {
			t.Fatal(err)
		}
		t.Log(time.Since(start), j.Usage())
		j.Kill()
		t.Log(time.Since(start), j.Wait())
	}
}
