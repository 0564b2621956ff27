package launcher

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/runtimes/sandbox/child"
	"github.com/atelier-run/atelier/runtimes/sandbox/wire"
)

// forkServer is the launcher's handle for a fork server: a started interpreter that forks a process for each child. It
// never receives user data. The forked processes receive it after their set-up.
//
// The descriptor 3 of the fork server is a message socket. Over it, the fork server receives the code of its loop, replies
// with a child.LoopPlace, receives the contents of the loop memory, and reports that it is ready. Then it runs the loop.
// The loop first installs its part of the filter, and exits if that fails. An order contains an id, the calls of the child
// and its descriptors. The reply contains the child's process ID and a pidfd. The parent of the child is the launcher, so
// the launcher can wait for it.
type forkServer struct {
	control    *net.UnixConn
	reaper     *reaper
	loopMemory *child.LoopImage

	mu      sync.Mutex
	ordered map[int64]*forked
}

type forked struct {
	born   chan struct{} // closed when the fork server has replied
	failed syscall.Errno // error number of a failed fork
	pid    int
	pidfd  int
	end    *end
}

func startForkServer(command wire.Command, sequence []child.Step, filter wire.Halves, names []string, reaper *reaper) (*forkServer, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	theirs := os.NewFile(uintptr(pair[1]), "forks")
	control, err := wire.UnixConn(pair[0], "forks")
	if err != nil {
		return nil, errors.Join(err, theirs.Close())
	}
	_, err = os.StartProcess(command.Argv[0], command.Argv, &os.ProcAttr{
		Dir: "/", Env: command.Env, Files: []*os.File{os.Stdin, os.Stdout, os.Stderr, theirs},
	})
	// Close our copy, so that the socket closes when the fork server ends.
	if err = errors.Join(err, theirs.Close()); err != nil {
		return nil, fmt.Errorf("start the fork server: %w", err)
	}
	f := &forkServer{control: control, reaper: reaper, ordered: map[int64]*forked{}}
	if f.loopMemory, err = introduce(control, sequence, filter, names); err != nil {
		return nil, fmt.Errorf("wait for the fork server: %w", err)
	}
	// When the fork server ends, the launcher exits too, and the kernel kills its children. Without the fork server the
	// launcher could start no more children. The server starts a new launcher.
	go func() {
		fmt.Fprintln(os.Stderr, f.listen())
		os.Exit(wire.ExitServe)
	}()
	return f, nil
}

// introduce sends a fork server its loop and waits until it is ready.
func introduce(control *net.UnixConn, sequence []child.Step, filter wire.Halves, names []string) (*child.LoopImage, error) {
	if _, err := control.Write(child.LoopCode()); err != nil {
		return nil, err
	}
	buffer := make([]byte, wire.MaxNotice)
	message, _, err := wire.ReceiveMessage(control, buffer)
	if err != nil {
		return nil, err
	}
	var place child.LoopPlace
	if err := json.Unmarshal(message, &place); err != nil {
		return nil, fmt.Errorf("the fork server sent %q: %w", message, err)
	}
	loopMemory, err := child.NewLoopImage(place, sequence, filter, names)
	if err != nil {
		return nil, err
	}
	if _, err := control.Write(loopMemory.Image); err != nil {
		return nil, err
	}
	_, _, err = wire.ReceiveMessage(control, buffer)
	return loopMemory, err
}

// listen reads the replies of the fork server. It returns an error when it can read no more.
func (f *forkServer) listen() error {
	buffer := make([]byte, wire.MaxNotice)
	for {
		message, fds, err := wire.ReceiveMessage(f.control, buffer)
		if err != nil {
			return fmt.Errorf("the fork server has ended: %w", err)
		}
		id, pid, ok := child.ReadForkNotice(message)
		if !ok {
			return fmt.Errorf("the fork server sent the invalid reply %q", message)
		}
		if !f.answered(id, int(pid), fds) {
			return fmt.Errorf("the fork server sent a reply (%[2]d) to an order that does not exist (%[1]d)", id, pid)
		}
	}
}

func (f *forkServer) answered(id int64, pid int, fds []int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	waiting := f.ordered[id]
	switch {
	case waiting == nil:
		return false
	case len(fds) == 1 && pid > 1:
		waiting.pid, waiting.pidfd = pid, fds[0]
		// Called here and not in fork, because the process ID may be reused before fork continues.
		waiting.end = f.reaper.expect(waiting.pid)
	case len(fds) != 0 || pid >= 0:
		return false
	default: // the fork failed: too little memory, or the process limit is reached
		waiting.failed = syscall.Errno(-pid)
	}
	delete(f.ordered, id)
	close(waiting.born)
	return true
}

// fork orders a process from the fork server and waits for the reply.
func (f *forkServer) fork(c *Child, o wire.Order, named map[string]int) error {
	message, fds, err := f.loopMemory.Order(o.ID, o.User, named)
	if err != nil {
		return err
	}
	waiting := &forked{born: make(chan struct{})}
	f.mu.Lock()
	f.ordered[o.ID] = waiting
	f.mu.Unlock()
	// EPIPE and ECONNRESET are not reported: the fork server has ended, so listen ends the launcher and logs the reason.
	_, _, err = f.control.WriteMsgUnix(message, unix.UnixRights(fds...), nil)
	if err != nil && !errors.Is(err, unix.EPIPE) && !errors.Is(err, unix.ECONNRESET) {
		return fmt.Errorf("send an order to the fork server: %w", err)
	}
	<-waiting.born // if the fork server ends instead, the launcher exits
	if waiting.failed != 0 {
		return fmt.Errorf("the fork server could not fork: %w", waiting.failed)
	}
	c.pid, c.pidfd, c.end = waiting.pid, waiting.pidfd, waiting.end
	return nil
}
