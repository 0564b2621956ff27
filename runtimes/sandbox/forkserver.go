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

// forkServer is the launcher's side of a warm interpreter that forks a process for each child. The fork server never
// receives user data. The forked processes receive it after their set-up.
//
// The fork server has a message socket as its descriptor 3. It receives the code of its loop, replies with the address
// of the loop memory, receives the contents of that memory, and reports that it is ready. From then on it runs the
// loop. The loop first installs its part of the filter, or ends. An order holds an id, the calls of the child and its
// descriptors. The reply holds the child's process number and a handle on it. The child's parent is the launcher, so
// the launcher itself learns of its end.
type forkServer struct {
	control    *net.UnixConn
	reaper     *reaper
	loopMemory *loopImage

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
	if err = errors.Join(err, theirs.Close()); err != nil { // only the fork server's own copy may keep the socket open
		return nil, fmt.Errorf("start the fork server: %w", err)
	}
	f := &forkServer{control: control, reaper: reaper, ordered: map[int64]*forked{}}
	if f.loopMemory, err = introduce(control, sequence, filter, names); err != nil {
		return nil, fmt.Errorf("wait for the fork server: %w", err)
	}
	// When the fork server ends, the launcher ends too, with all its children. It is of no more use, and all callers
	// get a fresh launcher.
	go func() {
		fmt.Fprintln(os.Stderr, f.listen())
		os.Exit(exitServe)
	}()
	return f, nil
}

// introduce sends a fork server its loop and waits until it is ready.
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

// listen reads the replies of the fork server. It returns an error when it can read no more.
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
		startChild.end = f.reaper.expect(startChild.pid) // expected here, in the order of the replies: the process number may soon be reused
	case len(fds) != 0 || n.pid >= 0:
		return false
	default: // too little memory, or the process limit is reached
		startChild.failed = syscall.Errno(-n.pid)
	}
	delete(f.ordered, n.id)
	close(startChild.born)
	return true
}

// fork forks the process of a child.
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
