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

// Securebits of capabilities(7), each with its lock bit. They prevent that root gets capabilities by executing a file,
// that changes of the user id change or keep capabilities, and that capabilities become ambient.
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

// rlimits returns the limits of every process of the jail. Limits of the server that are lower stay in force, because
// raising them would fail.
func rlimits(config wire.Setup) []rlimit {
	limits := []rlimit{
		{unix.RLIMIT_CORE, 1, 1}, // 1 byte prevents a helper program in core_pattern of the host from starting; 0 does not
		{unix.RLIMIT_NOFILE, maxFiles, maxFiles},
		{unix.RLIMIT_STACK, softStack, maxStack},
		{unix.RLIMIT_MEMLOCK, maxLocked, maxLocked},
		{unix.RLIMIT_MSGQUEUE, 0, 0},
		{unix.RLIMIT_SIGPENDING, maxSignals, maxSignals},
		{unix.RLIMIT_RTPRIO, 0, 0},
		{unix.RLIMIT_NICE, 0, 0},
		{unix.RLIMIT_NPROC, config.Tasks, config.Tasks},
	}
	if !config.Launcher { // not for a launcher, because its children have their own disks
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

// setLimits sets the soft and the hard limits. A launcher sets only the limit of core files, because it needs higher limits
// for many children. The children set all limits during their set-up.
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

// ForgetCapabilities empties the capability bounding set, so that executing a file cannot add capabilities. It needs a
// system call per capability and thread, so it is called early, while there are few threads.
func ForgetCapabilities() error {
	for capability := uintptr(0); ; capability++ {
		if err := unix.Prctl(unix.PR_CAPBSET_READ, capability, 0, 0, 0); errors.Is(err, unix.EINVAL) {
			return nil // the kernel has no capability with this number, so all are done
		}
		if err := everyThread(unix.SYS_PRCTL, unix.PR_CAPBSET_DROP, capability, 0); err != nil {
			return fmt.Errorf("drop capability %d: %w", capability, err)
		}
	}
}

// dropPrivileges drops every capability permanently, on all threads. It also hides this process from programs of the same
// user. A launcher keeps the capabilities that it needs to start children: no program runs in its process, and each child
// drops them during its set-up.
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

// hideGroups creates a cgroup namespace, so that the process sees its own control group as the root and no other group.
func hideGroups(wire.Setup) error { return everyThread(unix.SYS_UNSHARE, unix.CLONE_NEWCGROUP, 0, 0) }

// mapProjectIDs writes the project ID map of this user namespace. Any process may write the map, but only once. The
// children of a launcher share the namespace. If the map were not written, a child could use it to pass data to other
// children. If the parent namespace has no such map, the kernel refuses every write, so no child can write it either.
func mapProjectIDs(wire.Setup) error {
	err := os.WriteFile("/proc/self/projid_map", []byte("0 0 1\n"), 0)
	if errors.Is(err, unix.EPERM) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// everyThread makes a system call on all threads of this process, because Linux stores attributes such as capabilities per
// thread. It does not work in binaries linked with cgo.
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
