package sandbox

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/sandbox/seccomp"
)

// TestLinkedWithCgo checks that a binary that cannot change all its threads drops no privileges and returns an error.
// The race detector makes this test binary such a binary.
func TestLinkedWithCgo(t *testing.T) {
	t.Parallel()
	if everyThread(unix.SYS_GETPID, 0, 0, 0) == nil {
		t.Skip("this test binary is not linked with cgo, and would lose its privileges")
	}
	for name, err := range map[string]error{
		"capabilities of files": forgetCapabilities(),
		"capabilities":          dropCapabilities(),
		"privileges":            dropPrivileges(setup{}),
		"control groups":        hideGroups(setup{}),
	} {
		if !errors.Is(err, errCgo) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if version := landlockVersion(); version > 0 {
		if err := landlock(setup{Landlock: version, Filter: FilterWorker}); !errors.Is(err, errCgo) {
			t.Errorf("landlock: %v", err)
		}
	}
}

// TestLandlockRefuses uses a right that no kernel knows, and a missing path.
func TestLandlockRefuses(t *testing.T) {
	t.Parallel()
	version := landlockVersion()
	if version == 0 {
		t.Skip("this kernel has no landlock")
	}
	if _, err := newRules(unix.LandlockRulesetAttr{Handled_access_fs: 1 << 63}); err == nil {
		t.Error("there are rules for a right that is not")
	}
	if err := landlock(setup{Landlock: version, Filter: FilterProgram, Devices: []string{"/dev/nowhere"}}); err == nil || !strings.Contains(err.Error(), "/dev/nowhere") {
		t.Errorf("a device that is not: %v", err)
	}
}

// TestMountsNeedPrivileges makes a root without the needed privileges. The first step of each part must return an
// error.
func TestMountsNeedPrivileges(t *testing.T) {
	if os.Geteuid() == 0 {
		return // TestOrdinaryUser runs this test again
	}
	t.Chdir(t.TempDir())
	for name, err := range map[string]error{
		"the root": changeRoot(setup{}), "an empty root": enterEmptyRoot(), "the old root": leaveOldRoot(setup{}),
		"a disk": addDisk(1 << 20), "proc": addProc(),
	} {
		if !errors.Is(err, unix.EPERM) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := (&Child{end: newEnd(), pid: 1}).Limit(Rlimits{OpenFiles: 1}); !errors.Is(err, unix.EPERM) {
		t.Errorf("the limits of another's process: %v", err)
	}
}

// TestStartRefuses tries to start a jail with invalid settings.
func TestStartRefuses(t *testing.T) {
	t.Parallel()
	if _, err := New(t.Context(), Options{Exe: "/nowhere"}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a binary that is not: %v", err)
	}
	s := &Sandbox{filters: map[Filter][]byte{FilterProgram: nil}, groups: unusable(), options: Options{Without: []string{Proc}}}
	if _, err := s.configure(Profile{Filter: FilterProgram, Network: true}); err == nil || !strings.Contains(err.Error(), "network") {
		t.Errorf("a network without a launcher: %v", err)
	}
	if host := s.Host(); host.Landlock != 0 || len(host.Without) != 1 {
		t.Errorf("%+v", host)
	}
	if _, err := compileFilter(seccomp.Program().Refuse("no call of that name")); err == nil {
		t.Error("a filter of a call that is not")
	}
	closed, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := (&spawner{}).start(closed, "none", identity{}, closed, closed); err == nil {
		t.Error("a connection that is closed went along")
	}
	udp, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(udp)
	if listenAt(udp) == nil {
		t.Error("a socket without connections waits for some")
	}
}

// TestPageOfThePath checks that the page is mapped where the filter expects it, or not at all.
func TestPageOfThePath(t *testing.T) {
	t.Parallel()
	page, err := mapPath()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.MunmapPtr(unsafe.Pointer(&page[0]), uintptr(len(page))); err != nil {
			t.Error(err)
		}
	}()
	if _, err := mapPath(); err == nil {
		t.Error("another page is at its place")
	}
}

// cancelling is the connection of a jail whose server cancels just as the jail becomes ready.
type cancelling struct {
	net.Conn
	cancel context.CancelFunc
}

func (c cancelling) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.cancel()
	return n, err
}

