package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestHidden checks that hidden finds the private files below mounts if the server's user is not root.
func TestHidden(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	private, open := filepath.Join(dir, "private"), filepath.Join(dir, "open")
	err := errors.Join(
		os.Mkdir(open, 0o755), os.Mkdir(private, 0o700), os.WriteFile(filepath.Join(private, "beneath"), nil, 0o644),
		os.WriteFile(filepath.Join(open, "key"), nil, 0o600), os.WriteFile(filepath.Join(open, "page"), nil, 0o644),
		os.Symlink("key", filepath.Join(open, "link")), os.Chmod(open, 0o755),
	)
	if err != nil {
		t.Fatal(err)
	}
	box := &Sandbox{ids: &ids{}, private: privatePaths{found: map[Mount][]string{}}}
	mount := Mount{Host: dir, Path: "/files"}
	found, err := box.hidden([]Mount{mount, {Host: dir, Path: "/models", Private: true}, {Host: filepath.Join(dir, "nowhere"), Path: "/nowhere"}})
	if want := []string{"/files/open/key", "/files/private"}; err != nil || !slices.Equal(found, want) {
		t.Errorf("%v, %v, want %v", found, err, want)
	}
	for i := range maxHidden {
		if err := os.WriteFile(filepath.Join(open, fmt.Sprint("key", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if again, err := box.hidden([]Mount{mount}); err != nil || len(again) != 2 {
		t.Errorf("searched again: %v, %v", again, err)
	}
	if _, err := box.hidden([]Mount{{Host: dir, Path: "/more"}}); err == nil || !strings.Contains(err.Error(), "chmod -R o+rX") {
		t.Errorf("a jail with too many hidden files: %v", err)
	}
	box.ids.pool = true
	if found, err := box.hidden([]Mount{mount}); err != nil || found != nil {
		t.Errorf("programs of their own user: %v, %v", found, err)
	}
}

// TestUsr checks which paths of /usr are in the view of programs.
func TestUsr(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"/usr/bin/python3": true, "/usr/local/bin/node": true, "/usr/share/zoneinfo/UTC": true, "/usr/lib": false, "/usr/local/etc/npmrc": false,
		"/usr/local/pyenv/bin/python3": false, "/usr/libexec/x": true, "/usr/library": false, "/opt/usr/bin/x": false, "/usr/share/doc/x": false,
	} {
		if InUsr(path) != want {
			t.Errorf("%s is in the view: %v", path, !want)
		}
	}
	parts, _ := splitUsr([]Mount{{Host: "/opt/usr", Path: "/usr"}})
	if len(parts) != 1 {
		t.Errorf("another directory at /usr became %v", parts)
	}
}
