package sandbox

import (
	"errors"
	"fmt"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// securebits of capabilities(7), each with its lock: user ids carry no capabilities, none are kept when they change, none
// become ambient again.
const (
	noRoot         = 1<<0 | 1<<1
	noSetuidFixup  = 1<<2 | 1<<3
	keepCapsLocked = 1 << 5
	noAmbientRaise = 1<<6 | 1<<7
	securebits     = noRoot | noSetuidFixup | keepCapsLocked | noAmbientRaise
)

// rlimit is what the kernel limits per process or per user.
type rlimit struct {
	resource   int
	soft, hard uint64
}

// rlimits are those of every process of the jail. A server that was started with lower limits cannot give more than it has.
func (config setup) rlimits() []rlimit {
	limits := []rlimit{
		{unix.RLIMIT_CORE, 1, 1}, // 0 keeps no core from a helper of the host that core_pattern pipes into, 1 byte does
		{unix.RLIMIT_NOFILE, maxFiles, maxFiles},
		{unix.RLIMIT_STACK, softStack, maxStack},
		{unix.RLIMIT_MEMLOCK, maxLocked, maxLocked},
		{unix.RLIMIT_MSGQUEUE, 0, 0},
		{unix.RLIMIT_SIGPENDING, maxSignals, maxSignals},
		{unix.RLIMIT_RTPRIO, 0, 0},
		{unix.RLIMIT_NICE, 0, 0},
		{unix.RLIMIT_NPROC, config.Tasks, config.Tasks},
	}
	if !config.Launcher { // its children have disks of their own
		limits = append(limits, rlimit{unix.RLIMIT_FSIZE, uint64(config.Disk), uint64(config.Disk)})
	}
	for i := range limits {
		var now unix.Rlimit
		if unix.Getrlimit(limits[i].resource, &now) == nil {
			limits[i].soft, limits[i].hard = min(limits[i].soft, now.Max), min(limits[i].hard, now.Max)
		}
	}
	return limits
}

// setLimits sets them, soft and hard alike. A launcher keeps what it needs for many children; they get theirs on the way in.
func setLimits(config setup) error {
	for _, limit := range config.rlimits() {
		if config.Launcher && limit.resource != unix.RLIMIT_CORE {
			continue
		}
		if err := unix.Setrlimit(limit.resource, &unix.Rlimit{Cur: limit.soft, Max: limit.hard}); err != nil {
			return fmt.Errorf("limit %d: %w", limit.resource, err)
		}
	}
	return nil
}

// forgetCapabilities empties the set of capabilities that executing a file may give. Each takes a call on every thread, so
// this comes first, while there are few.
func forgetCapabilities() error {
	for capability := uintptr(0); ; capability++ {
		if err := unix.Prctl(unix.PR_CAPBSET_READ, capability, 0, 0, 0); errors.Is(err, unix.EINVAL) {
			return nil // the kernel has no more of them
		}
		if err := everyThread(unix.SYS_PRCTL, unix.PR_CAPBSET_DROP, capability, 0); err != nil {
			return fmt.Errorf("drop capability %d: %w", capability, err)
		}
	}
}

// dropPrivileges gives up every capability for good, on all threads, and makes this process opaque to the programs that
// run beside it under the same user. A launcher keeps the capabilities that make children: no program runs in its process, and
// each child gives them up on its way into its child.
func dropPrivileges(config setup) error {
	if err := everyThread(unix.SYS_PRCTL, unix.PR_SET_SECUREBITS, securebits, 0); err != nil {
		return fmt.Errorf("lock secure bits: %w", err)
	}
	if !config.Launcher {
		if err := dropCapabilities(); err != nil {
			return err
		}
	}
	if err := everyThread(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
}

func dropCapabilities() error {
	if err := everyThread(unix.SYS_PRCTL, unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0); err != nil {
		return fmt.Errorf("clear ambient capabilities: %w", err)
	}
	header := &unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	none := &[2]unix.CapUserData{}
	err := everyThread(unix.SYS_CAPSET, uintptr(unsafe.Pointer(header)), uintptr(unsafe.Pointer(none)), 0)
	runtime.KeepAlive(header)
	runtime.KeepAlive(none)
	if err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	return nil
}

// hideGroups makes the group that this process is in the root of all it can see of them.
func hideGroups(setup) error { return everyThread(unix.SYS_UNSHARE, unix.CLONE_NEWCGROUP, 0, 0) }

var errCgo = errors.New("a binary that is linked with cgo cannot drop privileges on all of its threads")

// everyThread makes a system call on all threads of this process: what the kernel calls process attributes often belong
// to a thread. Binaries that are linked with cgo cannot do that.
func everyThread(call, a, b, c uintptr) error {
	_, _, errno := syscall.AllThreadsSyscall6(call, a, b, c, 0, 0, 0)
	if errno == syscall.ENOTSUP {
		return errCgo
	}
	if errno != 0 {
		return errno
	}
	return nil
}
