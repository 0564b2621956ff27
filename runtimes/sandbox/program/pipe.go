package program

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/atelier-run/atelier/runtimes/sandbox/wire"
)

// lastInherited is the highest descriptor that a program has at its start. From 3 on these are the channel and the two
// ends of the lock pipe.
const lastInherited = 5

// Pipe is called inside a jail. It starts another program there and returns its stdout and stdin. The other program ends
// with the jail and has the same root, filter and limits. It does not inherit the channel to the launcher.
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
