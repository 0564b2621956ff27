package wire

import (
	"net"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/runtimes/sandbox/wire/wiretest"
)

// TestControlRefuses sends a non-socket, a socket of another kind, and incomplete messages.
func TestControlRefuses(t *testing.T) {
	t.Parallel()
	plain, other := net.Pipe()
	defer plain.Close()
	defer other.Close()
	if _, err := SendControl(plain); err == nil {
		t.Error("a descriptor went through a pipe")
	}
	if _, err := ReceiveControl(plain); err == nil {
		t.Error("a descriptor came through a pipe")
	}
	ours, theirs := wiretest.Pair(t, unix.SOCK_STREAM)
	if _, err := theirs.Write([]byte{0}); err != nil {
		t.Fatal(err)
	}
	if _, err := ReceiveControl(ours); err == nil {
		t.Error("a control socket came without one")
	}
	file, err := unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := UnixConn(file, "file"); err == nil {
		t.Error("a file is a socket")
	}
	inet, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := UnixConn(inet, "inet"); err == nil {
		t.Error("an inet socket is a unix one")
	}
	if _, err := passedIn(unix.UnixCredentials(&unix.Ucred{})); err == nil {
		t.Error("credentials are descriptors")
	}
	if _, err := passedIn(make([]byte, unix.CmsgLen(0))); err == nil {
		t.Error("zeroes are descriptors")
	}
	in, out := wiretest.Pair(t, unix.SOCK_SEQPACKET)
	if _, err := out.Write([]byte("too long")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := ReceiveMessage(in, make([]byte, 3)); err == nil {
		t.Error("a message was cut")
	}
	_ = out.Close()
	if _, _, err := ReceiveMessage(in, make([]byte, 3)); err == nil {
		t.Error("a message came from nobody")
	}
}

// TestClosedConnectionCarriesNothing sends a control socket over connections that cannot carry one.
func TestClosedConnectionCarriesNothing(t *testing.T) {
	t.Parallel()
	ours, theirs := wiretest.Pair(t, unix.SOCK_STREAM)
	_ = ours.Close()
	if _, err := SendControl(ours); err == nil {
		t.Error("a connection that is closed carries a descriptor")
	}
	silent, _ := net.Pipe()
	if _, err := SendControl(silent); err == nil {
		t.Error("a pipe within the process carries a descriptor")
	}
	_ = theirs.Close()
}
