// Package wiretest makes sockets for tests.
package wiretest

import (
	"net"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// Pair returns the two ends of a socket of a kind, such as unix.SOCK_SEQPACKET. They close when the test ends.
func Pair(tb testing.TB, kind int) (a, b *net.UnixConn) {
	tb.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, kind|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		tb.Fatal(err)
	}
	return connection(tb, fds[0]), connection(tb, fds[1])
}

func connection(tb testing.TB, fd int) *net.UnixConn {
	tb.Helper()
	file := os.NewFile(uintptr(fd), "socket")
	defer file.Close()
	conn, err := net.FileConn(file)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = conn.Close() })
	socket, ok := conn.(*net.UnixConn)
	if !ok {
		tb.Fatalf("the socket is a %T", conn)
	}
	return socket
}

// Descriptor returns a descriptor of a socket.
func Descriptor(tb testing.TB, conn *net.UnixConn) int {
	tb.Helper()
	file, err := conn.File()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = file.Close() })
	return int(file.Fd())
}
