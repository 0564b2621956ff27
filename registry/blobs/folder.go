// Package blobs stores byte strings (blobs) under their SHA-256 digests. Blobs never change, equal blobs are stored
// once, and every read verifies the content against the digest.
package blobs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
)

const prefix = "sha256:"

var digestForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// Folder is a blob store in a separate directory. The file ab/cdef… contains the blob sha256:abcdef…. A Folder is safe
// for concurrent use in one process. Other processes may read and store blobs at the same time. Only the process that
// has the lock of the data directory may remove blobs. If another process stores a blob again at that moment, the blob
// may be removed nevertheless.
type Folder struct {
	dir string
	mu  sync.Mutex // prevents this process from removing a blob while it stores the blob again
}

// Stored describes a blob in a store. Name is "" if the store keeps equal blobs only once.
type Stored struct {
	Name   string
	Digest string
	Bytes  int64
	At     time.Time // time of the last call that stored the blob
}

// Open opens the blob store in a directory. It creates the directory if it is missing.
func Open(dir string) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open blob store: %w", err)
	}
	if err := syncDir(filepath.Dir(dir)); err != nil {
		return nil, fmt.Errorf("open blob store: %w", err)
	}
	return &Folder{dir: dir}, nil
}

// Digest returns the digest of a content, which identifies its blob.
func Digest(content []byte) string {
	sum := sha256.Sum256(content)
	return prefix + hex.EncodeToString(sum[:])
}

// Put stores a blob and returns its digest. The blob is on disk when Put returns, so a row that refers to it may be
// committed.
func (f *Folder) Put(ctx context.Context, _ string, content []byte) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	digest := Digest(content)
	path := f.path(digest)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.put(path, content); err != nil {
		return "", fmt.Errorf("store blob %s: %w", digest, err)
	}
	return digest, nil
}

// Get returns the content of a blob. Errors: NotFound; Internal if the file does not match its digest.
func (f *Folder) Get(ctx context.Context, _, digest string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !digestForm.MatchString(digest) {
		return nil, notFound(digest, nil)
	}
	content, err := os.ReadFile(f.path(digest))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, notFound(digest, err)
	case err != nil:
		return nil, fmt.Errorf("read blob: %w", err)
	case Digest(content) != digest:
		return nil, fmt.Errorf("read blob %s: the file is damaged", digest)
	}
	return content, nil
}

// Size returns the number of bytes of a blob. Error: NotFound.
func (f *Folder) Size(ctx context.Context, _, digest string) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if !digestForm.MatchString(digest) {
		return 0, notFound(digest, nil)
	}
	info, err := os.Stat(f.path(digest))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, notFound(digest, err)
	}
	if err != nil {
		return 0, fmt.Errorf("measure blob: %w", err)
	}
	return info.Size(), nil
}

func notFound(digest string, err error) error {
	return &fault.Error{Code: fault.NotFound, Message: fmt.Sprintf("Blob %q not found.", digest), Err: err}
}

func (f *Folder) path(digest string) string {
	name := digest[len(prefix):]
	return filepath.Join(f.dir, name[:2], name[2:])
}

// List calls each for every blob until each returns an error. each may remove blobs.
func (f *Folder) List(ctx context.Context, each func(Stored) error) error {
	dirs, err := os.ReadDir(f.dir)
	if err != nil {
		return fmt.Errorf("list blobs: %w", err)
	}
	for _, dir := range dirs {
		if !dir.IsDir() || len(dir.Name()) != 2 { // for example the directory lost+found of a mounted disk
			continue
		}
		entries, err := os.ReadDir(filepath.Join(f.dir, dir.Name()))
		if err != nil {
			return fmt.Errorf("list blobs: %w", err)
		}
		for _, entry := range entries {
			digest := prefix + dir.Name() + entry.Name()
			if !digestForm.MatchString(digest) {
				continue
			}
			info, err := entry.Info()
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return fmt.Errorf("list blobs: %w", err)
			}
			if err := errors.Join(ctx.Err(), each(Stored{Digest: digest, Bytes: info.Size(), At: info.ModTime()})); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// Remove removes a blob if the last call that stored it was before a time. It reports whether it removed the blob.
func (f *Folder) Remove(ctx context.Context, b Stored, before time.Time) (bool, error) {
	if err := ctx.Err(); err != nil || !digestForm.MatchString(b.Digest) {
		return false, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	info, err := os.Stat(f.path(b.Digest))
	if err == nil && info.ModTime().Before(before) {
		err = os.Remove(f.path(b.Digest))
	} else if err == nil {
		return false, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("remove blob: %w", err)
	}
	return true, nil
}

// Empty reports whether there are no blobs.
func (f *Folder) Empty() (bool, error) {
	found, err := filepath.Glob(filepath.Join(f.dir, "[0-9a-f][0-9a-f]", "*"))
	return len(found) == 0, err
}

// SweepLeftovers removes the temporary files of interrupted writes, and returns their number. No other process may
// write to the folder at the same time.
func (f *Folder) SweepLeftovers() (int, error) {
	found, err := filepath.Glob(filepath.Join(f.dir, "*", leftovers))
	if err != nil {
		return 0, err
	}
	for n, path := range found {
		if err := os.Remove(path); err != nil {
			return n, err
		}
	}
	return len(found), nil
}

// leftovers matches the names of temporary files.
const leftovers = ".new-*"

// put writes a temporary file and renames it, so that readers see either the whole blob or no blob. It syncs the file
// before the rename and both directories after it.
func (f *Folder) put(path string, content []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	// An existing file may be damaged. Writing the file again repairs it.
	if old, err := os.ReadFile(path); err != nil || !bytes.Equal(old, content) {
		if err := replace(dir, path, content); err != nil {
			return err
		}
	} else if err := os.Chtimes(path, time.Time{}, time.Now()); err != nil { // the new time prevents Remove from removing the blob
		return err
	}
	if err := syncDir(dir); err != nil {
		return err
	}
	return syncDir(f.dir)
}

func replace(dir, path string, content []byte) (err error) {
	file, err := os.CreateTemp(dir, leftovers)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(file.Name())
		}
	}()
	_, err = file.Write(content)
	if err == nil {
		err = file.Sync()
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	return errors.Join(err, d.Close())
}
