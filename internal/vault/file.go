package vault

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// mostBytes is the maximum size of a key file in bytes.
const mostBytes = 64 << 10

// remark is the comment at the beginning of a generated key file.
const remark = "# Encryption keys for stored secrets. The first key encrypts, all keys can decrypt.\n" +
	"# Without this file the secrets are lost. Back it up, separately from the database.\n"

// Read reads a key file. open is true if users other than the owner may read the file, which is unsafe.
func Read(path string) (keys Keys, open bool, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return Keys{}, false, err
	}
	if info.Size() > mostBytes {
		return Keys{}, false, fmt.Errorf("%s is not a key file: it has %d bytes", path, info.Size())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return Keys{}, false, err
	}
	keys, err = Parse(string(text))
	if err != nil {
		return Keys{}, false, fmt.Errorf("%s %w", path, err)
	}
	return keys, info.Mode().Perm()&0o077 != 0, nil
}

// Write replaces a key file atomically. Only the current user can read the file.
func (k Keys) Write(path string) (err error) {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".next-*") // CreateTemp creates the file with mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	var text strings.Builder
	text.WriteString(remark)
	for _, one := range k.all {
		text.WriteString(one.text + "\n")
	}
	_, err = file.WriteString(text.String())
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err = os.Rename(file.Name(), path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// syncDir syncs the directory of a renamed file, so that a power failure cannot undo the rename. If the new key file
// were lost, all secrets that it encrypts would be lost.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
