package doctor_test

import (
	"context"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/bash"
	"github.com/atelier-run/atelier/runtimes/doctor"
	"github.com/atelier-run/atelier/runtimes/goja"
	"github.com/atelier-run/atelier/runtimes/python"
	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/runtimes/sandbox/sandboxtest"
	"github.com/atelier-run/atelier/runtimes/worker"
)

func itoa(n int) string { return strconv.Itoa(n) }

func newBox(t *testing.T, edit ...func(*sandbox.Options)) *sandbox.Sandbox {
	t.Helper()
	o := sandbox.Options{Exe: sandboxtest.Exe(t)}
	for _, change := range edit {
		change(&o)
	}
	b, err := sandbox.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// patient returns the options of a doctor with a real sandbox and real engines, as a server has them.
func patient(t *testing.T, b *sandbox.Sandbox) doctor.Options {
	t.Helper()
	jailer := worker.FromSandbox(b)
	js := goja.New(goja.Options{Jailer: jailer})
	py := python.New(python.Options{Jailer: jailer, Interpreter: "/usr/bin/python3"})
	sh := bash.New(bash.Options{Jailer: jailer, Interpreter: "/usr/bin/bash"})
	t.Cleanup(func() { js.Close(); py.Close(); sh.Close() })
	return doctor.Options{
		Box: b, Binary: sandboxtest.Exe(t),
		Engines: []doctor.Engine{
			{Language: runtimes.JavaScript, Name: runtimes.Goja, Runtime: js},
			{Language: runtimes.Python, Name: runtimes.PythonEngine, Runtime: py, Interpreter: "/usr/bin/python3"},
			{Language: runtimes.Bash, Name: runtimes.BashEngine, Runtime: sh, Interpreter: "/usr/bin/bash"},
		},
	}
}

// bad returns the checks that did not pass, by language and name.
func bad(r doctor.Report) map[string]doctor.Check {
	all := map[string]doctor.Check{}
	for _, c := range r.Checks {
		if c.Verdict != doctor.Pass {
			all[strings.TrimPrefix(string(c.Language)+": "+c.Name, ": ")] = c
		}
	}
	return all
}

// TestThisMachine checks that a full report of this machine has no failures. Only the protections that the sandbox
// reports as missing may be reduced.
func TestThisMachine(t *testing.T) {
	b := newBox(t)
	if b.Level().Level == sandbox.LevelNone {
		t.Skip(b.Level().Missing[0])
	}
	report := doctor.New(patient(t, b)).Full(t.Context())
	lacks := map[string]bool{}
	for _, lack := range b.Level().Lacks {
		lacks[lack.Mechanism] = true
	}
	for name, c := range bad(report) {
		if c.Verdict == doctor.Fail || c.Group != doctor.Environment && c.Group != doctor.Speed && !lacks[c.Mechanism] {
			t.Errorf("%s: %+v", name, c)
		}
	}
	if report.Passed < 90 {
		t.Errorf("only %d checks passed", report.Passed)
	}
	t.Logf("%s: %d passed, %d reduced in %d ms, isolation %s", report.Verdict, report.Passed, report.Reduced, report.TookMs, report.Level)
}

// TestQuick checks that the report at a server's start has no failures.
func TestQuick(t *testing.T) {
	t.Parallel()
	report := doctor.New(patient(t, newBox(t))).Quick(t.Context())
	if report.Failed > 0 || report.Passed < 15 {
		t.Errorf("%+v", bad(report))
	}
	t.Logf("%d checks in %d ms", len(report.Checks), report.TookMs)
}

// TestMasked removes one protection after the other from real sandboxes. The doctor must report each and name the right
// fix.
func TestMasked(t *testing.T) {
	t.Parallel()
	own := map[string]bool{} // protections that this host lacks anyway
	for _, lack := range newBox(t).Level().Lacks {
		own[lack.Mechanism] = true
	}
	tests := map[string]struct {
		without, allow []string
		verdict        doctor.Verdict
		checks         []string // checks that must not pass
		fix            string   // fix of the first of these checks
	}{
		"namespaces": {without: []string{sandbox.Namespaces}, verdict: doctor.Fail, checks: []string{"sandbox: namespaces"}, fix: "seccomp profile"},
		"seccomp":    {without: []string{sandbox.Seccomp}, verdict: doctor.Fail, checks: []string{"sandbox: seccomp"}, fix: "--allow-weak-sandbox=seccomp"},
		"seccomp, allowed": {without: []string{sandbox.Seccomp}, allow: []string{sandbox.Seccomp}, verdict: doctor.Reduced, fix: "CONFIG_SECCOMP_FILTER", checks: []string{
			"sandbox: seccomp", "python: privileges", "python: refused calls", "bash: privileges", "filter of programs", "filter of workers", "filter of compilers", "calls by another table", "python: calls of a program",
		}},
		"landlock": {without: []string{sandbox.Landlock}, verdict: doctor.Reduced, checks: []string{"sandbox: landlock", "landlock"}, fix: "lsm="},
		"cgroups":  {without: []string{sandbox.Cgroups}, verdict: doctor.Reduced, checks: []string{"sandbox: cgroups", "control groups"}, fix: "Delegate=yes"},
		"proc": {without: []string{sandbox.Proc}, verdict: doctor.Reduced, fix: "systempaths=unconfined", checks: []string{
			"sandbox: proc", "python: privileges", "python: processes", "python: mounts", "python: network interfaces", "bash: privileges",
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t, func(o *sandbox.Options) { o.Without, o.AllowWeak = tt.without, tt.allow })
			o := patient(t, b)
			o.Only = []doctor.Group{doctor.Inside, doctor.Syscalls}
			if name == "landlock" { // other protections still isolate the two workspaces
				o.Only = append(o.Only, doctor.Canaries)
			}
			report := doctor.New(o).Full(t.Context())
			found := bad(report)
			if report.Verdict != tt.verdict {
				t.Errorf("%s: %+v", report.Verdict, found)
			}
			for i, check := range tt.checks {
				c, ok := found[check]
				if !ok || c.Fix == "" || i == 0 && !strings.Contains(c.Fix, tt.fix) {
					t.Errorf("%s: %+v", check, c)
				}
			}
			for check, c := range found {
				if c.Group != doctor.Environment && !own[c.Mechanism] && !strings.Contains(strings.Join(tt.without, " "), c.Mechanism) {
					t.Errorf("it did not pass for another reason: %s: %+v", check, c)
				}
			}
		})
	}
}

