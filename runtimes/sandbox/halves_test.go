package sandbox_test

import (
	"testing"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/doctor"
	"github.com/atelier-run/atelier/runtimes/python"
	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/runtimes/sandbox/sandboxtest"
	pool "github.com/atelier-run/atelier/runtimes/worker"
)

// TestHalfAFilterIsNoticed replaces one of the two filters of a fork server by a filter that allows every call. The
// self-test at the start of a server must report this, although the process still has two filters.
func TestHalfAFilterIsNoticed(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		mask func(*sandbox.Sandbox)
		want doctor.Verdict
	}{
		"both are there":        {func(*sandbox.Sandbox) {}, doctor.Pass},
		"the fork server's not": {func(s *sandbox.Sandbox) { s.OpenHalf(t, true) }, doctor.Fail},
		"the child's not":       {func(s *sandbox.Sandbox) { s.OpenHalf(t, false) }, doctor.Fail},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			box := sandboxtest.New(t, guestsExe(t))
			tt.mask(box)
			engine := python.New(python.Options{Jailer: pool.FromSandbox(box), Interpreter: "/usr/bin/python3"})
			t.Cleanup(engine.Close)
			report := doctor.New(doctor.Options{Box: box, Engines: []doctor.Engine{
				{Language: runtimes.Python, Name: runtimes.PythonEngine, Runtime: engine, Interpreter: "/usr/bin/python3"},
			}}).Quick(t.Context())
			found := map[string]doctor.Check{}
			for _, c := range report.Checks {
				found[c.Name] = c
			}
			if c := found["refused calls"]; c.Verdict != tt.want || c.Mechanism != sandbox.Seccomp {
				t.Errorf("%+v", c)
			}
			if c := found["privileges"]; c.Verdict != doctor.Pass {
				t.Errorf("%+v", c)
			}
		})
	}
}
