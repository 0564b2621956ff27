// Package storetest provides a real store on each database for tests: SQLite in a file, and PostgreSQL in a separate
// database on a real server.
package storetest

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/registry/blobs"
	"github.com/atelier-run/atelier/registry/store"
)

// Dialect is a kind of database.
type Dialect string

// These are the values of Dialect.
const (
	SQLite   Dialect = "sqlite"
	Postgres Dialect = "postgres"
)

// Each runs a test once on each database.
func Each(t *testing.T, test func(t *testing.T, s *store.Store)) {
	t.Helper()
	for _, d := range []Dialect{SQLite, Postgres} {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			test(t, Open(t, d))
		})
	}
}

// Open returns an empty store and closes it when the test ends.
func Open(tb testing.TB, d Dialect) *store.Store {
	tb.Helper()
	o := Options(tb, d)
	if path, ok := strings.CutPrefix(o.URL, "sqlite:"); ok {
		Put(tb, path)
	}
	return Reopen(tb, o)
}

// Options returns the options for a new and empty database. It is for tests that open the database more than once.
func Options(tb testing.TB, d Dialect) store.Options {
	tb.Helper()
	dir := tb.TempDir()
	folder, err := blobs.Open(filepath.Join(dir, "blobs"))
	if err != nil {
		tb.Fatal(err)
	}
	if d == Postgres {
		return store.Options{URL: newDatabase(tb), Blobs: folder}
	}
	return store.Options{URL: "sqlite:" + filepath.Join(dir, "atelier.db"), Blobs: folder}
}

// Reopen opens a store and closes it when the test ends. The test may close it earlier.
func Reopen(tb testing.TB, o store.Options) *store.Store {
	tb.Helper()
	s, err := store.Open(tb.Context(), o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Errorf("close store: %v", err)
		}
	})
	return s
}
