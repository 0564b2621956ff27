package launcher

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/runtimes/sandbox/child"
	"github.com/atelier-run/atelier/runtimes/sandbox/wire"
)

// children is the state of a launcher, which creates and serves children.
type children struct {
	config  wire.Setup
	role    Role
	control *net.UnixConn
	plan    *child.Plan // steps of a forked child, made by the launcher's own forks or by the fork server
	common  common
	reaper  *reaper
	forks   *forkServer // nil if children execute programs
	path    []byte      // path of the only program that the filter lets children execute; nil if they may execute any

	directory sync.Mutex // protects the current directory of the process
	networks  networks
}

// newChildren prepares a launcher. It does everything that is slow and the same for all children, before the launcher
// reports that it is ready.
func newChildren(config wire.Setup, role Role) (*children, error) {
	if err := raiseFiles(); err != nil {
		return nil, err
	}
	debug.SetMemoryLimit(wire.LauncherMemory / 4) // runs the garbage collector before large jobs fill the memory limit
	s := &children{config: config, role: role}
	var err error
	if s.common, err = openCommon(config); err != nil {
		return nil, err
	}
	s.reaper = newReaper()
	if sequence := child.Steps(config, config.Groups); config.Forks == nil {
		s.plan = child.NewPlan(child.Filtered(sequence, config.Seccomp), &child.Heap{})
	} else {
		filter, err := child.Halved(config)
		if err != nil {
			return nil, err
		}
		if s.forks, err = startForkServer(*config.Forks, sequence, filter, child.ChildDescriptors(config.Groups), s.reaper); err != nil {
			return nil, err
		}
		s.plan = s.forks.loopMemory.Plan
	}
	if config.Filter == wire.FilterAlone {
		if s.path, err = child.MapPath(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// serveOrders serves orders until the server closes the connection.
func (s *children) serveOrders(conn net.Conn) (err error) {
	// conn is not used after this line. Without KeepAlive the garbage collector would close it, and a child would get its
	// low descriptor number.
	defer runtime.KeepAlive(conn)
	if s.control, err = wire.ReceiveControl(conn); err != nil {
		return err
	}
	buffer := make([]byte, wire.MaxOrder)
	for {
		message, fds, err := wire.ReceiveMessage(s.control, buffer)
		if err != nil {
			return err // the server has ended or closed the connection
		}
		var o wire.Order
		if err := json.Unmarshal(message, &o); err != nil {
			return fmt.Errorf("read order: %w", err)
		}
		go s.serveChild(o, fds)
	}
}

// serveChild creates one child, serves it and cleans up after it.
func (s *children) serveChild(o wire.Order, fds []int) {
	c, status, err := s.make(o, fds)
	if err != nil {
		s.notify(goneNotice(o.ID, status, err.Error()))
		return
	}
	if s.notify(wire.Notice{ID: o.ID}, c.handles()...) {
		if err := s.role.Child(c, c.conn); err != nil {
			fmt.Fprintf(os.Stderr, "child %d: %v\n", o.ID, err)
		}
	}
	s.notify(goneNotice(o.ID, c.close(), ""))
}

// goneNotice returns the notice that a child ended with a status and a reason. A child that never had a process has
// status 0.
func goneNotice(id int64, status syscall.WaitStatus, reason string) wire.Notice {
	gone := wire.Notice{ID: id, Gone: true, Error: reason}
	if status.Signaled() {
		gone.Signal = int(status.Signal())
	} else {
		gone.Code = status.ExitStatus()
	}
	return gone
}

func (s *children) notify(n wire.Notice, handles ...int) bool {
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

// make creates a child and waits until its set-up is complete. It closes the passed descriptors or stores them in the
// child, even after an error. If the process ended during its set-up, make also returns the process's status.
func (s *children) make(o wire.Order, passed []int) (*Child, syscall.WaitStatus, error) {
	if len(passed) != 1+s.config.Groups {
		wire.CloseAll(passed)
		return nil, 0, fmt.Errorf("the order has %d descriptors", len(passed))
	}
	groups := passed[1:]
	defer wire.CloseAll(groups)
	conn, err := wire.UnixConn(passed[0], "frames")
	if err != nil {
		return nil, 0, err
	}
	c := &Child{conn: conn, user: o.User, own: s.config.Users > 1, counted: s.config.Groups > 0, forked: s.forks != nil, mounts: -1, disk: -1, stdout: -1, stderr: -1, channel: -1, network: -1}
	if err := s.start(c, o, groups); err != nil {
		status := c.close()
		if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			status = 0 // close has ended the process, so it has a status
		}
		return nil, status, err
	}
	return c, 0, nil
}

func (s *children) start(c *Child, o wire.Order, groups []int) error {
	if err := c.mountWorkDir(o.Disk); err != nil {
		return fmt.Errorf("make the private disk: %w", err)
	}
	if err := c.enter(&s.directory); err != nil {
		return fmt.Errorf("open the work directory: %w", err)
	}
	theirs, err := c.connect()
	defer func() { wire.CloseAll(theirs.list()) }()
	if err != nil {
		return err
	}
	if s.config.Landlock > 0 {
		if theirs[child.FDRules], err = c.rules(s.config, s.common); err != nil {
			return err
		}
		// Any descriptor, which the child does not use without landlock.
	} else if theirs[child.FDRules], err = unix.FcntlInt(uintptr(c.disk), unix.F_DUPFD_CLOEXEC, wire.FirstFD); err != nil {
		return err
	}
	named := map[string]int{child.FDDisk: c.disk}
	for name, fd := range theirs {
		named[name] = fd
	}
	for i, fd := range groups {
		named[child.GroupDescriptor(i)] = fd
	}
	if s.forks != nil {
		err = s.forks.fork(c, o, named)
	} else {
		err = s.fork(c, o, named)
	}
	if err != nil {
		return err
	}
	// The child has its own copies of these descriptors. If the launcher kept its copies, the pipes and the set-up
	// connection would stay open.
	wire.CloseAll(theirs.list())
	clear(theirs)
	if err := child.ReadReport(c.sync, s.plan.Steps); err != nil {
		return fmt.Errorf("set up the jail: %w", err)
	}
	c.hold()
	return c.Limit(Rlimits{FileBytes: uint64(o.Disk)})
}

// fork starts a child of this process.
func (s *children) fork(c *Child, o wire.Order, named map[string]int) error {
	calls, err := s.plan.Fill(o.User, named)
	if err != nil {
		return err
	}
	c.syscallProgram = child.NewSyscallProgram(calls)
	c.syscallProgram.Path = s.path
	start := func() (err error) {
		c.pid, c.pidfd, err = c.syscallProgram.Start()
		return err
	}
	if s.config.Network {
		c.network, err = startInNetwork(start)
	} else {
		c.leave, err = s.networks.start(start)
	}
	if err != nil {
		return err
	}
	c.end = s.reaper.expect(c.pid)
	return nil
}

// childEnds maps names (see child.ChildDescriptors) to the child's ends of pipes and sockets.
type childEnds map[string]int

func (e childEnds) list() []int {
	var all []int
	for _, fd := range e {
		all = append(all, fd)
	}
	return all
}

// connect makes the pipes and sockets between the child and the launcher. After an error, the caller must still close the
// descriptors in the child and in the returned map.
func (c *Child) connect() (childEnds, error) {
	theirs := childEnds{}
	var all error
	pipe := func() (reader, writer int) {
		fds := [2]int{-1, -1}
		all = errors.Join(all, unix.Pipe2(fds[:], unix.O_CLOEXEC))
		return fds[0], fds[1]
	}
	socket := func() (ours, theirs int) {
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			fds = [2]int{-1, -1}
		}
		all = errors.Join(all, err)
		return fds[0], fds[1]
	}
	var writer, sync int
	theirs[child.FDStdin], writer = pipe() // a pipe without content, which is an empty stdin
	all = errors.Join(all, unix.Close(writer))
	c.stdout, theirs[child.FDStdout] = pipe()
	c.stderr, theirs[child.FDStderr] = pipe()
	c.channel, theirs[child.FDChannel] = socket()
	sync, theirs[child.FDSync] = socket()
	for _, ours := range []int{c.stdout, c.stderr, c.channel, sync} {
		all = errors.Join(all, unix.SetNonblock(ours, true))
	}
	c.sync = os.NewFile(uintptr(sync), "sync") // nil if there is none
	theirs[child.FDLock], theirs[child.FDUnlock] = pipe()
	_, err := unix.Write(theirs[child.FDUnlock], []byte{'x'})
	return theirs, errors.Join(all, err)
}

// raiseFiles raises the limit of open files, because a launcher has descriptors for many children. It also occupies the
// descriptor numbers below wire.FirstFD, so that only programs get them.
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
		if fd >= wire.FirstFD {
			return unix.Close(fd)
		}
	}
}
