package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"math"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/runtimes"
)

// pair returns the two ends of a socket that preserves message boundaries.
func pair(t *testing.T, kind int) (a, b *net.UnixConn) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, kind|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	if a, err = unixConn(fds[0], "a"); err != nil {
		t.Fatal(err)
	}
	if b, err = unixConn(fds[1], "b"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = a.Close()
		_ = b.Close()
	})
	return a, b
}

// TestControlRefuses sends a non-socket, a socket of another kind, and incomplete messages.
func TestControlRefuses(t *testing.T) {
	t.Parallel()
	plain, other := net.Pipe()
	defer plain.Close()
	defer other.Close()
	if _, err := sendControl(plain); err == nil {
		t.Error("a descriptor went through a pipe")
	}
	if _, err := receiveControl(plain); err == nil {
		t.Error("a descriptor came through a pipe")
	}
	ours, theirs := pair(t, unix.SOCK_STREAM)
	if _, err := theirs.Write([]byte{0}); err != nil {
		t.Fatal(err)
	}
	if _, err := receiveControl(ours); err == nil {
		t.Error("a control socket came without one")
	}
	file, err := unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := unixConn(file, "file"); err == nil {
		t.Error("a file is a socket")
	}
	inet, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := unixConn(inet, "inet"); err == nil {
		t.Error("an inet socket is a unix one")
	}
	if _, err := passedIn(unix.UnixCredentials(&unix.Ucred{})); err == nil {
		t.Error("credentials are descriptors")
	}
	if _, err := passedIn(make([]byte, unix.CmsgLen(0))); err == nil {
		t.Error("zeroes are descriptors")
	}
	in, out := pair(t, unix.SOCK_SEQPACKET)
	if _, err := out.Write([]byte("too long")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := receiveMessage(in, make([]byte, 3)); err == nil {
		t.Error("a message was cut")
	}
	_ = out.Close()
	if _, _, err := receiveMessage(in, make([]byte, 3)); err == nil {
		t.Error("a message came from nobody")
	}
}

// TestOrdersThatCannotBe checks that the launcher answers each impossible order with the reason and closes its
// descriptors.
func TestOrdersThatCannotBe(t *testing.T) {
	t.Parallel()
	control, server := pair(t, unix.SOCK_SEQPACKET)
	s := &children{config: setup{Groups: 1, Users: 1}, control: control, plan: &plan{}}
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
		s.serveChild(order{ID: 7, Disk: -1}, fds)
		message, _, err := receiveMessage(server, make([]byte, maxNotice))
		if err != nil {
			t.Fatal(err)
		}
		var n notice
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
	ours, theirs := pair(t, unix.SOCK_STREAM)
	if _, _, err := theirs.WriteMsgUnix([]byte{0}, unix.UnixRights(socketOf(t, control)), nil); err != nil {
		t.Fatal(err)
	}
	if err := s.serveOrders(ours); err == nil {
		t.Error("an order that is no JSON was taken")
	}
	_ = ours.Close()
	if err := s.serveOrders(theirs); err == nil {
		t.Error("orders came from nobody")
	}
	if _, err := openCommon(setup{Devices: []string{"/dev/nowhere"}}); err == nil {
		t.Error("a device that is not is allowed")
	}
}

func socketOf(t *testing.T, conn *net.UnixConn) int {
	t.Helper()
	file, err := conn.File()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	return int(file.Fd())
}

// TestChildRefuses uses a child whose parts are missing.
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
	c := &Child{mounts: -1, disk: -1, stdout: -1, stderr: -1, channel: -1, network: -1, pidfd: -1, own: true, end: dead, work: root, sync: reader, syscallProgram: newSyscallProgram(nil)}
	if c.Forked() || c.Full() || c.Stdout() != -1 || c.Stderr() != -1 || c.Channel() != -1 || c.Ended() != -1 || c.Work() != root {
		t.Error("a child without parts has some")
	}
	if err := c.Limit(Rlimits{Processes: 1}); err != nil {
		t.Errorf("the limits of the dead: %v", err)
	}
	nobody := &Child{end: newEnd(), pid: 1 << 22} // higher than any process number
	if err := nobody.Limit(Rlimits{Processes: 1, Stack: 1}); err != nil {
		t.Errorf("the limits of nobody: %v", err)
	}
	if err := nobody.Chown("nowhere"); err != nil {
		t.Errorf("a file that is its own already: %v", err)
	}
	self := &Child{end: newEnd(), pid: os.Getpid(), own: true}
	if err := self.Limit(Rlimits{Stack: math.MaxUint64}); err != nil { // the current value
		t.Error(err)
	}
	if _, _, err := open(1 << 20); err == nil {
		t.Error("a descriptor that is not was opened")
	}
	if err := c.Chown("nowhere"); err == nil {
		t.Error("a file that is not was given away")
	}
	for _, argv := range [][]string{nil, {""}, {"bash"}} {
		if err := c.Begin(Command{Argv: argv}, ""); !errors.Is(err, errNoProgram) {
			t.Errorf("%q: %v", argv, err)
		}
	}
	if err := c.Begin(Command{Argv: []string{"/bin/true"}}, "x"); err == nil { // the reading end accepts no data
		t.Error("a program began without its child")
	}
	if _, err := writer.Write([]byte{reportFailed}); err != nil {
		t.Fatal(err)
	}
	_ = writer.Close()
	if err := c.listen(nil); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("half a failure: %v", err)
	}
	if err := c.enter(new(noLock)); err == nil {
		t.Error("there is a work directory")
	}
	if _, err := c.rules(setup{Landlock: 1}, common{-1: 0}); err == nil {
		t.Error("what is not open is allowed")
	}
	if _, err := c.rules(setup{Landlock: 1}, nil); err == nil {
		t.Error("a disk that is not is allowed")
	}
	for at, want := range map[uint64]string{0: "mount: ", 1: "become the program: "} {
		err := failedAt([]step{{name: "mount"}}, failure{at: at * uint64(callSize), value: -int64(unix.EPERM)})
		if !errors.Is(err, syscall.EPERM) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%d: %v", at, err)
		}
	}
	if err := failedAt(nil, failure{}); err == nil || !strings.Contains(err.Error(), "nothing came") {
		t.Error(err)
	}
	made := newPlan([]step{do("x", 1, descriptor("nowhere"))}, &heap{})
	if _, err := made.fill(1000, nil); err == nil {
		t.Error("a descriptor that is not was filled in")
	}
}

