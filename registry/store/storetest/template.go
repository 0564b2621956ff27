package storetest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/atelier-run/atelier/registry/blobs"
	"github.com/atelier-run/atelier/registry/store"
)

// migrated returns the bytes of an empty SQLite database to which every migration was applied. The database is created
// once per test process.
var migrated = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "atelier-storetest-")
	if err != nil {
		return nil, err
	}
	text, err := migrate(filepath.Join(dir, "atelier.db"))
	return text, errors.Join(err, os.RemoveAll(dir))
})

func migrate(path string) ([]byte, error) {
	folder, err := blobs.Open(filepath.Join(filepath.Dir(path), "blobs"))
	if err != nil {
		return nil, err
	}
	s, err := store.Open(context.Background(), store.Options{URL: "sqlite:" + path, Blobs: folder}) // the context is not that of a test, because all tests use the result
	if err != nil {
		return nil, err
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// Put writes the file of an empty SQLite database to which every migration was applied. Applying the migrations in each
// test would take longer than many tests.
func Put(tb testing.TB, path string) {
	tb.Helper()
	text, err := migrated()
	if err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		tb.Fatal(err)
	}
}
