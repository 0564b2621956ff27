package packages_test

import (
	"strings"
	"testing"
	"time"

	"github.com/atelier-run/atelier/runtimes"
	mechanism "github.com/atelier-run/atelier/runtimes/packages"
	"github.com/atelier-run/atelier/studio/packages"
)

// Packages that are blocked or not allowed must be rejected before anything is downloaded. The rules of other
// workspaces must not apply.
func TestRules(t *testing.T) {
	t.Parallel()
	s := packages.New(packages.Options{
		Manager: mechanism.New(mechanism.Options{}), Now: time.Now,
		Block: []packages.Rule{{Name: "evil*"}, {Ecosystem: "npm", Name: "left-pad"}, {Name: "requests", Version: "2.31.*"}, {Workspace: "strict", Name: "numpy"}},
		Allow: []packages.Rule{{Workspace: "listed", Name: "requests"}, {Workspace: "listed", Name: "@acme/*"}},
	})
	for _, tt := range []struct {
		workspace     string
		ecosystem     runtimes.Ecosystem
		name, version string
		refused       bool
	}{
		{"w", runtimes.PyPI, "evil-twin", "1", true},
		{"w", runtimes.PyPI, "good", "1", false},
		{"w", runtimes.NPM, "left-pad", "1", true},
		{"w", runtimes.PyPI, "left-pad", "1", false},
		{"w", runtimes.PyPI, "requests", "2.31.0", true},
		{"w", runtimes.PyPI, "requests", "2.32.3", false},
		{"strict", runtimes.PyPI, "numpy", "1", true},
		{"w", runtimes.PyPI, "numpy", "1", false},
		{"listed", runtimes.PyPI, "requests", "2.32.3", false},
		{"listed", runtimes.NPM, "@acme/tool", "1", false},
		{"listed", runtimes.NPM, "@other/tool", "1", true},
		{"listed", runtimes.PyPI, "numpy", "1", true},
		{"w", runtimes.NPM, "event-stream", "3.3.6", true},
		{"w", runtimes.NPM, "event-stream", "3.3.5", false},
		{"w", runtimes.PyPI, "event-stream", "3.3.6", false},
		{"w", runtimes.PyPI, "jeIlyfish", "0.7.1", true},
	} {
		lock := runtimes.Lock{Ecosystem: tt.ecosystem, Packages: []runtimes.LockedPackage{{Name: tt.name, Version: tt.version}}}
		_, _, err := s.Install(t.Context(), tt.workspace, lock, func(packages.Step) {})
		if refused := err != nil && strings.Contains(err.Error(), "in this workspace") || err != nil && strings.Contains(err.Error(), "may use"); refused != tt.refused {
			t.Errorf("%+v: %v", tt, err)
		}
	}
}
