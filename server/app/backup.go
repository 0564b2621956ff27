package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/atelier-run/atelier/internal/config"
	"github.com/atelier-run/atelier/internal/vault"
	"github.com/atelier-run/atelier/registry/backup"
	"github.com/atelier-run/atelier/registry/blobs"
	"github.com/atelier-run/atelier/registry/store"
)

// CreateBackup writes a backup of the configured server to the new folder dir. The server may be running. If keys is
// not "", it also copies the encryption keys of secrets to the file keys.
func CreateBackup(ctx context.Context, c config.Config, dir, keys, version string, log *slog.Logger) (m backup.Manifest, err error) {
	if err := keysApart(c, dir, keys); err != nil {
		return m, err
	}
	files, err := openBlobs(ctx, c)
	if err != nil {
		return m, err
	}
	s, err := openShared(ctx, c, files, log)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := backup.Begin(dir); err != nil {
		return m, err
	}
	m.CreatedAt, m.Version = time.Now().UTC().Truncate(time.Second), version
	if m.Snapshot, err = s.WriteSnapshot(ctx, filepath.Join(dir, backup.Database)); err != nil {
		return m, err
	}
	// The files of a version are stored before the version and never change, so they can be copied after the database.
	if err := copyBlobs(ctx, s, filepath.Join(dir, backup.Blobs), m.Snapshot.Blobs); err != nil {
		return m, err
	}
	if err := backup.CopyFolder(skillsFolder(c), filepath.Join(dir, backup.Skills)); err != nil {
		return m, fmt.Errorf("copy the skills: %w", err)
	}
	if keys != "" {
		path, _ := keysPath(c)
		if err := backup.CopyFile(path, keys); err != nil {
			return m, fmt.Errorf("copy the keys of secrets: %w", err)
		}
	}
	return backup.Finish(dir, m)
}

// openShared opens the database of a configuration that a server may use at the same time. The database must exist.
func openShared(ctx context.Context, c config.Config, files store.Blobs, log *slog.Logger) (*store.Store, error) {
	if path, ok := strings.CutPrefix(DatabaseURL(c), "sqlite:"); ok {
		if _, err := os.Stat(path); err != nil {
			return nil, fmt.Errorf("there is no database to back up; set the data directory with --data or the database with --database: %w", err)
		}
	}
	return store.Open(ctx, store.Options{URL: DatabaseURL(c), Blobs: files, Log: log, NoMigrate: true})
}

func copyBlobs(ctx context.Context, s *store.Store, dir string, all []store.SnapshotBlob) error {
	to, err := blobs.Open(dir)
	if err != nil {
		return err
	}
	for _, b := range all {
		content, err := s.GetBlob(ctx, b)
		if err != nil {
			return fmt.Errorf("copy the files of the version %s: %w", b.Name, err)
		}
		if _, err := to.Put(ctx, b.Name, content); err != nil {
			return err
		}
	}
	return nil
}

// keysApart checks that the encryption keys of secrets can be copied to the file keys. The file must be outside of the
// backup, because a person who has both the backup and the keys can read the secrets.
func keysApart(c config.Config, dir, keys string) error {
	if keys == "" {
		return nil
	}
	if c.SecretsKeys.ID() != "" {
		return errors.New("--keys: the keys are in ATELIER_SECRETS_KEY, not in a file; keep a copy of its value yourself")
	}
	inside, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	file, err := filepath.Abs(keys)
	if err != nil {
		return err
	}
	if strings.HasPrefix(file, inside+string(filepath.Separator)) {
		return fmt.Errorf("--keys: %s is inside the backup; choose a file elsewhere, because anybody with both can read the secrets", keys)
	}
	if _, err := os.Stat(file); err == nil {
		return fmt.Errorf("--keys: %s already exists; choose a new file", keys)
	}
	return nil
}

func skillsFolder(c config.Config) string {
	if c.Skills != "" {
		return c.Skills
	}
	return filepath.Join(c.Data, "skills")
}

// VerifyBackup checks every file of a backup. If the backup has a SQLite database, it also checks the database's pages,
// indexes and references.
func VerifyBackup(ctx context.Context, dir string) (backup.Manifest, error) {
	m, err := backup.Verify(dir)
	if err != nil || m.Snapshot.Database != "sqlite" {
		return m, err
	}
	found, err := store.CheckSnapshot(ctx, filepath.Join(dir, backup.Database))
	if err == nil && (!maps.Equal(found.Counts, m.Snapshot.Counts) || !slices.Equal(found.Migrations, m.Snapshot.Migrations) || !slices.Equal(found.Blobs, m.Snapshot.Blobs)) {
		err = errors.New("the manifest describes another database")
	}
	return m, err
}

// restoring is the name of the file that marks a data directory while a backup is restored into it. The file contains
// the path of the restored SQLite database. A server does not start on a marked directory.
const restoring = "restoring"

