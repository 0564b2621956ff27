package store_test

import (
	"database/sql"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store/storetest"
)

// TestReady_ReadOnlyDatabase_RefusesUntilItIsWritable checks that a database that rejects writes makes writes fail with
// StorageUnavailable, and makes the server not ready.
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

// TestReady_AnotherProcessHoldsTheLock_WritesDoNotWaitForTheConnection checks that runs are refused at once while
// another process has the lock of SQLite. They must not wait for the probe, which uses the only connection while it
// waits for the lock.
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

// TestCheck_Locked_AsksForNoFurtherProbe checks that a failed probe does not request the next probe at once.
func TestCheck_Locked_AsksForNoFurtherProbe(t *testing.T) {
	t.Parallel()
	o := storetest.Options(t, storetest.SQLite)
	o.Exclusive, o.Watch = true, time.Hour // the test checks
	s := settled(t, o)
	s.StopWatch()
	lockAs(t, strings.TrimPrefix(o.URL, "sqlite:"))
	for range 2 { // at the second check, the lock is known to be taken
		s.Check(t.Context())
		expect(t, s.Ready(), fault.StorageUnavailable)
		if s.ProbeIsAsked() {
			t.Fatal("the probe asks for another probe")
		}
	}
}

// TestClose_ConnectionsWereCut_NoError checks that closing the store succeeds although its connections were already
// closed during an outage.
func TestClose_ConnectionsWereCut_NoError(t *testing.T) {
	t.Parallel()
	cluster := storetest.NewCluster(t)
	o := storetest.Options(t, storetest.Postgres)
	o.URL, o.Exclusive, o.Watch = cluster.URL, true, time.Hour // the test checks
	s := settled(t, o)
	finish(t, s, finished())
	cluster.Freeze(t)
	s.Check(t.Context())
	expect(t, s.Ready(), fault.StorageUnavailable)
	cluster.Thaw(t)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestFinishLater_DatabaseIsBack_StoredInOrder checks that results of runs that ended during an outage are stored, in
// their order, when the database works again.
func TestFinishLater_DatabaseIsBack_StoredInOrder(t *testing.T) {
	t.Parallel()
	o := storetest.Options(t, storetest.SQLite)
	o.Exclusive, o.Watch, o.Arrears = true, time.Hour, filepath.Join(t.TempDir(), "unrecorded")
	s := settled(t, o)
	s.StopWatch() // the test checks
	unlock := lockAs(t, strings.TrimPrefix(o.URL, "sqlite:"))
	var order []string
	var all []registry.Run
	for range 3 {
		run := finished()
		expect(t, s.FinishRun(t.Context(), run, events(1, 2)), fault.StorageUnavailable)
		if !s.FinishLater(run, events(1, 2), func(err error) {
			if err != nil {
				t.Error(err)
			}
			order = append(order, run.ID)
		}) {
			t.Fatal("the queue is full")
		}
		all = append(all, run)
	}
	s.Check(t.Context())
	if len(order) > 0 || s.Arrears() != 3 {
		t.Errorf("stored %v while the database is locked", order)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	s.Check(t.Context())
	if s.Arrears() != 0 || !slices.Equal(order, []string{all[0].ID, all[1].ID, all[2].ID}) {
		t.Errorf("stored %v", order)
	}
	for _, run := range all {
		if got, err := s.Run(t.Context(), ws, run.ID); err != nil || got.Status != run.Status || string(got.Output) != string(run.Output) {
			t.Errorf("found %+v, %v", got, err)
		}
		if got, err := s.Events(t.Context(), ws, run.ID, 0, 10); err != nil || len(got) != 2 {
			t.Errorf("events %v, %v", got, err)
		}
	}
}

// TestFinishLater_ServerStops_NextServerStoresTheResult checks that the next server stores waiting results before it
// marks the runs of its predecessor as interrupted.
func TestFinishLater_ServerStops_NextServerStoresTheResult(t *testing.T) {
	t.Parallel()
	o := storetest.Options(t, storetest.SQLite)
	o.Exclusive, o.Watch, o.Arrears = true, time.Hour, filepath.Join(t.TempDir(), "unrecorded")
	s := settled(t, o)
	run := finished()
	run.Stdout, run.Output = "a\x00\xff<b>", json.RawMessage(`{ "n": 12345678901234567890, "html": "<b>" }`)
	begun := run
	begun.Status, begun.FinishedAt, begun.Output, begun.Error = registry.Running, nil, nil, nil
	begin(t, s, begun)
	unlock := lockAs(t, strings.TrimPrefix(o.URL, "sqlite:"))
	if !s.FinishLater(run, events(1, 2), func(error) { t.Error("it was stored in a locked database") }) {
		t.Fatal("the queue is full")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(o.Arrears, "000000000002.json.new"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	s = settled(t, o)
	got, err := s.Run(t.Context(), ws, run.ID)
	if err != nil || got.Status != run.Status || string(got.Output) != string(run.Output) || got.Stdout != run.Stdout {
		t.Errorf("found %+v, %v", got, err)
	}
	if left, err := os.ReadDir(o.Arrears); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

// TestFinishLater_ManyRecords_MemoryThenFilesThenRefused checks that records wait in memory first and then in files,
// and that their number and size are limited. The next server stores them in their order, although the records in
// memory are the last that are written to files.
func TestFinishLater_ManyRecords_MemoryThenFilesThenRefused(t *testing.T) {
	t.Parallel()
	o := storetest.Options(t, storetest.SQLite)
	o.Exclusive, o.Watch, o.Arrears = true, time.Hour, filepath.Join(t.TempDir(), "unrecorded")
	s := settled(t, o)
	s.StopWatch() // the test checks
	const output = 64 << 10
	s.LimitArrears(3*output, 10*output, 6)
	unlock := lockAs(t, strings.TrimPrefix(o.URL, "sqlite:"))
	var all []string
	later := func() bool {
		run := finished()
		run.Output = json.RawMessage(`"` + strings.Repeat("x", output) + `"`)
		room := s.FinishLater(run, events(1, 2), func(error) { t.Error("it was stored in a locked database") })
		if room {
			all = append(all, run.ID)
		}
		return room
	}
	for later() {
	}
	if s.Arrears() != 6 {
		t.Errorf("%d records wait", s.Arrears())
	}
	if files := recordsIn(t, o.Arrears); !slices.Equal(files, all[2:]) {
		t.Errorf("the files have %v, want %v", files, all[2:])
	}
	s.LimitArrears(3*output, 6*output, 100)
	if later() {
		t.Error("the total size of the records is not limited")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if files := recordsIn(t, o.Arrears); !slices.Equal(files, all) {
		t.Errorf("after the end the files have %v, want %v", files, all)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	s = settled(t, o)
	for _, id := range all {
		if run, err := s.Run(t.Context(), ws, id); err != nil || len(run.Output) != output+2 {
			t.Errorf("found %d bytes, %v", len(run.Output), err)
		}
	}
	if files := recordsIn(t, o.Arrears); len(files) > 0 {
		t.Errorf("the files of %v were not removed", files)
	}
}

// recordsIn returns the IDs of the runs in the files of a directory, in the order of the names.
func recordsIn(t *testing.T, dir string) (ids []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		var record struct{ Run struct{ ID string } }
		text, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err == nil {
			err = json.Unmarshal(text, &record)
		}
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, record.Run.ID)
	}
	return ids
}

// TestFinishLater_RunIsInterrupted_GivenUp checks that a record is discarded if another server has marked its run as
// interrupted.
func TestFinishLater_RunIsInterrupted_GivenUp(t *testing.T) {
	t.Parallel()
	o := exclusively(t)
	first := settled(t, o)
	first.StopWatch()
	run := finished()
	begun := run
	begun.Status, begun.FinishedAt, begun.Output, begun.Error = registry.Running, nil, nil, nil
	begin(t, first, begun)
	second := takeOver(t, first, o)
	var result error
	if !first.FinishLater(run, nil, func(err error) { result = err }) {
		t.Fatal("the queue is full")
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	first.Check(t.Context())
	expect(t, result, fault.RunInterrupted)
}

// lockAs locks a SQLite database, as another process would, until the returned function is called.
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
