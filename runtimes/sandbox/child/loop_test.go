package child

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/runtimes/sandbox/seccomp"
	"github.com/atelier-run/atelier/runtimes/sandbox/wire"
	"github.com/atelier-run/atelier/runtimes/sandbox/wire/wiretest"
)

// another is a Python program that acts as a fork server with only the loop. Its children print how many descriptors are
// open, and how many more filters they have than the fork server at its start.
const another = `
import ctypes, fcntl, json, os
def filters():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("Seccomp_filters:"))
before = filters()
control = fcntl.fcntl(3, fcntl.F_DUPFD, 40)
while os.dup(0) < control:
    pass
os.close(control + 1)
libc = ctypes.CDLL(None)
libc.prctl(38, 1, 0, 0, 0) # PR_SET_NO_NEW_PRIVS
libc.mmap.restype, libc.mmap.argtypes = ctypes.c_void_p, (ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long)
code, memory = (libc.mmap(None, 1 << 16, access, 0x22, -1, 0) for access in (7, 3))
told = os.read(control, 1 << 16)
ctypes.memmove(code, told, len(told))
os.write(control, json.dumps({"memory": memory, "control": control}).encode())
told = os.read(control, 1 << 16)
ctypes.memmove(memory, told, len(told))
ctypes.PYFUNCTYPE(ctypes.c_long, ctypes.c_void_p)(code)(memory)
os.write(1, b"%d open, %d filters" % (len(os.listdir("/proc/self/fd")), filters() - before))
os._exit(0)
`

// looping is a fork server in its loop, outside any jail.
type looping struct {
	control    *net.UnixConn
	loopMemory *LoopImage
	server     *exec.Cmd
}

