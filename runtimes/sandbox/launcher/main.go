// Package launcher implements process 1 of a jail. It isolates itself and then serves its role. The role of a launcher is
// to start children, each in its own jail.
package launcher

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/sandbox/child"
	"github.com/atelier-run/atelier/runtimes/sandbox/wire"
)

// Main must be called first in main. If args are those of a jailed process, Main sets up the jail, executes the role,
// and returns an exit code. The caller must then exit at once. Otherwise Main returns false and has no effect.
func Main(args []string, roles []Role) (code int, jailed bool) {
	if len(args) < 2 || args[1] != wire.Argument {
		return 0, false
	}
	code, err := inside(args[2:], roles)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return code, true
}

// inside runs process 1 of a jail.
func inside(args []string, roles []Role) (code int, err error) {
	if os.Getpid() != 1 || len(args) != 1 {
		return wire.ExitSetup, errors.New("this command is internal; the server starts it in a sandbox")
	}
	runtime.GOMAXPROCS(workerThreads) // also stops the runtime from reading control groups, which will be hidden
	if err := child.ForgetCapabilities(); errors.Is(err, wire.ErrCgo) {
		return wire.ExitCgo, err
	} else if err != nil {
		return wire.ExitSetup, err
	}
	if err := closeForeign(); err != nil {
		return wire.ExitSetup, err
	}
	dropSignals()
	conn, own, err := open(wire.FramesFD)
	if err != nil {
		return wire.ExitSetup, err
	}
	config, err := receive(conn)
	if err != nil {
		return wire.ExitOrphan, err
	}
	role, err := find(roles, args[0], config)
	if err != nil {
		return wire.ExitSetup, err
	}
	if err := child.LockUp(config); err != nil {
		return wire.ExitSetup, fmt.Errorf("set up the jail: %w", err)
	}
	go endWithServer(own)
	if config.Launcher {
		return startChildren(config, role, conn)
	}
	if err := frames.NewWriter(conn).WriteJSON(frames.Ready, struct{}{}); err != nil {
		return wire.ExitOrphan, err
	}
	if err := role.Serve(conn); err != nil {
		return wire.ExitServe, err
	}
	return 0, nil
}

// startChildren runs process 1 of a launcher.
func startChildren(config wire.Setup, role Role, conn net.Conn) (code int, err error) {
	children, err := newChildren(config, role)
	if err != nil {
		return wire.ExitSetup, err
	}
	if err := frames.NewWriter(conn).WriteJSON(frames.Ready, struct{}{}); err != nil {
		return wire.ExitOrphan, err
	}
	return wire.ExitServe, children.serveOrders(conn)
}

func find(roles []Role, name string, config wire.Setup) (Role, error) {
	roles = append(slices.Clone(roles), Role{Name: wire.ProbeRole, Filter: wire.FilterProgram, Serve: serveProbe})
	for _, role := range roles {
		if role.Name == name && role.Filter == config.Filter && (role.Child != nil) == config.Launcher {
			return role, nil
		}
	}
	return Role{}, fmt.Errorf("no role %q with filter %q", name, config.Filter)
}

// serveProbe waits until the server closes the connection. The probe only tests whether a jail can be set up.
func serveProbe(conn net.Conn) error {
	_, err := io.Copy(io.Discard, conn)
	return err
}

// closeForeign closes inherited descriptors other than the frame socket. The parent of the server may have passed open
// descriptors to it. The epoll and event descriptors of the Go runtime stay open.
func closeForeign() error {
	const list = "/proc/self/fd"
	entries, err := os.ReadDir(list)
	if err != nil {
		return fmt.Errorf("list descriptors: %w", err)
	}
	for _, entry := range entries {
		fd, err := strconv.Atoi(entry.Name())
		if err != nil || fd <= wire.FramesFD {
			continue
		}
		target, err := os.Readlink(filepath.Join(list, entry.Name()))
		if err != nil || strings.HasPrefix(target, "anon_inode:[event") {
			continue // an error means that the descriptor is already closed, such as that of the list itself
		}
		if err := unix.Close(fd); err != nil {
			return fmt.Errorf("close descriptor %d: %w", fd, err)
		}
	}
	return nil
}

// dropSignals catches and drops signals, so that a program cannot end process 1 with them. It does not use SIG_IGN,
// because programs that process 1 starts would inherit that. SIGCHLD is needed by roles that start programs, SIGURG by
// the Go runtime. The kernel never delivers SIGKILL and SIGSTOP from inside the jail to process 1.
func dropSignals() {
	var all []os.Signal
	for number := syscall.Signal(1); number < 32; number++ {
		switch number {
		case syscall.SIGCHLD, syscall.SIGURG, syscall.SIGKILL, syscall.SIGSTOP:
		default:
			all = append(all, number)
		}
	}
	signal.Notify(make(chan os.Signal, 1), all...)
}

// open returns a connection for the role on an inherited socket. It also returns a separate descriptor of the socket
// for endWithServer.
func open(fd uintptr) (conn net.Conn, own int, err error) {
	file := os.NewFile(fd, "frames")
	defer file.Close() // the original is no longer needed, because both results are duplicates
	if own, err = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, wire.FramesFD); err != nil {
		return nil, 0, fmt.Errorf("open the frame socket: %w", err)
	}
	if conn, err = net.FileConn(file); err != nil {
		return nil, 0, fmt.Errorf("open the frame socket: %w", err)
	}
	return conn, own, nil
}

func receive(conn net.Conn) (wire.Setup, error) {
	var config wire.Setup
	_, payload, err := frames.NewReader(conn, map[frames.Kind]int{frames.Setup: wire.MaxSetup}).Read()
	if err != nil {
		return config, fmt.Errorf("receive the set-up: %w", err)
	}
	if err := json.Unmarshal(payload, &config); err != nil {
		return config, fmt.Errorf("read the set-up: %w", err)
	}
	return config, nil
}

// endWithServer exits when the server closes its end of the socket. It works even while the role computes and does not
// read. (If the server dies, the kernel kills the jail because of Pdeathsig.) It needs a separate descriptor, because
// closing the role's connection would have to wait for the poll in this function.
func endWithServer(fd int) {
	wanted := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
	for {
		_, err := unix.Poll(wanted, -1)
		if wanted[0].Revents != 0 || err != nil && err != unix.EINTR {
			os.Exit(wire.ExitOrphan)
		}
	}
}

// workerThreads is GOMAXPROCS of process 1.
const (
	workerThreads = 2
)
