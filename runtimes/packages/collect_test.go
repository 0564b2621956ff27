package packages_test

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/atelier-run/atelier/runtimes/packages"
	"github.com/atelier-run/atelier/runtimes/packages/packagestest"
)

// TestCollectArchives_OtherWorkspaces_Kept checks that one workspace neither lists nor removes the private archives of
// another.
func TestCollectArchives_OtherWorkspaces_Kept(t *testing.T) {
	t.Parallel()
	dir := packagestest.Dir(t)
	m := packages.New(packages.Options{Dir: dir})
	t.Cleanup(m.Close)
	for _, name := range []string{"sha256-00", "mine/sha256-01", "other/sha256-02"} {
		path := filepath.Join(dir, "archives", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("1"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := []packages.Archive{{Name: "sha256:01", Bytes: 1}, {Name: "sha256:00", Bytes: 1}}
	for _, dry := range []bool{true, false} {
		got, err := m.CollectArchives(time.Now().Add(time.Hour), "mine", nil, dry)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("dry %v: %v, %v", dry, got, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "archives", "other", "sha256-02")); err != nil {
		t.Error(err)
	}
}

// TestCollectArchives_Concurrent calls CollectArchives concurrently. No call may fail because another one removed an
// archive first.
func TestCollectArchives_Concurrent(t *testing.T) {
	t.Parallel()
	dir := packagestest.Dir(t)
	m := packages.New(packages.Options{Dir: dir})
	t.Cleanup(m.Close)
	if err := os.MkdirAll(filepath.Join(dir, "archives"), 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range 500 {
		if err := os.WriteFile(filepath.Join(dir, "archives", "sha256-"+time.Duration(i).String()), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if _, err := m.CollectArchives(time.Now().Add(time.Hour), "mine", nil, false); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}
