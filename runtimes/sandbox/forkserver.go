package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// forkServer is the launcher's side of a warm interpreter that forks a child for each child. It never sees a byte of a
// user's: the children get theirs when they are in their children.
//
// It has a socket of messages as its descriptor 3. It is told the code of its loop, says where it has room for the board,
// gets that, and says that it is ready. From then on it is in the loop, which installs its part of the filter before all
// else, or ends. An order is an id and the calls of the child, with the descriptors for it; it is answered with the number
// of the child and a handle on it. The child is the launcher's, as all its children are, so that the launcher hears of its end
// and nobody has to pass it on.
type forkServer struct {
	control    *net.UnixConn
	reaper     *reaper
	loopMemory *loopImage

	mu      sync.Mutex
	ordered map[int64]*forked
}

type forked struct {
	born   chan struct{} // closed when the fork server has answered
	failed syscall.Errno // why it could not fork
	pid    int
	pidfd  int
	end    *end
}

func startForkServer(command Command, sequence []step, filter halves, names []string, reaper *reaper) (*forkServer, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	theirs := os.NewFile(uintptr(pair[1]), "forks")
	control, err := unixConn(pair[0], "forks")
	if err != nil {
		return nil, errors.Join(err, theirs.Close())
	}
	_, err = os.StartProcess(command.Argv[0], command.Argv, &os.ProcAttr{
		Dir: "/", Env: command.Env, Files: []*os.File{os.Stdin, os.Stdout, os.Stderr, theirs},
	})
	if err = errors.Join(err, theirs.Close()); err != nil { // only its own copy may keep the socket open
		return nil, fmt.Errorf("start the fork server: %w", err)
	}
	f := &forkServer{control: control, reaper: reaper, ordered: map[int64]*forked{}}
	if f.loopMemory, err = introduce(control, sequence, filter, names); err != nil {
		return nil, fmt.Errorf("wait for the fork server: %w", err)
	}
	// When it ends so does the launcher, with all its children: it is of no more use, and the next one is a fresh start for
	// everybody.
	go func() {
		fmt.Fprintln(os.Stderr, f.listen())
		os.Exit(exitServe)
	}()
	return f, nil
}

// introduce gives a fork server what it works with, and waits until it is ready.
func introduce(control *net.UnixConn, sequence []step, filter halves, names []string) (*loopImage, error) {
	if _, err := control.Write(loopCode()); err != nil {
		return nil, err
	}
	buffer := make([]byte, maxNotice)
	message, _, err := receiveMessage(control, buffer)
	if err != nil {
		return nil, err
	}
	var place loopPlace
	if err := json.Unmarshal(message, &place); err != nil {
		return nil, fmt.Errorf("it says %q: %w", message, err)
	}
	loopMemory, err := newLoopImage(place, sequence, filter, names)
	if err != nil {
		return nil, err
	}
	if _, err := control.Write(loopMemory.image); err != nil {
		return nil, err
	}
	_, _, err = receiveMessage(control, buffer)
	return loopMemory, err
}

// listen takes what the fork server says, and says why it cannot any more.
func (f *forkServer) listen() error {
	buffer := make([]byte, maxNotice)
	for {
		message, fds, err := receiveMessage(f.control, buffer)
		if err != nil {
			return fmt.Errorf("the fork server is gone: %w", err)
		}
		var n forkNotice
		if len(message) != int(unsafe.Sizeof(n)) {
			return fmt.Errorf("the fork server says %q", message)
		}
		n = *(*forkNotice)(unsafe.Pointer(&message[0]))
		if !f.answered(n, fds) {
			return fmt.Errorf("the fork server says that order %d is %d", n.id, n.pid)
		}
	}
}

func (f *forkServer) answered(n forkNotice, fds []int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	startChild := f.ordered[n.id]
	switch {
	case startChild == nil:
		return false
	case len(fds) == 1 && n.pid > 1:
		startChild.pid, startChild.pidfd = int(n.pid), fds[0]
		startChild.end = f.reaper.expect(startChild.pid) // here, where answers are in their order: its number may be another's soon
	case len(fds) != 0 || n.pid >= 0:
		return false
	default: // no memory, or no room for one more process
		startChild.failed = syscall.Errno(-n.pid)
	}
	delete(f.ordered, n.id)
	close(startChild.born)
	return true
}

// fork makes the child of a child.
func (f *forkServer) fork(child *Child, o order, named map[string]int) error {
	message, fds, err := f.loopMemory.order(o.ID, o.User, named)
	if err != nil {
		return err
	}
	startChild := &forked{born: make(chan struct{})}
	f.mu.Lock()
	f.ordered[o.ID] = startChild
	f.mu.Unlock()
	if _, _, err := f.control.WriteMsgUnix(message, unix.UnixRights(fds...), nil); err != nil {
		return fmt.Errorf("ask the fork server: %w", err)
	}
	<-startChild.born // or the launcher ends
	if startChild.failed != 0 {
		return fmt.Errorf("the fork server could not fork: %w", startChild.failed)
	}
	child.pid, child.pidfd, child.end = startChild.pid, startChild.pidfd, startChild.end
	return nil
}
