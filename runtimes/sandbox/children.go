package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"sync"

	"golang.org/x/sys/unix"
)

// order asks a launcher for a child. Its descriptors are the child's connection and the files by which the child joins
// its control groups.
type order struct {
	ID   int64 `json:"id"`
	User int   `json:"user"` // user id in the launcher's namespace
	Disk int64 `json:"disk"` // bytes
}

// notice reports the state of a child to the server: ready, with a handle on its process 1, or gone. If the child was
// never ready, the notice holds the reason.
type notice struct {
	ID     int64  `json:"id"`
	Gone   bool   `json:"gone,omitempty"`
	Error  string `json:"error,omitempty"`
	Signal int    `json:"signal,omitempty"`
	Code   int    `json:"code,omitempty"`

	orphaned bool // set by the server itself, for children of a launcher that ended
}

const (
	maxOrder  = 4 << 10
	maxNotice = 16 << 10
	maxPassed = 16 // maximum number of descriptors in one message
)

// children holds the state of a launcher and of its children.
type children struct {
	config  setup
	role    Role
	control *net.UnixConn
	plan    *plan // syscall program of the launcher's own forks or of the fork server's
	common  common
	reaper  *reaper
	forks   *forkServer // nil if children execute programs
	path    []byte      // the only program the filter lets children execute; nil for any program

	directory sync.Mutex // guards the current directory
	networks  networks
}

