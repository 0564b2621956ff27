package child

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/runtimes/sandbox/wire"
)

// Securebits of capabilities(7), each with its lock: user ids carry no capabilities, changes of user ids keep none, and
// no capability becomes ambient again.
const (
	noRoot         = 1<<0 | 1<<1
	noSetuidFixup  = 1<<2 | 1<<3
	keepCapsLocked = 1 << 5
	noAmbientRaise = 1<<6 | 1<<7
	securebits     = noRoot | noSetuidFixup | keepCapsLocked | noAmbientRaise
)

// rlimit is one kernel limit per process or per user.
type rlimit struct {
	resource   int
	soft, hard uint64
}

// rlimits returns the limits of every process of the jail. A server with lower limits of its own cannot grant more.
func rlimits(config wire.Setup) []rlimit {
	limits := []rlimit{
		{unix.RLIMIT_CORE, 1, 1}, // 0 would not stop a core_pattern pipe helper on the host, 1 byte does
		{unix.RLIMIT_NOFILE, maxFiles, maxFiles},
		{unix.RLIMIT_STACK, softStack, maxStack},
		{unix.RLIMIT_MEMLOCK, maxLocked, maxLocked},
		{unix.RLIMIT_MSGQUEUE, 0, 0},
		{unix.RLIMIT_SIGPENDING, maxSignals, maxSignals},
		{unix.RLIMIT_RTPRIO, 0, 0},
		{unix.RLIMIT_NICE, 0, 0},
		{unix.RLIMIT_NPROC, config.Tasks, config.Tasks},
	}
	if !config.Launcher { // its children have their own disks
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

// setLimits sets the soft and the hard limits. A launcher keeps the limits it needs for many children. The children set
// theirs during their set-up.
func setLimits(config wire.Setup) error {
	for _, limit := range rlimits(config) {
		if config.Launcher && limit.resource != unix.RLIMIT_CORE {
			continue
		}
		if err := unix.Setrlimit(limit.resource, &unix.Rlimit{Cur: limit.soft, Max: limit.hard}); err != nil {
			return fmt.Errorf("limit %d: %w", limit.resource, err)
		}
	}
	return nil
}

// ForgetCapabilities empties the capability bounding set, which limits the capabilities that executing a file may give.
// Each capability takes a call on every thread, so this comes first, while there are few threads.
func ForgetCapabilities() error {
	for capability := uintptr(0); ; capability++ {
		if err := unix.Prctl(unix.PR_CAPBSET_READ, capability, 0, 0, 0); errors.Is(err, unix.EINVAL) {
			return nil // the kernel has no more capabilities
		}
		if err := everyThread(unix.SYS_PRCTL, unix.PR_CAPBSET_DROP, capability, 0); err != nil {
			return fmt.Errorf("drop capability %d: %w", capability, err)
		}
	}
}

// dropPrivileges drops every capability for good, on all threads. It also hides this process from programs that run
// under the same user. A launcher keeps the capabilities that it needs to make children. No program runs in its
// process, and each child drops them during its set-up.
func dropPrivileges(config wire.Setup) error {
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

// hideGroups makes this process's own group the root of all groups it can see.
func hideGroups(wire.Setup) error { return everyThread(unix.SYS_UNSHARE, unix.CLONE_NEWCGROUP, 0, 0) }

// mapProjectIDs writes the map of project ids of this user namespace, which can be written once and by any process. A
// launcher's children share the namespace, so one could otherwise leave a text for the others there. Where the parent
// namespace has no such map, the kernel refuses this to everybody.
func mapProjectIDs(wire.Setup) error {
	err := os.WriteFile("/proc/self/projid_map", []byte("0 0 1\n"), 0)
	if errors.Is(err, unix.EPERM) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// everyThread makes a system call on all threads of this process, because many process attributes of the kernel belong
// to a thread. It does not work in binaries linked with cgo.
func everyThread(call, a, b, c uintptr) error {
	_, _, errno := syscall.AllThreadsSyscall6(call, a, b, c, 0, 0, 0)
	if errno == syscall.ENOTSUP {
		return wire.ErrCgo
	}
	if errno != 0 {
		return errno
	}
	return nil
}

// Limits of each process of a jail.
const (
	maxFiles   = 256
	maxStack   = 64 << 20
	softStack  = 8 << 20
	maxSignals = 256
	maxLocked  = 64 << 10
)
