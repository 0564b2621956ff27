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

// order asks a starter for a cell. It comes with descriptors: the cell's connection, and the files by which it joins its
// control groups.
type order struct {
	ID   int64 `json:"id"`
	User int   `json:"user"` // in the starter's namespace
	Disk int64 `json:"disk"` // bytes
}

// notice is what a starter says of a cell: that it is ready, with a handle on its process 1, or gone, with the reason if
// it never was ready.
type notice struct {
	ID     int64  `json:"id"`
	Gone   bool   `json:"gone,omitempty"`
	Error  string `json:"error,omitempty"`
	Signal int    `json:"signal,omitempty"`
	Code   int    `json:"code,omitempty"`

	orphaned bool // what we say ourselves of the cells of a starter that ended
}

const (
	maxOrder  = 4 << 10
	maxNotice = 16 << 10
	maxPassed = 16 // descriptors of one message
)

// cells is the life of a starter.
type cells struct {
	config  setup
	role    Role
	control *net.UnixConn
	plan    *plan // the way, of our own forks or of the fork server's
	common  common
	reaper  *reaper
	forks   *forkServer // nil where programs are executed
	path    []byte      // of the one program that all of them execute, where the filter allows that; nil for any

	directory sync.Mutex // the current one
}

// newCells does what takes long, before the starter says that it is ready.
func newCells(config setup, role Role) (*cells, error) {
	if err := raiseFiles(); err != nil {
		return nil, err
	}
	debug.SetMemoryLimit(starterMemory / 4) // what large jobs and results leave behind is collected before it is too much
	s := &cells{config: config, role: role}
	var err error
	if s.common, err = openCommon(config); err != nil {
		return nil, err
	}
	s.reaper = newReaper()
	if way := config.steps(config.Groups); config.Forks == nil {
		s.plan = newPlan(filtered(way, config.Seccomp), &heap{})
	} else {
		filter, err := config.halved()
		if err != nil {
			return nil, err
		}
		if s.forks, err = startForkServer(*config.Forks, way, filter, cellDescriptors(config.Groups), s.reaper); err != nil {
			return nil, err
		}
		s.plan = s.forks.board.plan
	}
	if config.Filter == FilterAlone {
		if s.path, err = mapPath(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// take takes orders until the server goes.
func (s *cells) take(conn net.Conn) (err error) {
	// Nobody reads it after this, and the collector closes what nobody reads: its low number would go to a cell.
	defer runtime.KeepAlive(conn)
	if s.control, err = receiveControl(conn); err != nil {
		return err
	}
	buffer := make([]byte, maxOrder)
	for {
		message, fds, err := receiveMessage(s.control, buffer)
		if err != nil {
			return err // the server is gone, or has no more use for us
		}
		var o order
		if err := json.Unmarshal(message, &o); err != nil {
			return fmt.Errorf("read order: %w", err)
		}
		go s.serve(o, fds)
	}
}

// serve is the life of one cell.
func (s *cells) serve(o order, fds []int) {
	cell, err := s.make(o, fds)
	if err != nil {
		s.tell(notice{ID: o.ID, Gone: true, Error: err.Error()})
		return
	}
	if s.tell(notice{ID: o.ID}, cell.handles()...) {
		if err := s.role.Cell(cell, cell.conn); err != nil {
			fmt.Fprintf(os.Stderr, "cell %d: %v\n", o.ID, err)
		}
	}
	status := cell.close()
	gone := notice{ID: o.ID, Gone: true}
	if status.Signaled() {
		gone.Signal = int(status.Signal())
	} else {
		gone.Code = status.ExitStatus()
	}
	s.tell(gone)
}

func (s *cells) tell(n notice, handles ...int) bool {
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

// make makes a cell and waits until its child has set everything up. The descriptors are taken in any case.
func (s *cells) make(o order, passed []int) (*Cell, error) {
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
	cell := &Cell{conn: conn, user: o.User, own: s.config.Users > 1, forked: s.forks != nil, mounts: -1, disk: -1, stdout: -1, stderr: -1, channel: -1, network: -1}
	if err := s.start(cell, o, groups); err != nil {
		cell.close()
		return nil, err
	}
	return cell, nil
}

func (s *cells) start(cell *Cell, o order, groups []int) error {
	if err := cell.furnish(o.Disk); err != nil {
		return fmt.Errorf("make the private disk: %w", err)
	}
	if err := cell.enter(&s.directory); err != nil {
		return fmt.Errorf("open the work directory: %w", err)
	}
	theirs, err := cell.connect()
	defer func() { closeAll(theirs.list()) }()
	if err != nil {
		return err
	}
	if s.config.Landlock > 0 {
		if theirs[fdRules], err = cell.rules(s.config, s.common); err != nil {
			return err
		}
	} else if theirs[fdRules], err = unix.FcntlInt(uintptr(cell.disk), unix.F_DUPFD_CLOEXEC, firstFD); err != nil { // to have one
		return err
	}
	named := map[string]int{fdDisk: cell.disk}
	for name, fd := range theirs {
		named[name] = fd
	}
	for i, fd := range groups {
		named[groupDescriptor(i)] = fd
	}
	if s.forks != nil {
		err = s.forks.fork(cell, o, named)
	} else {
		err = s.fork(cell, o, named)
	}
	if err != nil {
		return err
	}
	// The child has its copies. Ours would keep its pipes open, and the talk about the set-up.
	closeAll(theirs.list())
	clear(theirs)
	if err := cell.listen(s.plan.steps); err != nil {
		return fmt.Errorf("set up the jail: %w", err)
	}
	cell.hold()
	return cell.Limit(Rlimits{FileBytes: uint64(o.Disk)})
}

// fork makes a child of this process.
func (s *cells) fork(cell *Cell, o order, named map[string]int) error {
	calls, err := s.plan.fill(o.User, named)
	if err != nil {
		return err
	}
	cell.script = newScript(calls)
	cell.script.path = s.path
	start := func() (err error) {
		cell.pid, cell.pidfd, err = cell.script.start()
		return err
	}
	if s.config.Network {
		cell.network, err = startInNetwork(start)
	} else {
		err = start()
	}
	if err != nil {
		return err
	}
	cell.end = s.reaper.expect(cell.pid)
	return nil
}

// childEnds are descriptors of the child, by their names.
type childEnds map[string]int

func (e childEnds) list() []int {
	var all []int
	for _, fd := range e {
		all = append(all, fd)
	}
	return all
}

// connect makes the pipes and sockets between the child and us. What was made is in the cell and in the answer, also when
// something could not be.
func (c *Cell) connect() (childEnds, error) {
	theirs := childEnds{}
	var all error
	pipe := func() (reader, writer int) {
		fds := [2]int{-1, -1}
		all = errors.Join(all, unix.Pipe2(fds[:], unix.O_CLOEXEC))
		return fds[0], fds[1]
	}
	socket := func() (ours, child int) {
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
	c.sync = os.NewFile(uintptr(sync), "sync") // nil without one
	theirs[fdTake], theirs[fdGive] = pipe()
	_, err := unix.Write(theirs[fdGive], []byte{'x'})
	return theirs, errors.Join(all, err)
}

func closeAll(fds []int) {
	for _, fd := range fds {
		_ = unix.Close(fd)
	}
}

// raiseFiles makes room for the descriptors of many cells, and keeps the low numbers for their programs.
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
