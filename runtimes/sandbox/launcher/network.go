package launcher

import (
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/runtimes/sandbox/wire"
)

// backlog is the maximum number of connections that wait to be accepted.
const backlog = 64

// startInNetwork calls start in a new network namespace that has only a loopback interface. start must start a child.
// startInNetwork returns a socket that listens at ProxyAddress in the namespace. A socket stays in the namespace in
// which it was created, even if a process outside accepts its connections. So the child can connect only to this
// socket.
//
// A child gets the network namespace of the thread that starts it. So start runs on a separate thread, which ends
// afterwards.
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

// networks is a pool of empty network namespaces for children without a network. Children that live at the same time have
// different namespaces, so they cannot connect to each other or see each other's sockets in /proc/self/net. Creating a
// namespace takes as long as the rest of a child's set-up, so namespaces are reused. In a namespace whose interfaces are
// all down, a dead child leaves no state except the kernel's counters.
//
// Children of a fork server do not use the pool. They share the namespace of the fork server and belong to one workspace.
type networks struct {
	mu   sync.Mutex
	free []chan func()
}

// start calls the function start, which starts a child. It does so on a thread in a namespace that no other child uses.
// leave returns the namespace to the pool. It must be called when the child is dead.
func (n *networks) start(start func() error) (leave func(), err error) {
	n.mu.Lock()
	var thread chan func()
	if last := len(n.free) - 1; last >= 0 {
		thread = n.free[last]
		n.free = n.free[:last]
	}
	n.mu.Unlock()
	if thread == nil {
		if thread, err = newNetworkThread(); err != nil {
			return nil, err
		}
	}
	done := make(chan error)
	thread <- func() { done <- start() }
	leave = func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.free = append(n.free, thread)
	}
	if err := <-done; err != nil {
		leave()
		return nil, err
	}
	return leave, nil
}

// newNetworkThread creates a network namespace with a thread in it. The thread calls the functions that are sent to the
// channel. The thread and the namespace exist until the launcher ends.
func newNetworkThread() (chan func(), error) {
	requests, made := make(chan func()), make(chan error)
	go onOwnThread(make(chan struct{}), func() {
		err := unix.Unshare(unix.CLONE_NEWNET)
		made <- err
		if err != nil {
			return
		}
		for request := range requests {
			request()
		}
	})
	if err := <-made; err != nil {
		return nil, fmt.Errorf("make a network namespace: %w", err)
	}
	return requests, nil
}

// onOwnThread calls do on a thread that ends afterwards. The first thread of a process never ends, so it is not used.
func onOwnThread(done chan struct{}, do func()) {
	runtime.LockOSThread() // the thread is never unlocked, so it ends with the goroutine
	if unix.Gettid() == unix.Getpid() {
		go onOwnThread(done, do) // this thread stays locked, so the new goroutine runs on another thread
		<-done
		runtime.UnlockOSThread()
		return
	}
	defer close(done)
	do()
}

// newNetwork moves this thread into a new network namespace and listens there at ProxyAddress.
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
		return fmt.Errorf("bring up the loopback interface: %w", err)
	}
	return nil
}

func listenAt(socket int) error {
	at := netip.MustParseAddrPort(wire.ProxyAddress)
	if err := unix.Bind(socket, &unix.SockaddrInet4{Addr: at.Addr().As4(), Port: int(at.Port())}); err != nil {
		return fmt.Errorf("bind %s: %w", wire.ProxyAddress, err)
	}
	if err := unix.Listen(socket, backlog); err != nil {
		return fmt.Errorf("listen at %s: %w", wire.ProxyAddress, err)
	}
	return nil
}

// handles returns the descriptors that the launcher passes to the server with a ready child.
func (c *Child) handles() []int {
	if c.network < 0 {
		return []int{c.pidfd}
	}
	return []int{c.pidfd, c.network}
}
