package launcher

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/runtimes/sandbox/child"
	"github.com/atelier-run/atelier/runtimes/sandbox/wire"
	"github.com/atelier-run/atelier/runtimes/sandbox/wire/wiretest"
)

// TestOrdersThatCannotBe checks that a launcher replies to each invalid order with the reason, and closes the order's
// descriptors.
func TestOrdersThatCannotBe(t *testing.T) {
	t.Parallel()
	control, server := wiretest.Pair(t, unix.SOCK_SEQPACKET)
	s := &children{config: wire.Setup{Groups: 1, Users: 1}, control: control, plan: &child.Plan{}}
	null := func() int {
		fd, err := unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		return fd
	}
	socket := func() int {
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = unix.Close(fds[1]) })
		return fds[0]
	}
	for name, fds := range map[string][]int{
		"nothing came along": nil, "no connection": {null(), null()}, "a disk of less than nothing": {socket(), null()},
	} {
		s.serveChild(wire.Order{ID: 7, Disk: -1}, fds)
		message, _, err := wire.ReceiveMessage(server, make([]byte, wire.MaxNotice))
		if err != nil {
			t.Fatal(err)
		}
		var n wire.Notice
		if err := json.Unmarshal(message, &n); err != nil || n.ID != 7 || !n.Gone || n.Error == "" {
			t.Errorf("%s: %s, %v", name, message, err)
		}
		for _, fd := range fds {
			if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil {
				t.Logf("%s: %d is somebody else's by now, or was not closed", name, fd)
			}
		}
	}
	if _, err := server.Write([]byte("{")); err != nil {
		t.Fatal(err)
	}
	ours, theirs := wiretest.Pair(t, unix.SOCK_STREAM)
	if _, _, err := theirs.WriteMsgUnix([]byte{0}, unix.UnixRights(wiretest.Descriptor(t, control)), nil); err != nil {
		t.Fatal(err)
	}
	if err := s.serveOrders(ours); err == nil {
		t.Error("an order that is not JSON was accepted")
	}
	_ = ours.Close()
	if err := s.serveOrders(theirs); err == nil {
		t.Error("serveOrders succeeded without a connection")
	}
	if _, err := openCommon(wire.Setup{Devices: []string{"/dev/nowhere"}}); err == nil {
		t.Error("a missing device was allowed")
	}
}

// TestChildRefuses calls the methods of a child whose process, directory or descriptors are missing. Each must return an
// error or have no effect.
func TestChildRefuses(t *testing.T) {
	t.Parallel()
	dead := newEnd()
	close(dead.dead)
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c := &Child{mounts: -1, disk: -1, stdout: -1, stderr: -1, channel: -1, network: -1, pidfd: -1, own: true, end: dead, work: root, sync: reader, syscallProgram: child.NewSyscallProgram(nil)}
	if c.Forked() || c.Full() || c.Stdout() != -1 || c.Stderr() != -1 || c.Channel() != -1 || c.Ended() != -1 || c.Work() != root {
		t.Error("a method of an empty child succeeded")
	}
	if err := c.Limit(Rlimits{Processes: 1}); err != nil {
		t.Errorf("limit a dead child: %v", err)
	}
	nobody := &Child{end: newEnd(), pid: 1 << 22} // higher than any process number
	if err := nobody.Limit(Rlimits{Processes: 1, Stack: 1}); err != nil {
		t.Errorf("limit a process that does not exist: %v", err)
	}
	if err := nobody.Chown("nowhere"); err != nil {
		t.Errorf("change the owner although the users are the same: %v", err)
	}
	self := &Child{end: newEnd(), pid: os.Getpid(), own: true}
	if err := self.Limit(Rlimits{Stack: math.MaxUint64}); err != nil { // the current value
		t.Error(err)
	}
	if _, _, err := open(1 << 20); err == nil {
		t.Error("an invalid descriptor was opened")
	}
	if err := c.Chown("nowhere"); err == nil {
		t.Error("the owner of a missing file was changed")
	}
	for _, argv := range [][]string{nil, {""}, {"bash"}} {
		if err := c.Begin(wire.Command{Argv: argv}, ""); !errors.Is(err, child.ErrNoProgram) {
			t.Errorf("%q: %v", argv, err)
		}
	}
	if err := c.Begin(wire.Command{Argv: []string{"/bin/true"}}, "x"); err == nil { // the reading end accepts no data
		t.Error("a program started without its child")
	}
	if _, err := writer.Write([]byte{child.ReportFailed}); err != nil {
		t.Fatal(err)
	}
	_ = writer.Close()
	if err := child.ReadReport(c.sync, nil); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a truncated failure report: %v", err)
	}
	if err := c.enter(new(noLock)); err == nil {
		t.Error("a work directory was opened")
	}
	if _, err := c.rules(wire.Setup{Landlock: 1}, common{-1: 0}); err == nil {
		t.Error("a rule for an invalid descriptor was added")
	}
	if _, err := c.rules(wire.Setup{Landlock: 1}, nil); err == nil {
		t.Error("a rule for an invalid disk was added")
	}
}

