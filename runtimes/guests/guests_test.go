package guests_test

import (
	"testing"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/guests"
	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/runtimes/sandbox/sandboxtest"
)

func TestOrdinaryArguments(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"atelier"}, {"atelier", "serve"}, nil} {
		if _, jailed := guests.Main(args); jailed {
			t.Errorf("%q is taken for a jailed process", args)
		}
	}
}

// TestRoles starts a sandbox for each role and ends it without a job.
func TestRoles(t *testing.T) {
	t.Parallel()
	box := sandboxtest.New(t, sandboxtest.Exe(t))
	for role, profile := range map[string]sandbox.Profile{
		"program": {Filter: sandbox.FilterProgram, Launcher: "program"},
		"goja":    {Filter: sandbox.FilterWorker},
		"wasm":    {Filter: sandbox.FilterCompiler},
	} {
		t.Run(role, func(t *testing.T) {
			profile.Role, profile.Limits = role, runtimes.DefaultLimits()
			j, err := box.Prepare(t.Context(), profile)
			if err != nil {
				t.Fatal(err)
			}
			if err := j.Conn().Close(); err != nil {
				t.Error(err)
			}
			if exit := j.Wait(); exit.Signal != 0 && role != "program" { // a child's child has no role
				t.Errorf("ended with %+v", exit)
			}
		})
	}
}
