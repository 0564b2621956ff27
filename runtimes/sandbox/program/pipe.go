package program

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/atelier-run/atelier/runtimes/sandbox/wire"
)

// lastInherited is the last descriptor that a program has from its start: the channel, and two of the launcher.
const lastInherited = 5

// Pipe starts another program from a program in a jail, and returns its stdin and stdout. The other program ends with
// the jail. It is no way out: it has the same root, filter and limits. It does not inherit the program's channel to the
// server.
func Pipe(path string, args ...string) (io.Reader, io.WriteCloser, error) {
	theirs, in, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	out, ours, err := os.Pipe()
	if err != nil {
		return nil, nil, errors.Join(err, theirs.Close(), in.Close())
	}
	for fd := wire.FramesFD; fd <= lastInherited; fd++ {
		syscall.CloseOnExec(fd)
	}
	_, err = os.StartProcess(path, append([]string{path}, args...), &os.ProcAttr{Env: []string{}, Files: []*os.File{theirs, ours, os.Stderr}})
	err = errors.Join(err, theirs.Close(), ours.Close())
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("start %s: %w", path, err), in.Close(), out.Close())
	}
	return out, in, nil
}
