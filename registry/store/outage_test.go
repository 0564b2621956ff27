package store_test

import (
	"database/sql"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry/store/storetest"
)

// A database that refuses writes was an internal error, and the server was still ready.
func TestReady_ReadOnlyDatabase_RefusesUntilItIsWritable(t *testing.T) {
	t.Parallel()
	for d, switchTo := range map[storetest.Dialect]map[bool]string{
		storetest.SQLite:   {true: "PRAGMA query_only = 1", false: "PRAGMA query_only = 0"},
		storetest.Postgres: {true: "SET default_transaction_read_only = on", false: "SET default_transaction_read_only = off"},
	} {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			o := storetest.Options(t, d)
			o.Exclusive, o.Watch = true, time.Hour // the test checks
			s := settled(t, o)
			s.OneConnection()
			s.Check(t.Context())
			if err := s.Ready(); err != nil {
				t.Fatal(err)
			}
			if err := s.Exec(t.Context(), switchTo[true]); err != nil {
				t.Fatal(err)
			}
			expect(t, s.FinishRun(t.Context(), finished(), nil), fault.StorageUnavailable)
			expect(t, s.Ready(), fault.StorageUnavailable)
			if err := s.Exec(t.Context(), switchTo[false]); err != nil {
				t.Fatal(err)
			}
			s.Check(t.Context())
			if err := s.Ready(); err != nil {
				t.Error(err)
			}
			finish(t, s, finished())
		})
	}
}

// A probe kept the only connection of SQLite while it waited for the lock, and each refused run waited for the probe.
func TestReady_AnotherProcessHoldsTheLock_WritesDoNotWaitForTheConnection(t *testing.T) {
	t.Parallel()
	o := storetest.Options(t, storetest.SQLite)
	o.Exclusive, o.Watch = true, time.Hour // the test checks
	s := settled(t, o)
	unlock := lockAs(t, strings.TrimPrefix(o.URL, "sqlite:"))
	expect(t, s.FinishRun(t.Context(), finished(), nil), fault.StorageUnavailable)
	expect(t, s.Ready(), fault.StorageUnavailable)
	release, err := s.HoldWriter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var writes sync.WaitGroup
	for range 8 {
		writes.Go(func() { expect(t, s.FinishRun(t.Context(), finished(), nil), fault.StorageUnavailable) })
	}
	writes.Wait()
	if err := errors.Join(release(), unlock()); err != nil {
		t.Fatal(err)
	}
	s.Check(t.Context())
	if err := s.Ready(); err != nil {
		t.Error(err)
	}
	finish(t, s, finished())
}

// The error of a probe asked for the next probe at once.
func TestCheck_Locked_AsksForNoFurtherProbe(t *testing.T) {
	t.Parallel()
	o := storetest.Options(t, storetest.SQLite)
	o.Exclusive, o.Watch = true, time.Hour // the test checks
	s := settled(t, o)
	s.StopWatch()
	lockAs(t, strings.TrimPrefix(o.URL, "sqlite:"))
	for range 2 { // the second time the lock is known to be held
		s.Check(t.Context())
		expect(t, s.Ready(), fault.StorageUnavailable)
		if s.ProbeIsAsked() {
			t.Fatal("the probe asks for another probe")
		}
	}
}

// lockAs takes the lock of SQLite as another process does, until the returned function is called.
func lockAs(t *testing.T, path string) (unlock func() error) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // the test is over
	tx, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	return func() error {
		_, err := tx.ExecContext(t.Context(), "ROLLBACK")
		return err
	}
}
