package wire

import (
	"net"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/runtimes/sandbox/wire/wiretest"
)

// TestControlRefuses checks that connections of other kinds, descriptors of other kinds, and invalid or too long messages
// are errors.
func TestControlRefuses(t *testing.T) {
	t.Parallel()
	plain, other := net.Pipe()
	defer plain.Close()
	defer other.Close()
	if _, err := SendControl(plain); err == nil {
		t.Error("a descriptor was sent over an in-memory pipe")
	}
	if _, err := ReceiveControl(plain); err == nil {
		t.Error("a descriptor was received over an in-memory pipe")
	}
	ours, theirs := wiretest.Pair(t, unix.SOCK_STREAM)
	if _, err := theirs.Write([]byte{0}); err != nil {
		t.Fatal(err)
	}
	if _, err := ReceiveControl(ours); err == nil {
		t.Error("a control socket was received, but none was sent")
	}
	file, err := unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := UnixConn(file, "file"); err == nil {
		t.Error("a file was accepted as a socket")
	}
	inet, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := UnixConn(inet, "inet"); err == nil {
		t.Error("an inet socket was accepted as a Unix socket")
	}
	if _, err := passedIn(unix.UnixCredentials(&unix.Ucred{})); err == nil {
		t.Error("credentials were accepted as descriptors")
	}
	if _, err := passedIn(make([]byte, unix.CmsgLen(0))); err == nil {
		t.Error("zeroes were accepted as descriptors")
	}
	in, out := wiretest.Pair(t, unix.SOCK_SEQPACKET)
	if _, err := out.Write([]byte("too long")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := ReceiveMessage(in, make([]byte, 3)); err == nil {
		t.Error("a truncated message was accepted")
	}
	_ = out.Close()
	if _, _, err := ReceiveMessage(in, make([]byte, 3)); err == nil {
		t.Error("a message was received from a closed socket")
	}
}

// TestClosedConnectionCarriesNothing checks that sending a control socket over an unsuitable connection is an error.
func TestClosedConnectionCarriesNothing(t *testing.T) {
	t.Parallel()
	ours, theirs := wiretest.Pair(t, unix.SOCK_STREAM)
	_ = ours.Close()
	if _, err := SendControl(ours); err == nil {
		t.Error("a descriptor was sent over a closed connection")
	}
	silent, _ := net.Pipe()
	if _, err := SendControl(silent); err == nil {
		t.Error("a descriptor was sent over an in-memory pipe")
	}
	_ = theirs.Close()
}
