package store_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/registry/store/storetest"
)

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte(strings.Repeat("this is no database\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	blobs := folder(t, filepath.Join(dir, "blobs"))
	for name, address := range map[string]string{
		"nothing":            "",
		"another database":   "mysql://localhost/x",
		"no path":            "sqlite:",
		"memory":             "sqlite::memory:",
		"memory as a file":   "sqlite:file::memory:?cache=shared",
		"missing directory":  "sqlite:" + filepath.Join(dir, "no", "such", "dir", "a.db"),
		"directory":          "sqlite:" + dir,
		"no database":        "sqlite:" + text,
		"unreachable server": "postgres://user:s3cret@127.0.0.1:1/x?connect_timeout=2",
		"malformed address":  "postgres://user:s3cret@127.0.0.1:port/x",
	} {
		_, err := store.Open(t.Context(), store.Options{URL: address, Blobs: blobs})
		if err == nil {
			t.Errorf("%s: opened", name)
		} else if strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: the error has the password: %v", name, err)
		}
	}
	if _, err := store.Open(t.Context(), store.Options{URL: "sqlite:" + filepath.Join(dir, "a.db")}); err == nil {
		t.Error("opened without a blob store")
	}
}

func TestSQLiteTakesAnyPathAndKeepsItPrivate(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "what? 100% #1 & Ü")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "a b?.db")
	s := storetest.Reopen(t, store.Options{URL: "sqlite:" + path, Blobs: folder(t, filepath.Join(dir, "blobs"))})
	finish(t, s, finished())
	for _, name := range []string{path, path + "-wal"} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %s", name, info.Mode())
		}
	}
}

// TestDatabasesAreDurable checks the settings for a power failure, which no test can simulate.
func TestDatabasesAreDurable(t *testing.T) {
	t.Parallel()
	tests := map[storetest.Dialect]map[string]string{
		storetest.SQLite:   {"PRAGMA journal_mode": "wal", "PRAGMA synchronous": "2", "PRAGMA foreign_keys": "1", "PRAGMA busy_timeout": "10000"},
		storetest.Postgres: {"SHOW synchronous_commit": "on"},
	}
	for d, settings := range tests {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			o := storetest.Options(t, d)
			if d == storetest.Postgres {
				o.URL += "&options=-c%20synchronous_commit%3Doff" // as an administrator could set it by mistake
			}
			s := storetest.Reopen(t, o)
			for setting, want := range settings {
				got, err := s.Value(context.Background(), setting)
				if err != nil || got != want {
					t.Errorf("%s is %q, not %q: %v", setting, got, want, err)
				}
			}
		})
	}
}

// TestRunsWriteNoTemporaryFiles checks that the undo log of shared transactions stays in memory.
func TestRunsWriteNoTemporaryFiles(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, storetest.SQLite)
	for _, when := range []string{"at first", "on another connection"} {
		if got, err := s.Value(t.Context(), "PRAGMA temp_store"); err != nil || got != "2" {
			t.Errorf("%s temp_store is %q, not 2 (memory): %v", when, got, err)
		}
		if err := s.LoseWriter(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}