// RestoreBackup verifies a backup and restores it into an empty data directory and an empty database. If a restore was
// interrupted, it can be run again. keys is a file with the encryption keys of secrets, or "" if there is none.
func RestoreBackup(ctx context.Context, c config.Config, dir, keys string, log *slog.Logger) (m backup.Manifest, err error) {
	if m, err = VerifyBackup(ctx, dir); err != nil {
		return m, err
	}
	if err := fits(c, m, keys); err != nil {
		return m, err
	}
	if err := emptyData(c); err != nil {
		return m, err
	}
	a := &App{Options: Options{Config: c, Log: log, Now: time.Now}}
	defer func() { err = joinClose(err, a.closers.close()) }()
	if err := a.openData(ctx); err != nil {
		return m, err
	}
	mark := filepath.Join(a.Config.Data, restoring)
	path, embedded := strings.CutPrefix(DatabaseURL(c), "sqlite:")
	target := ""
	if embedded {
		target = path
	}
	if err := os.WriteFile(mark, []byte(target), 0o600); err != nil {
		return m, err
	}
	if keys != "" {
		if err := backup.CopyFile(keys, filepath.Join(a.Config.Data, keysFile)); err != nil {
			return m, err
		}
	}
	if err := backup.CopyFolder(filepath.Join(dir, backup.Skills), skillsFolder(a.Config)); err != nil {
		return m, err
	}
	if embedded {
		// An interrupted restore may have left a log of SQLite, which SQLite would apply to the new database file.
		for _, log := range logsOf(path) {
			if err := os.Remove(log); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return m, err
			}
		}
		if err := backup.CopyFile(filepath.Join(dir, backup.Database, store.SnapshotFile), path); err != nil {
			return m, err
		}
	}
	if err := a.restoreStore(ctx, dir, m.Snapshot); err != nil {
		return m, err
	}
	return m, os.Remove(mark)
}

// restoreStore restores the files of large versions. For PostgreSQL, it also restores the tables.
func (a *App) restoreStore(ctx context.Context, dir string, taken store.Snapshot) (err error) {
	files, err := openBlobs(ctx, a.Config)
	if err != nil {
		return err
	}
	from, err := blobs.Open(filepath.Join(dir, backup.Blobs))
	if err != nil {
		return err
	}
	s, err := store.Open(ctx, store.Options{URL: DatabaseURL(a.Config), Blobs: files, Log: a.Log, Exclusive: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for _, b := range taken.Blobs {
		content, err := from.Get(ctx, b.Name, b.Digest)
		if err != nil {
			return err
		}
		if err := s.PutBlob(ctx, b, content); err != nil {
			return err
		}
	}
	applied, err := s.AppliedMigrations(ctx)
	if err != nil {
		return err
	}
	if len(taken.Tables) == 0 {
		return nil
	}
	if !slices.Equal(applied, taken.Migrations) {
		return errors.New("the database schema of the backup differs from that of this program; restore the backup with the program version that created it, then start this version")
	}
	return s.LoadSnapshot(ctx, filepath.Join(dir, backup.Database), taken)
}

// fits checks that a backup can be restored with a configuration. For example, both must have the same kind of
// database.
func fits(c config.Config, m backup.Manifest, keys string) error {
	kind, _, _ := strings.Cut(DatabaseURL(c), ":")
	if kind == "postgresql" {
		kind = "postgres"
	}
	if kind != m.Snapshot.Database {
		return fmt.Errorf("the backup is of a %s database, but --database names a %s database; restore the backup into a database of the same kind", m.Snapshot.Database, kind)
	}
	if keys == "" {
		return nil
	}
	if c.SecretsFile != "" || c.SecretsKeys.ID() != "" {
		return errors.New("--keys: the settings already name encryption keys; remove --keys or that setting")
	}
	has, _, err := vault.Read(keys)
	if err != nil {
		return fmt.Errorf("--keys: %w", err)
	}
	for id, n := range m.Snapshot.SecretKeys {
		if !has.Has(id) {
			return fmt.Errorf("--keys: %s does not contain the key %s, which encrypts %d secrets of the backup", keys, id, n)
		}
	}
	return nil
}

// emptyData checks that nothing would be overwritten in the data directory: it must be empty, or marked by an
// interrupted restore.
func emptyData(c config.Config) error {
	entries, err := os.ReadDir(c.Data)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unusable(c.Data, err)
	}
	target, err := os.ReadFile(filepath.Join(c.Data, restoring))
	again := err == nil
	for _, e := range entries {
		if e.Name() != "lock" && !again {
			return fmt.Errorf("the data directory %s is not empty; choose a new one with --data", c.Data)
		}
	}
	path, ok := strings.CutPrefix(DatabaseURL(c), "sqlite:")
	if !ok || again && string(target) == path {
		return nil
	}
	for _, file := range append([]string{path}, logsOf(path)...) {
		if _, err := os.Lstat(file); err == nil {
			return fmt.Errorf("the database %s already exists; choose a new one with --database", file)
		}
	}
	return nil
}

// logsOf returns the paths at which SQLite stores pending changes of the database at path. SQLite would apply these
// files to any other database at the same path.
func logsOf(path string) []string { return []string{path + "-wal", path + "-shm", path + "-journal"} }

// refuseRestoring returns an error if a restore into the data directory was interrupted.
func (a *App) refuseRestoring() error {
	if _, err := os.Stat(filepath.Join(a.Config.Data, restoring)); err == nil {
		return fmt.Errorf("the restore of a backup into %s was interrupted; run `atelier backup restore` again", a.Config.Data)
	}
	return nil
}
