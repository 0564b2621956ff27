package sandbox

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Levels of isolation, as users read them.
const (
	LevelFull    = "full"
	LevelReduced = "reduced"
	LevelNone    = "none"
)

// Level says how much of the jail this host can enforce. Missing are sentences for a person: what is missing, what that
// means, and the exact remedy. With LevelNone nothing is executed.
type Level struct {
	Level   string
	Missing []string
}

// WeakSeccomp is the name in Options.AllowWeak that lets jails run without a system call filter.
const WeakSeccomp = "seccomp"

// scopedLandlock is the first version that keeps signals and abstract sockets within a jail.
const scopedLandlock = 6

// judge puts together what was found when the sandbox was made.
func (s *Sandbox) judge(probe error) Level {
	var missing []string
	if !s.ids.pool {
		missing = append(missing, "Runs share the user of the server on the host, because only root can give each its own: namespaces, "+
			"seccomp and landlock keep them apart. Start the server as root to add that wall; guests are never root.")
	}
	switch {
	case s.landlock == 0:
		missing = append(missing, "The kernel has no landlock, so mounts alone decide about files: use Linux 5.13 or later with lsm=landlock.")
	case s.landlock < scopedLandlock:
		missing = append(missing, fmt.Sprintf("Landlock is version %d and does not scope signals and sockets: use Linux 6.12 or later.", s.landlock))
	}
	if s.noProc {
		missing = append(missing, "The host does not allow a private /proc, so programs have none: in a container, unmask /proc (systempaths=unconfined).")
	}
	if s.weakSeccomp {
		missing = append(missing, "System calls are not filtered, because the server was told to allow that (seccomp).")
	}
	missing = append(missing, s.groups.Missing()...)
	level := LevelFull
	if len(missing) > 0 {
		level = LevelReduced
	}
	if probe != nil {
		return Level{Level: LevelNone, Missing: append([]string{explain(probe)}, missing...)}
	}
	return Level{Level: level, Missing: missing}
}

// explain turns the error of a jail that could not be set up into a sentence with a remedy.
func explain(err error) string {
	if errors.Is(err, errCgo) {
		return "Nothing can be jailed, because this binary is linked with cgo and cannot drop privileges on all of its threads: build it with CGO_ENABLED=0, as make build does."
	}
	for _, setting := range []struct{ file, bad, remedy string }{
		{"/proc/sys/user/max_user_namespaces", "0", "sysctl user.max_user_namespaces=10000"},
		{"/proc/sys/kernel/unprivileged_userns_clone", "0", "sysctl kernel.unprivileged_userns_clone=1"},
		{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1", "an AppArmor profile with userns for this binary, or sysctl kernel.apparmor_restrict_unprivileged_userns=0"},
	} {
		if text, readErr := os.ReadFile(setting.file); readErr == nil && strings.TrimSpace(string(text)) == setting.bad {
			return fmt.Sprintf("Nothing can be jailed: the host forbids user namespaces (%s is %s). Use %s.", setting.file, setting.bad, setting.remedy)
		}
	}
	if errors.Is(err, unix.EACCES) {
		return fmt.Sprintf("Nothing can be jailed: the binary may not be executed by other users (%v). Use chmod o+rx on it.", err)
	}
	if errors.Is(err, unix.EPERM) {
		return fmt.Sprintf("Nothing can be jailed: the host refuses new namespaces (%v). In a container, start it with a seccomp profile that "+
			"allows clone with new user namespaces, such as seccomp=unconfined; the jails have a filter of their own.", err)
	}
	return fmt.Sprintf("Nothing can be jailed on this host: %v.", err)
}

// kernel is the version of the running kernel, as major*1000+minor.
func kernel() int {
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return 0
	}
	parts := strings.SplitN(unix.ByteSliceToString(name.Release[:]), ".", 3)
	if len(parts) < 2 {
		return 0
	}
	major, _ := strconv.Atoi(parts[0])
	minor, _ := strconv.Atoi(parts[1])
	return major*1000 + minor
}
