package sandbox

import (
	"errors"
	"fmt"
	"net/netip"
	"runtime"

	"golang.org/x/sys/unix"
)

// backlog is how many connections may wait for somebody to accept them.
const backlog = 64

// startInNetwork starts a child in a network namespace of its own: one with a loopback and nothing else. It answers a
// socket that listens there at ProxyAddress. A socket stays in the namespace it was made in, whoever accepts on it: that is
// the only way out of it.
//
// A namespace belongs to a thread here, and a child gets that of the thread that starts it. So it is made on a thread that
// does nothing else and ends afterwards.
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

// onOwnThread does something on a thread that ends with it. The first thread of a process never ends, so it is not taken.
func onOwnThread(done chan struct{}, do func()) {
	runtime.LockOSThread() // and never unlocked: that ends the thread with the goroutine
	if unix.Gettid() == unix.Getpid() {
		go onOwnThread(done, do) // on another one, as long as this one is held
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

// handles are what the server gets of a child that is ready.
func (c *Child) handles() []int {
	if c.network < 0 {
		return []int{c.pidfd}
	}
	return []int{c.pidfd, c.network}
}