// TestReadyTooLate checks that a cancelled caller gets no jail whose connection has a deadline.
func TestReadyTooLate(t *testing.T) {
	t.Parallel()
	ours, theirs := net.Pipe()
	defer ours.Close()
	defer theirs.Close()
	go func() {
		if _, err := receive(theirs); err != nil {
			t.Error(err)
		}
		_ = frames.NewWriter(theirs).WriteJSON(frames.Ready, struct{}{})
	}()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	j := &Jail{conn: cancelling{ours, cancel}}
	if err := j.handshake(ctx, setup{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a jail was ready: %v", err)
	}
}

// TestStrangeChildren uses children with an unexpected process.
func TestStrangeChildren(t *testing.T) {
	t.Parallel()
	if err := (&Jail{state: childIsReady, handle: -1}).open(); err == nil {
		t.Error("a process that is not is watched")
	}
	alive, err := unix.PidfdOpen(os.Getpid(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(alive)
	process := &Jail{ended: make(chan struct{})} // the test would notice a Kill of it
	j := &Jail{state: childIsReady, handle: alive, destroyTimer: time.NewTimer(0), launcher: &launcher{jail: process}}
	<-j.destroyTimer.C
	j.notDestroyed()
	if !j.destroyTimer.Stop() {
		t.Error("nobody looks again for a child that lives on")
	}
	gone := &Jail{sandbox: &Sandbox{ids: &ids{}, jails: map[*Jail]struct{}{}, log: slog.New(slog.DiscardHandler)}, gone: make(chan struct{})}
	gone.finish(io.ErrUnexpectedEOF)
	<-gone.gone // even if the cleanup failed
}

// TestForkServerTalksNonsense checks that the launcher reads from a fork server until it sends invalid data or ends.
func TestForkServerTalksNonsense(t *testing.T) {
	t.Parallel()
	ours, theirs := pair(t, unix.SOCK_SEQPACKET)
	f := &forkServer{control: ours}
	for _, reported := range []string{"{", strings.Repeat("7", 16)} {
		if _, err := io.WriteString(theirs, reported); err != nil {
			t.Fatal(err)
		}
		if err := f.listen(); err == nil || !strings.Contains(err.Error(), "says") {
			t.Errorf("%s: %v", reported, err)
		}
	}
	if err := theirs.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if err := f.listen(); !errors.Is(err, io.EOF) {
		t.Errorf("nobody: %v", err)
	}
}

// TestCredentialsAreNoDescriptors checks that a message with other control data is refused.
func TestCredentialsAreNoDescriptors(t *testing.T) {
	t.Parallel()
	ours, theirs := pair(t, unix.SOCK_SEQPACKET)
	if err := unix.SetsockoptInt(socketOf(t, ours), unix.SOL_SOCKET, unix.SO_PASSCRED, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(theirs, "who am I"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := receiveMessage(ours, make([]byte, maxNotice)); err == nil {
		t.Error("credentials are descriptors")
	}
}

// TestOrdersEnd checks that an unused launcher stops accepting orders.
func TestOrdersEnd(t *testing.T) {
	t.Parallel()
	control, server := pair(t, unix.SOCK_SEQPACKET)
	ours, theirs := pair(t, unix.SOCK_STREAM)
	if _, _, err := theirs.WriteMsgUnix([]byte{0}, unix.UnixRights(socketOf(t, control)), nil); err != nil {
		t.Fatal(err)
	}
	if err := server.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if err := (&children{}).serveOrders(ours); !errors.Is(err, io.EOF) {
		t.Errorf("orders ended with %v", err)
	}
}
