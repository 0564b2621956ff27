// Package backup defines the folder of a backup: a copy of the database, the files of large versions, the folder of
// skills, and a manifest that lists every file with its digest. A backup never contains the keys that encrypt secrets.
package backup

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/atelier-run/atelier/registry/store"
)

// These constants are the names of the subfolders of a backup.
const (
	Database = "database"
	Blobs    = "blobs"
	Skills   = "skills"
)

const (
	format       = 1
	manifestName = "manifest.json"
	// mostBytes is the maximum size of a manifest in bytes. A manifest of this size can list the files of a million large
	// versions.
	mostBytes = 512 << 20
)

// Manifest describes a backup. It is the last file that is written, so a folder without a manifest is not a complete
// backup.
type Manifest struct {
	Format    int            `json:"format"`
	CreatedAt time.Time      `json:"createdAt"`
	Version   string         `json:"version"` // version of the program that made the backup
	Snapshot  store.Snapshot `json:"snapshot"`
	Files     []File         `json:"files"`
}

// File is the manifest's entry for one file of the backup.
type File struct {
	Path   string `json:"path"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Bytes returns the total size of all files.
func (m Manifest) Bytes() int64 {
	var n int64
	for _, f := range m.Files {
		n += f.Bytes
	}
	return n
}

// Begin creates the folder of a new backup. It returns an error if the folder exists and is not empty.
func Begin(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(entries) > 0 {
		return fmt.Errorf("the folder %s is not empty; choose a new one", dir)
	}
	for _, sub := range []string{Database, Blobs} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			return err
		}
	}
	return nil
}

// Finish syncs the files of a backup and writes its manifest.
func Finish(dir string, m Manifest) (Manifest, error) {
	m.Format, m.Files = format, nil
	err := walk(dir, func(path string) error {
		f, err := measure(dir, path, true)
		m.Files = append(m.Files, f)
		return err
	})
	if err != nil {
		return m, err
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return m, err
	}
	return m, write(filepath.Join(dir, manifestName), bytes.NewReader(text))
}

// walk calls visit with the path of each file below a folder, in order of the paths. The folder itself may be a
// symbolic link. walk rejects an entry inside that is neither a file nor a folder.
func walk(dir string, visit func(path string) error) error {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			return nil
		case !entry.Type().IsRegular():
			return fmt.Errorf("%s is neither a file nor a folder; remove it", path)
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		return visit(filepath.ToSlash(rel))
	})
}

func measure(dir, path string, sync bool) (f File, err error) {
	file, err := os.Open(filepath.Join(dir, filepath.FromSlash(path)))
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	hash := sha256.New()
	n, err := io.Copy(hash, file)
	if err == nil && sync {
		err = file.Sync()
	}
	return File{Path: path, Bytes: n, SHA256: hex.EncodeToString(hash.Sum(nil))}, err
}

// Read reads the manifest of a backup without checking its files.
func Read(dir string) (m Manifest, err error) {
	file, err := os.Open(filepath.Join(dir, manifestName))
	if errors.Is(err, fs.ErrNotExist) {
		return m, fmt.Errorf("%s is not a complete backup: it has no %s", dir, manifestName)
	}
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	d := json.NewDecoder(io.LimitReader(file, mostBytes))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return m, fmt.Errorf("%s of the backup cannot be read: %w", manifestName, err)
	}
	if m.Format != format {
		return m, fmt.Errorf("the backup has format %d, and this program reads format %d; use Atelier %s, which created it", m.Format, format, m.Version)
	}
	return m, nil
}

// Verify compares every file of a backup with its manifest.
func Verify(dir string) (Manifest, error) {
	m, err := Read(dir)
	if err != nil {
		return m, err
	}
	listed := map[string]File{}
	for _, f := range m.Files {
		if !filepath.IsLocal(f.Path) {
			return m, fmt.Errorf("the manifest lists %q, which is outside the backup", f.Path)
		}
		listed[f.Path] = f
	}
	err = walk(dir, func(path string) error {
		want, ok := listed[path]
		delete(listed, path)
		if path == manifestName {
			return nil
		}
		if !ok {
			return fmt.Errorf("the file %s is not in the manifest", path)
		}
		got, err := measure(dir, path, false)
		if err == nil && got != want {
			err = fmt.Errorf("the file %s is damaged: it has %d bytes with SHA-256 %s, not %d with %s", path, got.Bytes, got.SHA256, want.Bytes, want.SHA256)
		}
		return err
	})
	if err != nil {
		return m, err
	}
	for path := range listed {
		return m, fmt.Errorf("the file %s is missing", path)
	}
	return m, m.complete()
}

// complete checks that the backup contains every table of the database and the files of every large version.
func (m Manifest) complete() error {
	has := func(path string) bool {
		return slices.ContainsFunc(m.Files, func(f File) bool { return f.Path == path })
	}
	if m.Snapshot.Database == "sqlite" && !has(Database+"/"+store.SnapshotFile) {
		return errors.New("the database is missing")
	}
	for _, t := range m.Snapshot.Tables {
		if !filepath.IsLocal(t.Name) || !has(Database+"/"+t.Name) {
			return fmt.Errorf("the table %s is missing", t.Name)
		}
	}
	files := map[string]bool{}
	for _, f := range m.Files {
		files[f.SHA256] = true
	}
	for _, b := range m.Snapshot.Blobs {
		if len(b.Digest) < len("sha256:") || !files[b.Digest[len("sha256:"):]] {
			return fmt.Errorf("the files of the version %s are missing", b.Name)
		}
	}
	return nil
}

// CopyFolder copies the files of a folder. It copies nothing if the folder does not exist.
func CopyFolder(from, to string) error {
	if _, err := os.Stat(from); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return walk(from, func(path string) error {
		return CopyFile(filepath.Join(from, filepath.FromSlash(path)), filepath.Join(to, filepath.FromSlash(path)))
	})
}

// CopyFile copies a file durably and creates the folder of the copy. After a crash the copy is complete or does not
// exist.
func CopyFile(from, to string) (err error) {
	file, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return write(to, file)
}

func write(path string, content io.Reader) (err error) {
	file, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(file.Name()) // the first error is the one to return
		}
	}()
	_, err = io.Copy(file, content)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// syncDir syncs a folder, so that the names of its files survive a power failure.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
