package child

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/runtimes/sandbox/wire"
)

// Rights on files that every version of landlock supports.
const (
	readFiles = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR

	writeFiles = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO |
		unix.LANDLOCK_ACCESS_FS_MAKE_SYM

	makeOthers = unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK
)

// Rights of programs on their disk, and in /proc, where a thread must be able to write its own name.
const (
	DiskAccess = readFiles | writeFiles | unix.LANDLOCK_ACCESS_FS_REFER | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	ProcAccess = readFiles | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
)

// landlock restricts file access in addition to mounts. Mounts decide which files are visible. Landlock decides which
// operations are allowed, even on a file that became visible by mistake. A worker can access no files. The server chose
// the landlock version. If the kernel does not support one of its rights, the set-up fails.
//
// TCP is not restricted for programs. Their network namespace is empty, and "network is unreachable" is a clearer error
// than "permission denied".
func landlock(config wire.Setup) error {
	// Not in a launcher: landlock would forbid its mounts; its children get their own rules.
	if config.Landlock == 0 || config.Launcher {
		return nil
	}
	attr := RulesFor(config)
	fd, err := NewRules(attr)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if config.Filter.Foreign() {
		if err := allowProgram(fd, config, attr.Handled_access_fs); err != nil {
			return err
		}
	}
	if err := everyThread(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(fd), 0, 0); err != nil {
		return fmt.Errorf("apply rules: %w", err)
	}
	return nil
}

// NewRules creates a landlock ruleset without rules and returns its descriptor.
func NewRules(attr unix.LandlockRulesetAttr) (int, error) {
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return -1, fmt.Errorf("make rules: %w", errno)
	}
	return int(fd), nil
}

// RulesFor returns the rights that the ruleset of a jail restricts: those that its version of landlock supports.
func RulesFor(config wire.Setup) unix.LandlockRulesetAttr {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: readFiles | writeFiles | makeOthers}
	if config.Landlock >= 2 {
		attr.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if config.Landlock >= 3 {
		attr.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if config.Landlock >= 4 && config.Filter.Ours() {
		attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if config.Landlock >= 5 {
		attr.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if config.Landlock >= 6 {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	return attr
}

// allowProgram adds rules so that programs may read and execute visible files, and write to the private disk.
func allowProgram(rules int, config wire.Setup, handled uint64) error {
	paths := ReadOnly(config)
	if config.Disk > 0 {
		for _, path := range []string{wire.WorkDir, wire.TempDir, wire.SharedDir} {
			paths[path] = Without(config, DiskAccess)
		}
	}
	if config.Proc {
		paths["/proc"] = Without(config, ProcAccess)
	}
	for path, access := range paths {
		if err := allow(rules, path, access&handled); err != nil {
			return fmt.Errorf("allow %s: %w", path, err)
		}
	}
	return nil
}

// Without returns the access rights without the right to execute if the set-up lists the executable files. The kernel
// checks the right to execute for a program and for its loader, but not for the libraries that the loader maps.
func Without(config wire.Setup, access uint64) uint64 {
	if len(config.Execute) > 0 {
		return access &^ unix.LANDLOCK_ACCESS_FS_EXECUTE
	}
	return access
}

// ReadOnly returns the rights on the paths that programs may only read or execute. They are the same for every child of a
// launcher.
func ReadOnly(config wire.Setup) map[string]uint64 {
	paths := map[string]uint64{"/": Without(config, readFiles)}
	for _, path := range config.Execute {
		paths[path] = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE
	}
	for _, device := range config.Devices {
		paths[device] = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	return paths
}

func allow(rules int, path string, access uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return AllowBeneath(rules, fd, access)
}

// AllowBeneath adds a rule to a ruleset that allows access to an open path and to all files below it.
func AllowBeneath(rules, fd int, access uint64) error {
	rule := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(rules), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// newestLandlock is the newest version whose rights and scopes this package uses.
const newestLandlock = 7

// LandlockVersion returns the version that the kernel supports, 0 for none. It runs in the server.
func LandlockVersion() int {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return min(int(version), newestLandlock)
}