// noLock is a lock for a single goroutine.
type noLock struct{}

func (*noLock) Lock()   {}
func (*noLock) Unlock() {}

// TestForkServerRefuses uses a fork server that cannot start, and one that sends invalid data.
func TestForkServerRefuses(t *testing.T) {
	t.Parallel()
	for name, program := range map[string]string{"no program": "/nowhere", "ends at once": "/bin/true", "no way to speak": "/bin/false"} {
		if _, err := startForkServer(Command{Argv: []string{program}}, nil, halves{}, nil, nil); err == nil {
			t.Errorf("%s: it is there", name)
		}
	}
	loopMemory, err := newLoopImage(loopPlace{}, nil, halves{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := pair(t, unix.SOCK_SEQPACKET)
	f := &forkServer{control: ours, loopMemory: loopMemory, ordered: map[int64]*forked{1: {born: make(chan struct{})}}}
	for name, n := range map[string]forkNotice{
		"a child that nobody asked for": {id: 2, pid: 5}, "a child without a handle": {id: 1, pid: 5}, "neither a child nor an error": {id: 1},
	} {
		if f.answered(n, nil) {
			t.Errorf("%s was taken", name)
		}
	}
	if f.answered(forkNotice{id: 1}, []int{9}) {
		t.Error("a handle on no child was taken")
	}
	go func() {
		if _, _, err := receiveMessage(theirs, make([]byte, maxNotice)); err != nil {
			t.Error(err)
		}
		f.answered(forkNotice{id: 2, pid: -int64(unix.EAGAIN)}, nil)
	}()
	if err := f.fork(&Child{}, order{ID: 2}, nil); !errors.Is(err, unix.EAGAIN) {
		t.Errorf("a child that could not be forked: %v", err)
	}
	// Close alone is not enough: a process that another test forks just now holds a copy until it executes its program.
	if err := theirs.CloseRead(); err != nil {
		t.Fatal(err)
	}
	if err := f.fork(&Child{}, order{ID: 3}, nil); err == nil {
		t.Error("nobody was asked for a child")
	}
}

// TestReaper keeps the end of a child that died before expect was called.
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

// TestLauncherRefuses tests the server's side of a launcher that is used up, silent or sends invalid data.
func TestLauncherRefuses(t *testing.T) {
	t.Parallel()
	box := &Sandbox{
		ids: newIDs(1, 1), groups: unusable(), log: slog.New(slog.DiscardHandler), jails: map[*Jail]struct{}{}, filters: map[Filter][]byte{},
		launchers: launchers{named: map[string]*launcher{}, making: map[string]chan struct{}{"one": make(chan struct{})}},
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := box.launcher(gone, Profile{Launcher: "one"}); !errors.Is(err, context.Canceled) {
		t.Errorf("waited for a launcher: %v", err)
	}
	if _, err := box.launcher(t.Context(), Profile{Launcher: "two", Filter: "none"}); err == nil {
		t.Error("a launcher with a filter that is not")
	}
	process := &Jail{sandbox: box, ended: make(chan struct{}), gone: make(chan struct{})}
	close(process.ended) // no process needs to be killed
	s := &launcher{sandbox: box, name: "three", jail: process, who: box.ids.many(hostID{}), children: map[int64]*Jail{}, idle: time.NewTimer(time.Hour), used: time.Now(), born: time.Now()}
	s.send = func([]byte, []byte) error { return io.ErrClosedPipe }
	if _, err := s.child(t.Context(), Profile{Limits: runtimes.DefaultLimits()}); err == nil || !strings.Contains(err.Error(), io.ErrClosedPipe.Error()) {
		t.Errorf("an order that nobody got: %v", err)
	}
	box.launchers.named[s.name] = s
	if _, err := box.prepareChild(t.Context(), Profile{Launcher: s.name}); err == nil {
		t.Error("a dead launcher made a child")
	}
	box.announce("four")
	box.succeed(Profile{Launcher: "four", Filter: "none"}, s)
	if s.retired || box.launchers.making["four"] != nil {
		t.Error("a launcher without a successor has retired, or somebody still waits for the successor")
	}
	for free := false; !free; { // the only user is released when the lost children are destroyed
		id, err := box.ids.acquire()
		if free = err == nil; free {
			box.ids.release(id)
		} else {
			runtime.Gosched()
		}
	}
	s.send = func([]byte, []byte) error { return nil }
	if _, err := s.child(gone, Profile{}); !errors.Is(err, context.Canceled) {
		t.Errorf("an order without an answer: %v", err)
	}
	s.handleNotice([]byte("{"), nil)
	s.handleNotice([]byte(`{"id":99}`), nil)
	s.retireIdle()
	if s.retired {
		t.Error("a launcher that was just used has retired")
	}
	s.mu.Lock()
	waiting := slices.Collect(maps.Values(s.children)) // the child without a reply
	s.mu.Unlock()
	for _, j := range waiting {
		j.childEnded(notice{Gone: true})
		j.childEnded(notice{Gone: true})
		j.Wait()
		j.childReady([]int{-1})
		if err := j.open(); err != nil {
			t.Error(err)
		}
		j.Kill()
	}
	s.mu.Lock()
	s.used = time.Now().Add(-2 * idleLauncher)
	s.mu.Unlock()
	s.retireIdle()
	if _, err := s.child(t.Context(), Profile{}); !errors.Is(err, errRetired) {
		t.Errorf("a retired launcher was asked: %v", err)
	}
	s.forks, s.born = true, time.Now().Add(-ageOfServer)
	if s.usable() || !s.ageing() {
		t.Error("a fork server does not age")
	}
	if _, err := hostPID(-1); err == nil {
		t.Error("nothing has a process")
	}
	file, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := hostPID(int(file.Fd())); err == nil {
		t.Error("a file has a process")
	}
}
