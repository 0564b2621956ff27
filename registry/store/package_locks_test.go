package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/registry/store/storetest"
	"github.com/atelier-run/atelier/runtimes"
)

// TestPackageLocks checks that locks can be stored, replaced, marked as used and removed, and that another workspace
// does not see them.
func TestPackageLocks(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ctx := t.Context()
		lock := registry.PackageLock{Workspace: "w", AgentID: "a", List: "sha256:1", CreatedAt: start, UsedAt: start, Lock: runtimes.Lock{
			Ecosystem: runtimes.PyPI, Platform: "cp311", Packages: []runtimes.LockedPackage{{Name: "x", Version: "1", Hash: "sha256:00", URL: "https://x.test/x.whl"}},
		}}
		if err := s.PutPackageLock(ctx, lock); err != nil {
			t.Fatal(err)
		}
		lock.Lock.Packages[0].Version = "2"
		if err := s.PutPackageLock(ctx, lock); err != nil {
			t.Fatal(err)
		}
		found, ok, err := s.PackageLock(ctx, "w", "a", "sha256:1")
		if diff := cmp.Diff(lock, found); diff != "" || !ok || err != nil {
			t.Error(ok, err, diff)
		}
		if _, ok, err := s.PackageLock(ctx, "other", "a", "sha256:1"); ok || err != nil {
			t.Error("another workspace has the lock", err)
		}
		if all, err := s.PackageLocks(ctx, "other"); len(all) != 0 || err != nil {
			t.Error(all, err)
		}
		later := start.Add(time.Hour)
		if err := s.UsePackageLock(ctx, "w", "a", "sha256:1", later); err != nil {
			t.Fatal(err)
		}
		for _, before := range []time.Time{later, later.Add(time.Second)} {
			if err := s.DropPackageLocks(ctx, "other", before); err != nil {
				t.Fatal(err)
			}
			if err := s.DropPackageLocks(ctx, "w", before); err != nil {
				t.Fatal(err)
			}
			all, err := s.PackageLocks(ctx, "w")
			if kept := before.Equal(later); (len(all) == 1) != kept || err != nil {
				t.Errorf("dropped before %v: %v, %v", before, all, err)
			}
		}
	})
}

// TestVersionLocks_OnlyVersionsWithALock_Listed checks that only versions with a lock are found. The type of the
// searched column differs between the databases.
func TestVersionLocks_OnlyVersionsWithALock_Listed(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		a := create(t, s, agent("weather"))
		publish(t, s, a, "1.0.0")
		v := version(a, "1.1.0")
		v.Lock = &runtimes.Lock{Ecosystem: runtimes.PyPI, Platform: "cp311", Packages: []runtimes.LockedPackage{{Name: "requests", Version: "2.32.3", Hash: "sha256:1", URL: "u"}}}
		if err := s.InsertVersion(t.Context(), ws, v); err != nil {
			t.Fatal(err)
		}
		locks, err := s.VersionLocks(t.Context(), ws)
		if err != nil || len(locks) != 1 || locks[0].Version != "1.1.0" || locks[0].Agent != "weather" || len(locks[0].Lock.Packages) != 1 {
			t.Errorf("%+v, %v", locks, err)
		}
	})
}
