package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// forkServer is the starter's side of a warm interpreter that forks a child for each cell. It never sees a byte of a
// user's: the children get theirs when they are in their cells.
//
// It has a socket of messages as its descriptor 3. It is told the steps first, and says that it is ready. An order is an
// id, a user and the names of the descriptors that come along; it answers with the number of the child and a handle on
// it. The child is the starter's, as all its cells are, so that the starter hears of its end and nobody has to pass it on.
type forkServer struct {
	control *net.UnixConn
	reaper  *reaper

	mu      sync.Mutex
	ordered map[int64]*forked
}

type forked struct {
	born  chan struct{} // closed when the fork server has answered
	pid   int           // 0 when it could not fork
	pidfd int
	end   *end
}

type forkOrder struct {
	ID    int64    `json:"id"`
	User  int      `json:"user"`
	Names []string `json:"names"`
}

type forkNotice struct {
	ID  int64 `json:"id"`
	PID int   `json:"pid"`
}

const maxSteps = 128 << 10

func startForkServer(command Command, way []step, reaper *reaper) (*forkServer, error) {
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
	message, err := json.Marshal(way)
	if err != nil {
		return nil, err
	}
	if len(message) > maxSteps {
		return nil, fmt.Errorf("the steps take %d bytes", len(message))
	}
	if _, err = control.Write(message); err == nil {
		_, _, err = receiveMessage(control, make([]byte, maxNotice))
	}
	if err != nil { // which of the two notices that it ended is chance
		return nil, fmt.Errorf("wait for the fork server: %w", err)
	}
	// When it ends so does the starter, with all its cells: it is of no more use, and the next one is a fresh start for
	// everybody.
	go func() {
		fmt.Fprintln(os.Stderr, f.listen())
		os.Exit(exitServe)
	}()
	return f, nil
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
		if err := json.Unmarshal(message, &n); err != nil || !f.take(n, fds) {
			return fmt.Errorf("the fork server says %q", message)
		}
	}
}

func (f *forkServer) take(n forkNotice, fds []int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	child := f.ordered[n.ID]
	switch {
	case child == nil:
		return false
	case len(fds) == 1 && n.PID > 1:
		child.pid, child.pidfd = n.PID, fds[0]
		child.end = f.reaper.expect(n.PID) // here, where answers are in their order: its number may be another's soon
	case len(fds) != 0 || n.PID != 0:
		return false
	}
	delete(f.ordered, n.ID)
	close(child.born)
	return true
}

// fork makes the child of a cell.
func (f *forkServer) fork(cell *Cell, o order, named map[string]int) error {
	child := &forked{born: make(chan struct{})}
	f.mu.Lock()
	f.ordered[o.ID] = child
	f.mu.Unlock()
	ask := forkOrder{ID: o.ID, User: o.User}
	var fds []int
	for name, fd := range named {
		ask.Names, fds = append(ask.Names, name), append(fds, fd)
	}
	message, err := json.Marshal(ask)
	if err != nil {
		return err
	}
	if _, _, err := f.control.WriteMsgUnix(message, unix.UnixRights(fds...), nil); err != nil {
		return fmt.Errorf("ask the fork server: %w", err)
	}
	<-child.born // or the starter ends
	if child.pid == 0 {
		return errors.New("the fork server could not fork")
	}
	cell.pid, cell.pidfd, cell.end = child.pid, child.pidfd, child.end
	return nil
}
