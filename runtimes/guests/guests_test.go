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
		if guests.Main(args) {
			t.Errorf("%q is taken for a jailed process", args)
		}
	}
}

// TestRoles sets up a jail for each role and ends it without a job.
func TestRoles(t *testing.T) {
	t.Parallel()
	box := sandboxtest.New(t, sandboxtest.Exe(t))
	for role, filter := range map[string]sandbox.Filter{"program": sandbox.FilterProgram, "goja": sandbox.FilterWorker} {
		t.Run(role, func(t *testing.T) {
			j, err := box.Prepare(t.Context(), sandbox.Profile{Role: role, Filter: filter, Limits: runtimes.DefaultLimits()})
			if err != nil {
				t.Fatal(err)
			}
			if err := j.Conn().Close(); err != nil {
				t.Error(err)
			}
			if exit := j.Wait(); exit.Signal != 0 {
				t.Errorf("ended with %+v", exit)
			}
		})
	}
}
