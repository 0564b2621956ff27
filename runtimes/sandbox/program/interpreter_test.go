package program_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/runtimes/sandbox/program"
)

// TestHomeStaysHidden checks that for an interpreter in a home directory only its installation is mounted, not the home
// directory.
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

// TestVersion checks that the version is read from the file name to which python3 links, without starting the program.
func TestVersion(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"python3.11": "3.11", "python3": "", "python3.11-config": "", "node": ""} {
		dir := filepath.Join(t.TempDir(), "bin")
		link := filepath.Join(dir, "start")
		if err := errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(filepath.Join(dir, name), []byte("#!"), 0o755), os.Symlink(name, link)); err != nil {
			t.Fatal(err)
		}
		if found, err := program.FindInterpreter(link); err != nil || found.Version != want {
			t.Errorf("%s is %q, %v", name, found.Version, err)
		}
	}
}

// TestNoInterpreter checks that an interpreter is refused with the reason if it is unusable, or if its mounts would show
// too many files of the host.
func TestNoInterpreter(t *testing.T) {
	t.Parallel()
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	private := filepath.Join(t.TempDir(), "private")
	if err := os.WriteFile(private, []byte("#!"), 0o700); err != nil {
		t.Fatal(err)
	}
	lonely := filepath.Join(t.TempDir(), "python3") // not in the bin directory of an installation
	if err := os.WriteFile(lonely, []byte("#!"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{lonely, "", "python3", "./python3", "/nowhere/python3", "/usr", plain, private} {
		if found, err := program.FindInterpreter(path); err == nil {
			t.Errorf("%q is %+v", path, found)
		}
	}
	link := filepath.Join(t.TempDir(), "python3") // the jail has the target, but not the link
	if err := os.Symlink("/usr/bin/env", link); err != nil {
		t.Fatal(err)
	}
	if found, err := program.FindInterpreter(link); err != nil || found.Path == link {
		t.Errorf("a link is %+v, %v", found, err)
	}
}