func startLooping(t *testing.T, flags uintptr, filter wire.Halves) *looping {
	t.Helper()
	control, theirs := wiretest.Pair(t, unix.SOCK_SEQPACKET)
	file, err := theirs.File()
	if err != nil {
		t.Fatal(err)
	}
	server := exec.CommandContext(t.Context(), "/usr/bin/python3", "-I", "-S", "-c", another)
	server.ExtraFiles, server.Stderr = []*os.File{file}, os.Stderr
	if err := errors.Join(server.Start(), file.Close(), theirs.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := control.Write(LoopCode()); err != nil {
		t.Fatal(err)
	}
	message, _, err := wire.ReceiveMessage(control, make([]byte, wire.MaxNotice))
	if err != nil {
		t.Fatal(err)
	}
	var place LoopPlace
	if err := json.Unmarshal(message, &place); err != nil {
		t.Fatal(err)
	}
	loopMemory, err := NewLoopImage(place, []Step{
		do("early", unix.SYS_DUP3, descriptor(FDSync), arg{kind: argUser}, number(0)),
		do("stdout", unix.SYS_DUP3, descriptor(FDStdout), number(wire.StdoutFD), number(0)),
		do("sync", unix.SYS_DUP3, descriptor(FDSync), number(wire.SyncFD), number(0)),
	}, filter, []string{FDStdout, FDSync})
	if err != nil {
		t.Fatal(err)
	}
	setFlags(loopMemory.Image, flags)
	if _, err := control.Write(loopMemory.Image); err != nil {
		t.Fatal(err)
	}
	return &looping{control, loopMemory, server}
}

// setFlags sets the clone flags of the loop. In these tests the children need no PID namespace, and their parent is the
// fork server.
func setFlags(image []byte, flags uintptr) { (*loopMemory)(unsafe.Pointer(&image[0])).clone[0] = flags }

// order sends an order for a child. more is the number of additional descriptors, short the number of bytes missing at
// the end. It returns the other ends of the child's stdout and sync descriptor.
func (l *looping) order(t *testing.T, user, more, short int) (stdout, sync *os.File) {
	t.Helper()
	stdout, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	sync, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	message, fds, err := l.loopMemory.Order(9, user, map[string]int{FDStdout: int(out.Fd()), FDSync: int(in.Fd())})
	if err != nil {
		t.Fatal(err)
	}
	for range more {
		fds = append(fds, fds[0])
	}
	if more < 0 {
		fds = fds[:len(fds)+more]
	}
	if _, _, err := l.control.WriteMsgUnix(message[:len(message)-short], unix.UnixRights(fds...), nil); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(out.Close(), in.Close()); err != nil {
		t.Fatal(err)
	}
	return stdout, sync
}

func (l *looping) answer(t *testing.T) (forkNotice, []int) {
	t.Helper()
	message, fds, err := wire.ReceiveMessage(l.control, make([]byte, wire.MaxNotice))
	if err != nil || len(message) != int(unsafe.Sizeof(forkNotice{})) {
		t.Fatalf("%q, %v", message, err)
	}
	return *(*forkNotice)(unsafe.Pointer(&message[0])), fds
}

func readAll(t *testing.T, from io.Reader) []byte {
	t.Helper()
	reported, err := io.ReadAll(from)
	if err != nil {
		t.Fatal(err)
	}
	return reported
}

// TestLoop checks that each child runs its syscall program and has only its own descriptors, and that the reply to the
// order contains a pidfd of the child. A child that fails must report the failed call.
func TestLoop(t *testing.T) {
	t.Parallel()
	l := startLooping(t, unix.CLONE_PIDFD, wire.Halves{})
	for range 3 {
		stdout, sync := l.order(t, 20, 0, 0)
		n, fds := l.answer(t)
		if n.id != 9 || n.pid < 2 || len(fds) != 1 {
			t.Fatalf("%+v with %d descriptors", n, len(fds))
		}
		wire.CloseAll(fds)
		if reported := readAll(t, sync); string(reported) != "R" {
			t.Errorf("it said %q", reported)
		}
		if reported := readAll(t, stdout); string(reported) != "5 open, 0 filters" { // the fifth is the open directory /proc/self/fd
			t.Errorf("it has %q", reported)
		}
		_, sync = l.order(t, 1<<20, 0, 0) // an invalid user id
		_, fds = l.answer(t)
		wire.CloseAll(fds)
		if err := ReadReport(sync, l.loopMemory.Plan.Steps); !errors.Is(err, unix.EBADF) || !strings.HasPrefix(err.Error(), "early: ") {
			t.Errorf("a step that must fail: %v", err)
		}
	}
	if err := l.control.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if err := l.server.Wait(); err != nil {
		t.Errorf("the fork server did not exit after the last order: %v", err)
	}
}

// TestLoopFiltered checks that the fork server has installed its part of the filter before it forks, and that the child
// has both parts.
func TestLoopFiltered(t *testing.T) {
	t.Parallel()
	filter, err := wire.CompileHalves(seccomp.Program())
	if err != nil {
		t.Fatal(err)
	}
	l := startLooping(t, unix.CLONE_PIDFD, filter)
	for range 2 {
		stdout, sync := l.order(t, 20, 0, 0)
		_, fds := l.answer(t)
		wire.CloseAll(fds)
		if reported := readAll(t, sync); string(reported) != "R" {
			t.Errorf("it said %q", reported)
		}
		if reported := readAll(t, stdout); string(reported) != "5 open, 2 filters" {
			t.Errorf("it has %q", reported)
		}
	}
}

// TestLoopUnfiltered checks that a fork server ends without children if its part of the filter fails.
func TestLoopUnfiltered(t *testing.T) {
	t.Parallel()
	nonsense := bytes.Repeat([]byte{0xff}, seccomp.InstructionSize)
	l := startLooping(t, unix.CLONE_PIDFD, wire.Halves{Server: nonsense, Child: nonsense})
	var exit *exec.ExitError
	if err := l.server.Wait(); !errors.As(err, &exit) || exit.ExitCode() != wire.ExitSetup {
		t.Errorf("it ended with %v", err)
	}
	if message, _, err := wire.ReceiveMessage(l.control, make([]byte, wire.MaxNotice)); !errors.Is(err, io.EOF) {
		t.Errorf("it said %q, %v", message, err)
	}
}

// TestLoopWithoutProcesses checks that a failed fork is answered with the reason, and that the next order works.
func TestLoopWithoutProcesses(t *testing.T) {
	t.Parallel()
	l := startLooping(t, unix.CLONE_PIDFD|unix.CLONE_SIGHAND, wire.Halves{}) // the kernel refuses CLONE_SIGHAND without CLONE_VM
	for range 2 {
		stdout, _ := l.order(t, 20, 0, 0)
		if n, fds := l.answer(t); n != (forkNotice{9, -int64(unix.EINVAL)}) || len(fds) != 0 {
			t.Errorf("%+v with %d descriptors", n, len(fds))
		}
		if reported := readAll(t, stdout); len(reported) > 0 {
			t.Errorf("a child wrote %q", reported)
		}
	}
}

// TestLoopUnheard checks that a fork server ends if it cannot send an answer. Otherwise the launcher would wait
// forever.
func TestLoopUnheard(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string]uintptr{"a child": unix.CLONE_PIDFD, "no child": unix.CLONE_PIDFD | unix.CLONE_SIGHAND} {
		l := startLooping(t, flags, wire.Halves{})
		if err := l.control.CloseRead(); err != nil {
			t.Fatal(err)
		}
		l.order(t, 20, 0, 0)
		if err := l.control.CloseWrite(); err != nil { // a loop that continues ends without an error
			t.Fatal(err)
		}
		var exit *exec.ExitError
		if err := l.server.Wait(); !errors.As(err, &exit) || exit.ExitCode() != wire.ExitSetup {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLoopRefuses checks that a fork server ends without a child if an order is invalid. The descriptors would not match
// the calls.
func TestLoopRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ more, short int }{
		"one descriptor too many": {more: 1}, "one descriptor too few": {more: -1}, "no descriptors": {more: -2},
		"half an order": {short: 8},
	} {
		l := startLooping(t, unix.CLONE_PIDFD, wire.Halves{})
		l.order(t, 20, 0, 0)
		_, fds := l.answer(t)
		wire.CloseAll(fds)
		stdout, _ := l.order(t, 20, tt.more, tt.short)
		var exit *exec.ExitError
		if err := l.server.Wait(); !errors.As(err, &exit) || exit.ExitCode() != wire.ExitSetup {
			t.Errorf("%s: %v", name, err)
		}
		if reported := readAll(t, stdout); len(reported) > 0 {
			t.Errorf("%s: a child wrote %q", name, reported)
		}
	}
}
