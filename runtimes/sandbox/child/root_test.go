package child

import (
	"os"
	"testing"

	"github.com/atelier-run/atelier/runtimes/sandbox/wire"
)

// TestRootRefuses sets up a root that already contains files with the names of needed directories. Each step must return
// an error, and nothing may be mounted.
func TestRootRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"f", "work"} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"disk", "proc"} {
		if err := os.Mkdir(name, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	nothing := tree{fd: -1, file: true, path: "nothing"}
	beneath := tree{fd: -1, path: "f/beneath"}
	for name, err := range map[string]error{
		"a work directory that is a file":   fillRoot(wire.Setup{Launcher: true}, nil),
		"a disk that is there":              fillRoot(wire.Setup{Disk: 1 << 20}, nil),
		"a copy of nothing":                 fillRoot(wire.Setup{}, []tree{nothing}),
		"a mount beneath a file":            fillRoot(wire.Setup{}, []tree{beneath}),
		"a file beneath a file":             fillRoot(wire.Setup{Files: map[string]string{"/f/beneath": ""}}, nil),
		"a link where something is already": fillRoot(wire.Setup{Links: map[string]string{"/f": "/work"}}, nil),
		"a proc that is there":              fillRoot(wire.Setup{Proc: true}, nil),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