// sick is a runtime whose runs all fail.
type sick struct{ runtimes.Runtime }

func (sick) Run(context.Context, runtimes.Job, runtimes.Host) (runtimes.Outcome, error) {
	return runtimes.Outcome{}, os.ErrClosed
}

// TestControlsCanFail checks that languages whose programs do not run make the report fail, and that a missing language
// reduces it. Otherwise a sandbox that blocks everything would pass.
func TestControlsCanFail(t *testing.T) {
	t.Parallel()
	report := doctor.New(doctor.Options{Box: box(sandbox.LevelFull), Look: goodFacts, Engines: []doctor.Engine{
		{Language: runtimes.Python, Name: runtimes.PythonEngine, Runtime: sick{}, Interpreter: "/usr/bin/python3"},
		{Language: runtimes.JavaScript, Name: runtimes.Goja, Runtime: sick{}},
		{Language: runtimes.Bash, Name: runtimes.BashEngine, Unavailable: "Install bash."},
	}}).Full(t.Context())
	found := bad(report)
	if report.Verdict != doctor.Fail || found["python: an ordinary program"].Verdict != doctor.Fail || found["javascript: an ordinary program"].Verdict != doctor.Fail {
		t.Errorf("%+v", found)
	}
	if c := found["bash: an ordinary program"]; c.Verdict != doctor.Reduced || c.Fix != "Install bash." {
		t.Errorf("%+v", c)
	}
	quick := doctor.New(doctor.Options{Box: box(sandbox.LevelFull), Engines: []doctor.Engine{{Language: runtimes.Python, Name: runtimes.PythonEngine, Runtime: sick{}}}}).Quick(t.Context())
	if quick.Verdict != doctor.Fail || !quick.Checks[0].Works() {
		t.Errorf("%+v", quick)
	}
}
