package program_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/runtimes/sandbox/program"
)

// TestHomeStaysHidden: an interpreter in somebody's home brings the installation around it, not the home.
func TestHomeStaysHidden(t *testing.T) {
	t.Parallel()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"bin", "lib/python3", ".ssh", "documents"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(home, "bin", "python3")
	if err := os.WriteFile(path, []byte("#!"), 0o755); err != nil {
		t.Fatal(err)
	}
	found, err := program.FindInterpreter(path)
	if err != nil {
		t.Fatal(err)
	}
	want := program.Interpreter{Path: path, Mounts: []sandbox.Mount{
		{Host: "/usr", Path: "/usr"}, {Host: home + "/bin", Path: home + "/bin"}, {Host: home + "/lib", Path: home + "/lib"},
	}}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Error(diff)
	}
}
