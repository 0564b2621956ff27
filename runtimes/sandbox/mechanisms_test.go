package sandbox_test

import (
	"strings"
	"testing"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes/sandbox"
)

// TestWithoutMechanism simulates hosts that lack a mechanism. A missing required mechanism prevents every jail, and the
// error names the flag that accepts this. A missing optional mechanism is only reported.
func TestWithoutMechanism(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		without, allow []string
		level          string
		told           string // part of the first sentence
		isolation      string // part of the isolation stored with a run
	}{
		"namespaces":          {without: []string{sandbox.Namespaces}, level: sandbox.LevelNone, told: "refuses new namespaces", isolation: "none"},
		"seccomp":             {without: []string{sandbox.Seccomp}, level: sandbox.LevelNone, told: "--allow-weak-sandbox=seccomp", isolation: "none"},
		"seccomp, allowed":    {without: []string{sandbox.Seccomp}, allow: []string{sandbox.Seccomp}, level: sandbox.LevelReduced, told: "not filtered", isolation: "seccomp"},
		"landlock":            {without: []string{sandbox.Landlock}, level: sandbox.LevelReduced, told: "landlock", isolation: "landlock"},
		"cgroups":             {without: []string{sandbox.Cgroups}, level: sandbox.LevelReduced, told: "", isolation: "cgroups"},
		"proc":                {without: []string{sandbox.Proc}, level: sandbox.LevelReduced, told: "", isolation: "proc"},
		"all that may":        {without: []string{sandbox.Proc, sandbox.Cgroups, sandbox.Landlock, sandbox.Seccomp}, allow: []string{sandbox.Seccomp}, level: sandbox.LevelReduced, told: "not filtered", isolation: "seccomp"},
		"allowed but present": {allow: []string{sandbox.Seccomp}, level: "", isolation: ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			box, err := sandbox.New(t.Context(), sandbox.Options{Exe: hostileExe(t), Without: tt.without, AllowWeak: tt.allow})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = box.Close() })
			level := box.Level()
			if tt.level != "" && (level.Level != tt.level || !strings.Contains(level.Missing[0], tt.told)) || !strings.Contains(level.String(), tt.isolation) {
				t.Fatalf("%+v, kept as %s", level, level)
			}
			if len(tt.without) == 0 && (len(level.Weak()) > 0 || strings.Contains(level.String(), sandbox.Seccomp)) {
				t.Errorf("a working mechanism is reported as missing: %+v", level)
			}
			for _, profile := range []sandbox.Profile{program(limits()), worker(limits())} {
				if tt.level == sandbox.LevelNone {
					if _, err := box.Prepare(t.Context(), profile); fault.CodeOf(err) != fault.SandboxUnavailable || !strings.Contains(err.Error(), tt.told) {
						t.Errorf("prepared with %v", err)
					}
					continue
				}
				jail(t, box, profile).do(t, request{Do: "environ"})
			}
		})
	}
}

// TestWithoutMechanismForReal checks that a program really has no seccomp filter if Options.Without names it. Other tests
// rely on that.
func TestWithoutMechanismForReal(t *testing.T) {
	t.Parallel()
	box, err := sandbox.New(t.Context(), sandbox.Options{Exe: hostileExe(t), Without: []string{sandbox.Seccomp}, AllowWeak: []string{sandbox.Seccomp}})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	if text := jail(t, box, program(limits())).run(t, "/usr/bin/cat", "/proc/self/status").Text; statusField(text, "Seccomp") != "0" {
		t.Errorf("Seccomp is %q", statusField(text, "Seccomp"))
	}
}

func TestMechanismsHaveNames(t *testing.T) {
	t.Parallel()
	for _, options := range []sandbox.Options{{Without: []string{"gravity"}}, {AllowWeak: []string{sandbox.Namespaces}}} {
		if _, err := sandbox.New(t.Context(), options); err == nil {
			t.Errorf("%+v was accepted", options)
		}
	}
}
