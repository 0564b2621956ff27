package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/registry/store/storetest"
)

// TestADatabaseHasOneServer checks that a second server cannot open a database. It would mark the runs of the first
// server as interrupted, and their results would be discarded.
func TestADatabaseHasOneServer(t *testing.T) {
	t.Parallel()
	for _, d := range []storetest.Dialect{storetest.SQLite, storetest.Postgres} {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			o := storetest.Options(t, d)
			o.Exclusive = true
			first := storetest.Reopen(t, o)
			if _, err := store.Open(t.Context(), o); !errors.Is(err, store.ErrInUse) {
				t.Fatalf("opened a second time: %v", err)
			}
			finish(t, first, finished())
			if err := first.Close(); err != nil {
				t.Fatal(err)
			}
			storetest.Reopen(t, o)
		})
	}
}

func TestOpen_SQLiteFileByAnotherPath_InUse(t *testing.T) {
	t.Parallel()
	for name, link := range map[string]func(string, string) error{"symbolic link": os.Symlink, "hard link": os.Link} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := storetest.Options(t, storetest.SQLite)
			o.Exclusive = true
			first := storetest.Reopen(t, o)
			other := filepath.Join(t.TempDir(), "other.db")
			if err := link(strings.TrimPrefix(o.URL, "sqlite:"), other); err != nil {
				t.Fatal(err)
			}
			again := o
			again.URL = "sqlite:" + other
			if _, err := store.Open(t.Context(), again); !errors.Is(err, store.ErrInUse) {
				t.Fatalf("opened a second time: %v", err)
			}
			finish(t, first, finished())
		})
	}
}

// settled opens a store and settles it, as a server does.
func settled(t *testing.T, o store.Options) *store.Store {
	t.Helper()
	s := storetest.Reopen(t, o)
	if _, err := s.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// takeOver ends the connection that holds a store's lock, as a restart of PostgreSQL does, and opens the database
// again.
func takeOver(t *testing.T, first *store.Store, o store.Options) *store.Store {
	t.Helper()
	if err := first.Exec(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"); err != nil {
		t.Fatal(err)
	}
	return settled(t, o)
}

func exclusively(t *testing.T) store.Options {
	t.Helper()
	o := storetest.Options(t, storetest.Postgres)
	o.Exclusive, o.Watch = true, time.Hour // the test calls Check itself
	return o
}

func TestFinishRun_AnotherServerTookOver_RunInterrupted(t *testing.T) {
	t.Parallel()
	o := exclusively(t)
	first := settled(t, o)
	working, logging, short := queued(), queued(), finished()
	begin(t, first, working)
	begin(t, first, logging)
	second := takeOver(t, first, o)
	done := working
	done.Status = registry.Succeeded
	expect(t, first.FinishRun(t.Context(), done, events(1, 2)), fault.RunInterrupted)
	expect(t, first.FinishRun(t.Context(), done, nil), fault.RunInterrupted)
	expect(t, first.AppendEvents(t.Context(), ws, logging.ID, events(1, 2)), fault.RunInterrupted)
	expect(t, first.AppendEvents(t.Context(), ws, newID(), events(1, 2)), fault.NotFound)
	for _, id := range []string{working.ID, logging.ID} {
		if got := read(t, second, id); got.Status != registry.StatusInterrupted {
			t.Errorf("recorded is %s", got.Status)
		}
		if got, err := second.Events(t.Context(), ws, id, 0, 0); err != nil || len(got) > 0 {
			t.Errorf("events of an interrupted run: %v, %v", got, err)
		}
	}
	finish(t, first, short) // the run is stored only when it finishes, and no other server knows it
	late := queued()
	begin(t, first, late)
	if _, err := second.InterruptRuns(t.Context(), start); err != nil {
		t.Fatal(err)
	}
	late.Status = registry.Succeeded
	expect(t, first.FinishRun(t.Context(), late, nil), fault.RunInterrupted)
}

func TestFinishRun_Repeated_Accepted(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		run := finish(t, s, finished(), events(1, 2)...)
		finish(t, s, run, events(1, 3)...)
		if got, err := s.Events(t.Context(), ws, run.ID, 0, 0); err != nil || len(got) != 2 {
			t.Errorf("%d events, %v", len(got), err)
		}
	})
}

func TestReady_LockLost_RefusesUntilTakenAgain(t *testing.T) {
	t.Parallel()
	o := exclusively(t)
	first := settled(t, o)
	run := queued()
	begin(t, first, run)
	second := takeOver(t, first, o)
	first.Check(t.Context())
	expect(t, first.Ready(), fault.StorageUnavailable)
	if err := second.Ready(); err != nil {
		t.Errorf("the second server: %v", err)
	}
	left := queued()
	begin(t, second, left)
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	for first.Ready() != nil { // PostgreSQL ends a session a moment after it is closed
		first.Check(t.Context())
		runtime.Gosched()
	}
	if got := read(t, first, left.ID); got.Status != registry.StatusInterrupted {
		t.Errorf("the status of a run of the second server is %s", got.Status)
	}
	finish(t, first, finished())
}

func TestCheck_LockTakenAgainByTheSameServer_RunsGoOn(t *testing.T) {
	t.Parallel()
	o := exclusively(t)
	s := settled(t, o)
	run := queued()
	begin(t, s, run)
	if err := s.DropLock(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Check(t.Context())
	if err := s.Ready(); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Open(t.Context(), o); !errors.Is(err, store.ErrInUse) {
		t.Errorf("opened a second time: %v", err)
	}
	run.Status = registry.Succeeded
	finish(t, s, run)
}
