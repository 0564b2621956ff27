package wire

import (
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// SendControl creates the socket for a launcher's orders. It passes one end to the launcher over conn and returns the
// other end. Unlike conn, this socket preserves message boundaries.
func SendControl(conn net.Conn) (*net.UnixConn, error) {
	through, ok := conn.(*net.UnixConn)
	if !ok {
		return nil, fmt.Errorf("no way to pass a descriptor over a %T", conn)
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("make the control socket: %w", err)
	}
	_, _, err = through.WriteMsgUnix([]byte{0}, unix.UnixRights(pair[1]), nil)
	if err = errors.Join(err, unix.Close(pair[1])); err != nil {
		return nil, errors.Join(fmt.Errorf("pass the control socket: %w", err), unix.Close(pair[0]))
	}
	return UnixConn(pair[0], "control")
}

// ReceiveControl receives the socket that SendControl sends.
func ReceiveControl(conn net.Conn) (*net.UnixConn, error) {
	through, ok := conn.(*net.UnixConn)
	if !ok {
		return nil, fmt.Errorf("no way to pass a descriptor over a %T", conn)
	}
	_, fds, err := ReceiveMessage(through, make([]byte, 1))
	if err != nil || len(fds) != 1 {
		return nil, errors.Join(errors.New("no control socket was received"), err)
	}
	return UnixConn(fds[0], "control")
}

// UnixConn returns a connection on the socket of a descriptor. It closes the descriptor.
func UnixConn(fd int, name string) (*net.UnixConn, error) {
	file := os.NewFile(uintptr(fd), name)
	defer file.Close()
	conn, err := net.FileConn(file)
	if err != nil {
		return nil, err
	}
	through, ok := conn.(*net.UnixConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("%s is a %T", name, conn), conn.Close())
	}
	return through, nil
}

// ReceiveMessage reads one message into the buffer message. It returns the message and the descriptors that were passed
// with it.
func ReceiveMessage(conn *net.UnixConn, message []byte) ([]byte, []int, error) {
	rights := make([]byte, unix.CmsgSpace(4*MaxPassed))
	n, m, flags, _, err := conn.ReadMsgUnix(message, rights)
	if err != nil {
		return nil, nil, err
	}
	fds, err := passedIn(rights[:m])
	switch {
	case err != nil:
		return nil, nil, err
	case flags&(unix.MSG_TRUNC|unix.MSG_CTRUNC) != 0:
		CloseAll(fds)
		return nil, nil, errors.New("a message is too long")
	}
	return message[:n], fds, nil
}

func passedIn(rights []byte) ([]int, error) {
	if len(rights) == 0 {
		return nil, nil
	}
	messages, err := unix.ParseSocketControlMessage(rights)
	if err != nil {
		return nil, err
	}
	var all []int
	for i := range messages {
		fds, err := unix.ParseUnixRights(&messages[i])
		if err != nil {
			return nil, err
		}
		all = append(all, fds...)
	}
	return all, nil
}

// CloseAll closes descriptors.
func CloseAll(fds []int) {
	for _, fd := range fds {
		_ = unix.Close(fd)
	}
}
