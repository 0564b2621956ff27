package program

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/sandbox/launcher"
)

// write writes the job's files to the child's work directory, which is empty. File names are validated when a version is
// saved, and again here.
func write(child *launcher.Child, Give map[string][]byte) error {
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
			mode = 0o700 // the program may execute scripts
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

// makeDirs creates a directory of the work directory and its missing parents. The program's user owns them.
func makeDirs(child *launcher.Child, dir string) error {
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

// sendFile sends the result file. Every process must be dead. The program may have left a link, a device or a pipe at that
// path; sendFile reads only regular files.
func sendFile(out *frames.Writer, root *os.Root, name string, largest int64) (FileState, error) {
	// Safe: a Root does not follow links out of itself, and no process is left that could replace the file.
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return FileAbsent, nil
	case err != nil || !regular(info):
		return FileIrregular, nil
	}
	file, err := root.Open(name)
	if err != nil {
		return FileIrregular, nil
	}
	defer file.Close()
	// The limit applies to the JSON without surrounding white space. So up to 4 KiB more than the limit is read.
	rest := io.LimitReader(file, largest+4<<10)
	buffer := make([]byte, min(info.Size()+1, partSize))
	for {
		n, err := io.ReadFull(rest, buffer)
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			out.Hold(frames.Part, func() []byte { return buffer[:n] }) // the content is sent in one write with the report
			return FileRead, nil
		case err != nil:
			return FileIrregular, nil
		}
		if err := out.Write(frames.Part, buffer); err != nil {
			return "", err
		}
	}
}

func regular(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return info.Mode().IsRegular() && ok && stat.Nlink == 1
}

func refusal(message string) *runtimes.CallError {
	return &runtimes.CallError{Code: "invalid_arguments", Message: message}
}
