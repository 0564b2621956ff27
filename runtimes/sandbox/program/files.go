package program

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/sandbox"
)

// write stores the job's files in an empty directory. File names are validated when a version is saved, and again here.
func write(child *sandbox.Child, Give map[string][]byte) error {
	root := child.Work()
	for name, content := range Give {
		if !fs.ValidPath(name) || name == "." {
			return fmt.Errorf("write %q: not a relative path", name)
		}
		if err := makeDirs(child, path.Dir(name)); err != nil {
			return err
		}
		mode := fs.FileMode(0o600)
		if bytes.HasPrefix(content, []byte("#!")) {
			mode = 0o700 // a script that the program may execute
		}
		if err := root.WriteFile(name, content, mode); err != nil {
			return err
		}
		if err := child.Chown(name); err != nil {
			return err
		}
	}
	return nil
}

// makeDirs makes a directory and its missing parents.
func makeDirs(child *sandbox.Child, dir string) error {
	if dir == "." {
		return nil
	}
	err := child.Work().Mkdir(dir, 0o700)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil
	case errors.Is(err, fs.ErrNotExist):
		if err := makeDirs(child, path.Dir(dir)); err != nil {
			return err
		}
		return makeDirs(child, dir)
	case err != nil:
		return err
	}
	return child.Chown(dir)
}

// read reads the result file after every process is dead. The file may be of any kind: a link, a device, a pipe.
func read(root *os.Root, name string, largest int64) (json.RawMessage, FileState, string) {
	info, err := root.Lstat(name) // a Root follows links within itself; no process is left that could swap the file
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, FileAbsent, ""
	case err != nil || !regular(info):
		return nil, FileIrregular, ""
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, FileIrregular, ""
	}
	defer file.Close()
	// The limit applies to the JSON without surrounding space. Only a small amount of space is read.
	text, err := io.ReadAll(io.LimitReader(file, largest+4<<10))
	if err != nil {
		return nil, FileIrregular, ""
	}
	text = bytes.TrimSpace(text)
	switch {
	case len(text) == 0:
		return nil, FileAbsent, ""
	case int64(len(text)) > largest:
		return nil, FileTooLarge, ""
	}
	var value json.RawMessage
	if err := json.Unmarshal(text, &value); err != nil {
		return nil, FileInvalid, err.Error()
	}
	return value, FileValid, ""
}

func regular(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return info.Mode().IsRegular() && ok && stat.Nlink == 1
}

func refusal(message string) *runtimes.CallError {
	return &runtimes.CallError{Code: "invalid_arguments", Message: message}
}