// noLock is a sync.Locker without effect.
type noLock struct{}

func (*noLock) Lock()   {}
func (*noLock) Unlock() {}

// TestForkServerRefuses checks that a fork server that cannot start, or that sends invalid data, is an error.
func TestForkServerRefuses(t *testing.T) {
	t.Parallel()
	for name, program := range map[string]string{"no program": "/nowhere", "ends at once": "/bin/true", "no way to speak": "/bin/false"} {
		if _, err := startForkServer(wire.Command{Argv: []string{program}}, nil, wire.Halves{}, nil, nil); err == nil {
			t.Errorf("%s: the fork server started", name)
		}
	}
	loopMemory, err := child.NewLoopImage(child.LoopPlace{}, nil, wire.Halves{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := wiretest.Pair(t, unix.SOCK_SEQPACKET)
	f := &forkServer{control: ours, loopMemory: loopMemory, ordered: map[int64]*forked{1: {born: make(chan struct{})}}}
	for name, n := range map[string]struct {
		id  int64
		pid int
	}{"a child that nobody asked for": {2, 5}, "a child without a handle": {1, 5}, "neither a child nor an error": {1, 0}} {
		if f.answered(n.id, n.pid, nil) {
			t.Errorf("%s was accepted", name)
		}
	}
	if f.answered(1, 0, []int{9}) {
		t.Error("a descriptor that belongs to no order was accepted")
	}
	go func() {
		if _, _, err := wire.ReceiveMessage(theirs, make([]byte, wire.MaxNotice)); err != nil {
			t.Error(err)
		}
		f.answered(2, -int(unix.EAGAIN), nil)
	}()
	if err := f.fork(&Child{}, wire.Order{ID: 2}, nil); !errors.Is(err, unix.EAGAIN) {
		t.Errorf("a child that could not be forked: %v", err)
	}
	// Close alone is not enough: a process that another test is forking has a copy of the descriptor until it calls exec.
	if err := theirs.CloseRead(); err != nil {
		t.Fatal(err)
	}
	// The order waits for the end of the launcher, which the end of its fork server causes.
	ended := make(chan error)
	go func() { ended <- f.fork(&Child{}, wire.Order{ID: 3}, nil) }()
	for !f.answered(3, -int(unix.EAGAIN), nil) {
		runtime.Gosched()
	}
	if err := <-ended; !errors.Is(err, unix.EAGAIN) {
		t.Errorf("an order to a fork server that has ended returns %v", err)
	}
}

// TestReaper checks that the status of a child that died before expect was called is stored, and returned only once.
func TestReaper(t *testing.T) {
	t.Parallel()
	r := &reaper{children: map[int]*end{}, early: map[int]syscall.WaitStatus{}, born: make(chan struct{}, 1)}
	r.reaped(7, 256)
	if e := r.expect(7); e.status != 256 {
		t.Errorf("%+v", e)
	}
	later := r.expect(8)
	r.reaped(8, 9)
	<-later.dead
	if !later.status.Signaled() {
		t.Errorf("%+v", later)
	}
}

// TestLimit_NoGroupCountsSockets_FewerFiles checks that the limit of open files is lower if no control group counts the
// memory of sockets.
func TestLimit_NoGroupCountsSockets_FewerFiles(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		counted bool
		limits  Rlimits
		want    uint64
	}{
		"a group counts":      {true, Rlimits{OpenFiles: 256, Sockets: 64}, 256},
		"no group counts":     {false, Rlimits{OpenFiles: 256, Sockets: 64}, 64},
		"the job has no rule": {false, Rlimits{OpenFiles: 256}, 256},
	} {
		program := exec.Command("sleep", "600")
		if err := program.Start(); err != nil {
			t.Fatal(err)
		}
		c := &Child{end: newEnd(), pid: program.Process.Pid, own: true, counted: tt.counted}
		err := c.Limit(tt.limits)
		var now unix.Rlimit
		err = errors.Join(err, unix.Prlimit(c.pid, unix.RLIMIT_NOFILE, nil, &now), program.Process.Kill())
		_ = program.Wait()
		if err != nil || now.Cur != tt.want || now.Max != tt.want {
			t.Errorf("%s: %+v, %v", name, now, err)
		}
	}
}
