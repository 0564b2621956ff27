package packages_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/atelier-run/atelier/runtimes/packages"
	"github.com/atelier-run/atelier/runtimes/packages/packagestest"
)

// TestRemains removes the temporary folder of a process that was killed, and leaves those of running processes.
func TestRemains(t *testing.T) {
	t.Parallel()
	index, dir := packagestest.NewIndex(t, greet(), shout("1.0.0")), packagestest.Dir(t)
	remains := filepath.Join(dir, "temporary", "process-killed", "lock-1")
	if err := os.MkdirAll(remains, 0o755); err != nil {
		t.Fatal(err)
	}
	install := func(name string) *packages.Manager {
		m := newManager(t, index, func(o *packages.Options) { o.Dir = dir })
		lock, err := resolve(t, m, name)
		if err != nil {
			t.Fatal(err)
		}
		_, release, err := m.Acquire(t.Context(), t.Name(), lock, func(packages.Progress) {})
		if err != nil {
			t.Fatal(err)
		}
		release()
		return m
	}
	folders := func() int {
		entries, err := os.ReadDir(filepath.Join(dir, "temporary"))
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	first := install("greet")
	if _, err := os.Stat(remains); err == nil {
		t.Error("the unfinished work of a killed process is still there")
	}
	second := install("shout") // an installed lock needs no temporary folder
	if got := folders(); got != 2 {
		t.Errorf("%d folders of two living managers", got)
	}
	first.Close()
	second.Close()
	if got := folders(); got != 0 {
		t.Errorf("%d folders are left", got)
	}
}
