package sandbox

import (
	"errors"
	"fmt"
	"net/netip"
	"runtime"

	"golang.org/x/sys/unix"
)

// backlog is the number of connections that may wait to be accepted.
const backlog = 64

// startInNetwork starts a child in its own network namespace, which has only a loopback interface. It returns a socket
// that listens there at ProxyAddress. A socket stays in the namespace where it was made, whichever process accepts on
// it. So this socket is the only way out of the namespace.
//
// Linux binds a network namespace to a thread, and a child gets the namespace of the thread that starts it. So a thread
// is used that does nothing else and ends afterwards.
func startInNetwork(start func() error) (listener int, err error) {
	listener = -1
	done := make(chan struct{})
	go onOwnThread(done, func() {
		if listener, err = newNetwork(); err != nil {
			return
		}
		if err = start(); err != nil {
			err = errors.Join(err, unix.Close(listener))
			listener = -1
		}
	})
	<-done
	return listener, err
}

// onOwnThread calls do on a thread that ends afterwards. The first thread of a process never ends, so it is not used.
func onOwnThread(done chan struct{}, do func()) {
	runtime.LockOSThread() // never unlocked, so the thread ends with the goroutine
	if unix.Gettid() == unix.Getpid() {
		go onOwnThread(done, do) // on another thread, because this one stays locked
		<-done
		runtime.UnlockOSThread()
		return
	}
	defer close(done)
	do()
}

// newNetwork puts this thread into a new network namespace and listens there.
func newNetwork() (listener int, err error) {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return -1, fmt.Errorf("make a network namespace: %w", err)
	}
	if listener, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0); err != nil {
		return -1, fmt.Errorf("make the socket of a network: %w", err)
	}
	if err := errors.Join(raiseLoopback(listener), listenAt(listener)); err != nil {
		return -1, errors.Join(err, unix.Close(listener))
	}
	return listener, nil
}

func raiseLoopback(socket int) error {
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, request); err != nil {
		return fmt.Errorf("raise the loopback: %w", err)
	}
	return nil
}

func listenAt(socket int) error {
	at := netip.MustParseAddrPort(ProxyAddress)
	if err := unix.Bind(socket, &unix.SockaddrInet4{Addr: at.Addr().As4(), Port: int(at.Port())}); err != nil {
		return fmt.Errorf("bind %s: %w", ProxyAddress, err)
	}
	if err := unix.Listen(socket, backlog); err != nil {
		return fmt.Errorf("listen at %s: %w", ProxyAddress, err)
	}
	return nil
}

// handles returns the descriptors that the server gets of a ready child.
func (c *Child) handles() []int {
	if c.network < 0 {
		return []int{c.pidfd}
	}
	return []int{c.pidfd, c.network}
}