// newChildren does the slow preparations before the launcher reports that it is ready.
func newChildren(config setup, role Role) (*children, error) {
	if err := raiseFiles(); err != nil {
		return nil, err
	}
	debug.SetMemoryLimit(launcherMemory / 4) // collects the garbage of large jobs and results in time
	s := &children{config: config, role: role}
	var err error
	if s.common, err = openCommon(config); err != nil {
		return nil, err
	}
	s.reaper = newReaper()
	if sequence := config.steps(config.Groups); config.Forks == nil {
		s.plan = newPlan(filtered(sequence, config.Seccomp), &heap{})
	} else {
		filter, err := config.halved()
		if err != nil {
			return nil, err
		}
		if s.forks, err = startForkServer(*config.Forks, sequence, filter, childDescriptors(config.Groups), s.reaper); err != nil {
			return nil, err
		}
		s.plan = s.forks.loopMemory.plan
	}
	if config.Filter == FilterAlone {
		if s.path, err = mapPath(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// serveOrders serves orders until the server closes the connection.
func (s *children) serveOrders(conn net.Conn) (err error) {
	// Nobody reads conn after this. The collector would close it, and its low descriptor number would go to a child.
	defer runtime.KeepAlive(conn)
	if s.control, err = receiveControl(conn); err != nil {
		return err
	}
	buffer := make([]byte, maxOrder)
	for {
		message, fds, err := receiveMessage(s.control, buffer)
		if err != nil {
			return err // the server has ended or closed the connection
		}
		var o order
		if err := json.Unmarshal(message, &o); err != nil {
			return fmt.Errorf("read order: %w", err)
		}
		go s.serveChild(o, fds)
	}
}

// serveChild creates one child, serves it and cleans up after it.
func (s *children) serveChild(o order, fds []int) {
	child, err := s.make(o, fds)
	if err != nil {
		s.notify(notice{ID: o.ID, Gone: true, Error: err.Error()})
		return
	}
	if s.notify(notice{ID: o.ID}, child.handles()...) {
		if err := s.role.Child(child, child.conn); err != nil {
			fmt.Fprintf(os.Stderr, "child %d: %v\n", o.ID, err)
		}
	}
	status := child.close()
	gone := notice{ID: o.ID, Gone: true}
	if status.Signaled() {
		gone.Signal = int(status.Signal())
	} else {
		gone.Code = status.ExitStatus()
	}
	s.notify(gone)
}

func (s *children) notify(n notice, handles ...int) bool {
	message, err := json.Marshal(n)
	if err != nil {
		return false
	}
	var rights []byte
	if len(handles) > 0 {
		rights = unix.UnixRights(handles...)
	}
	_, _, err = s.control.WriteMsgUnix(message, rights, nil)
	return err == nil
}

// make creates a child and waits until its set-up is complete. It takes over the passed descriptors in any case.
func (s *children) make(o order, passed []int) (*Child, error) {
	if len(passed) != 1+s.config.Groups {
		closeAll(passed)
		return nil, fmt.Errorf("%d descriptors came with the order", len(passed))
	}
	groups := passed[1:]
	defer closeAll(groups)
	conn, err := unixConn(passed[0], "frames")
	if err != nil {
		return nil, err
	}
	child := &Child{conn: conn, user: o.User, own: s.config.Users > 1, forked: s.forks != nil, mounts: -1, disk: -1, stdout: -1, stderr: -1, channel: -1, network: -1}
	if err := s.start(child, o, groups); err != nil {
		child.close()
		return nil, err
	}
	return child, nil
}

func (s *children) start(child *Child, o order, groups []int) error {
	if err := child.mountWorkDir(o.Disk); err != nil {
		return fmt.Errorf("make the private disk: %w", err)
	}
	if err := child.enter(&s.directory); err != nil {
		return fmt.Errorf("open the work directory: %w", err)
	}
	theirs, err := child.connect()
	defer func() { closeAll(theirs.list()) }()
	if err != nil {
		return err
	}
	if s.config.Landlock > 0 {
		if theirs[fdRules], err = child.rules(s.config, s.common); err != nil {
			return err
		}
	} else if theirs[fdRules], err = unix.FcntlInt(uintptr(child.disk), unix.F_DUPFD_CLOEXEC, firstFD); err != nil { // placeholder
		return err
	}
	named := map[string]int{fdDisk: child.disk}
	for name, fd := range theirs {
		named[name] = fd
	}
	for i, fd := range groups {
		named[groupDescriptor(i)] = fd
	}
	if s.forks != nil {
		err = s.forks.fork(child, o, named)
	} else {
		err = s.fork(child, o, named)
	}
	if err != nil {
		return err
	}
	// The child has its own copies. The launcher's copies would keep the pipes and the set-up connection open.
	closeAll(theirs.list())
	clear(theirs)
	if err := child.listen(s.plan.steps); err != nil {
		return fmt.Errorf("set up the jail: %w", err)
	}
	child.hold()
	return child.Limit(Rlimits{FileBytes: uint64(o.Disk)})
}

// fork starts a child of this process.
func (s *children) fork(child *Child, o order, named map[string]int) error {
	calls, err := s.plan.fill(o.User, named)
	if err != nil {
		return err
	}
	child.syscallProgram = newSyscallProgram(calls)
	child.syscallProgram.path = s.path
	start := func() (err error) {
		child.pid, child.pidfd, err = child.syscallProgram.start()
		return err
	}
	if s.config.Network {
		child.network, err = startInNetwork(start)
	} else {
		child.leave, err = s.networks.start(start)
	}
	if err != nil {
		return err
	}
	child.end = s.reaper.expect(child.pid)
	return nil
}

// childEnds maps names to descriptors of the child.
type childEnds map[string]int

func (e childEnds) list() []int {
	var all []int
	for _, fd := range e {
		all = append(all, fd)
	}
	return all
}

// connect makes the pipes and sockets between the child and the launcher. After an error, the child and the returned
// map hold those made so far.
func (c *Child) connect() (childEnds, error) {
	theirs := childEnds{}
	var all error
	pipe := func() (reader, writer int) {
		fds := [2]int{-1, -1}
		all = errors.Join(all, unix.Pipe2(fds[:], unix.O_CLOEXEC))
		return fds[0], fds[1]
	}
	socket := func() (ours, startChild int) {
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			fds = [2]int{-1, -1}
		}
		all = errors.Join(all, err)
		return fds[0], fds[1]
	}
	var writer, sync int
	theirs[fdStdin], writer = pipe() // an empty stdin
	all = errors.Join(all, unix.Close(writer))
	c.stdout, theirs[fdStdout] = pipe()
	c.stderr, theirs[fdStderr] = pipe()
	c.channel, theirs[fdChannel] = socket()
	sync, theirs[fdSync] = socket()
	for _, ours := range []int{c.stdout, c.stderr, c.channel, sync} {
		all = errors.Join(all, unix.SetNonblock(ours, true))
	}
	c.sync = os.NewFile(uintptr(sync), "sync") // nil if there is none
	theirs[fdLock], theirs[fdUnlock] = pipe()
	_, err := unix.Write(theirs[fdUnlock], []byte{'x'})
	return theirs, errors.Join(all, err)
}

func closeAll(fds []int) {
	for _, fd := range fds {
		_ = unix.Close(fd)
	}
}

// raiseFiles raises the limit to allow descriptors of many children. It keeps the low numbers free for their programs.
func raiseFiles() error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	limit.Cur = limit.Max
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	for {
		fd, err := unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			return err
		}
		if fd >= firstFD {
			return unix.Close(fd)
		}
	}
}
