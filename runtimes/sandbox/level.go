package sandbox

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/atelier-run/atelier/runtimes/sandbox/wire"
	"golang.org/x/sys/unix"
)

// Levels of isolation, with the names that users see.
const (
	LevelFull    = "full"
	LevelReduced = "reduced"
	LevelNone    = "none"
)

// Level describes how much of the jail this host can enforce. With LevelNone nothing is executed.
type Level struct {
	Level   string
	Missing []string // one or two sentences for each entry of Lacks: the missing mechanism, the effect and the exact remedy
	Lacks   []Lack   // the entry that determines the level comes first
}

// Lack describes a mechanism of the jail that this host does not provide.
type Lack struct {
	Mechanism string // one of Mechanisms, or "" for the host as a whole
	Effect    string // one sentence: the missing mechanism and the effect
	Remedy    string // one sentence: the remedy
	Allowed   bool   // the mechanism is required, but the operator has accepted its absence in Options.AllowWeak
}

// String returns the level with the names of the missing mechanisms, such as "reduced(users, cgroups)". The server stores
// it with every run.
func (l Level) String() string {
	if l.Level != LevelReduced {
		return l.Level
	}
	names := make([]string, 0, len(l.Lacks))
	for _, lack := range l.Lacks {
		names = append(names, lack.Mechanism)
	}
	return l.Level + "(" + strings.Join(names, ", ") + ")"
}

// Weak returns the missing mechanisms that the operator has accepted. Every status report of the server must show them.
func (l Level) Weak() []Lack {
	var weak []Lack
	for _, lack := range l.Lacks {
		if lack.Allowed {
			weak = append(weak, lack)
		}
	}
	return weak
}

// scopedLandlock is the first landlock version that can block signals and abstract Unix sockets across jails.
const scopedLandlock = 6

// judge computes the level of isolation from the result of the probe and the mechanisms that New found.
func (s *Sandbox) judge(probe error) Level {
	var lacks []Lack
	if probe != nil {
		lacks = append(lacks, explain(probe))
	}
	if s.weakSeccomp {
		lacks = append(lacks, Lack{
			Mechanism: Seccomp, Allowed: true,
			Effect: "System calls are not filtered, because the operator allowed this mechanism to be missing (" + AllowFlag + "=" + Seccomp + "). Programs can reach a vulnerability in any system call.",
			Remedy: seccompRemedy + " and start the server without the flag.",
		})
	}
	if !s.ids.pool {
		lacks = append(lacks, Lack{
			Mechanism: Users,
			Effect:    "Runs share the server's host user, because only root can assign separate users. Namespaces, seccomp and landlock separate them.",
			Remedy:    "Start the server as root to give each run its own user. Programs never run as root.",
		})
	}
	switch {
	case s.landlock == 0:
		lacks = append(lacks, Lack{
			Mechanism: Landlock, Effect: "The kernel has no landlock, so only mounts protect files.",
			Remedy: "Use Linux 5.13 or later and add landlock to the boot parameter lsm= (check with cat /sys/kernel/security/lsm).",
		})
	case s.landlock < scopedLandlock:
		lacks = append(lacks, Lack{
			Mechanism: Landlock, Effect: fmt.Sprintf("Landlock version %d does not restrict signals and sockets.", s.landlock),
			Remedy: "Use Linux 6.12 or later.",
		})
	}
	if s.noProc {
		lacks = append(lacks, Lack{
			Mechanism: Proc, Effect: "The host does not allow a private /proc, so programs have no /proc.",
			Remedy: "In a container, unmask /proc (systempaths=unconfined).",
		})
	}
	for _, effect := range s.groups.Missing() {
		lacks = append(lacks, Lack{Mechanism: Cgroups, Effect: effect, Remedy: "Run the server as root, or in a systemd unit with Delegate=yes (to try it: systemd-run --user --scope -p Delegate=yes atelier serve)."})
	}
	level := Level{Level: LevelFull, Lacks: lacks}
	switch {
	case probe != nil:
		level.Level = LevelNone
	case len(lacks) > 0:
		level.Level = LevelReduced
	}
	for _, lack := range lacks {
		level.Missing = append(level.Missing, lack.Effect+" "+lack.Remedy)
	}
	return level
}

const seccompRemedy = "Use a kernel with CONFIG_SECCOMP_FILTER; in a container, use a seccomp profile that allows seccomp(2)"

// unfiltered is the error for a host that can set up jails only without a seccomp filter.
type unfiltered struct{ error }

func (u unfiltered) Unwrap() error { return u.error }

// explain turns the error of a failed set-up into a Lack, which names the mechanism, the effect and the remedy.
func explain(err error) Lack {
	nothing := func(mechanism, remedy, format string, args ...any) Lack {
		return Lack{Mechanism: mechanism, Effect: "The sandbox is not available" + fmt.Sprintf(format, args...), Remedy: remedy}
	}
	var open unfiltered
	if errors.As(err, &open) {
		return Lack{
			Mechanism: Seccomp, Effect: fmt.Sprintf("Nothing is executed because system calls cannot be filtered on this host (%v).", open.error),
			Remedy: seccompRemedy + ". To run programs without this protection, start the server with " + AllowFlag + "=" + Seccomp + ".",
		}
	}
	if errors.Is(err, wire.ErrCgo) {
		return nothing("", "Build it with CGO_ENABLED=0, as make build does.",
			", because this binary is linked with cgo and cannot drop privileges on all of its threads.")
	}
	for _, setting := range []struct{ file, bad, remedy string }{
		{"/proc/sys/user/max_user_namespaces", "0", "Run sysctl user.max_user_namespaces=10000."},
		{"/proc/sys/kernel/unprivileged_userns_clone", "0", "Run sysctl kernel.unprivileged_userns_clone=1."},
		{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1", "Use an AppArmor profile with userns for this binary, or run sysctl kernel.apparmor_restrict_unprivileged_userns=0."},
	} {
		if text, readErr := os.ReadFile(setting.file); readErr == nil && strings.TrimSpace(string(text)) == setting.bad {
			return nothing(Namespaces, setting.remedy, ": the host forbids user namespaces (%s is %s).", setting.file, setting.bad)
		}
	}
	if errors.Is(err, unix.EACCES) {
		return nothing("", "Run chmod o+rx on it and on its parent folders.", ": other users cannot execute the binary (%v).", err)
	}
	if errors.Is(err, unix.EPERM) {
		return nothing(Namespaces, "In a container, use a seccomp profile that allows clone with new user namespaces, for example seccomp=unconfined. The sandbox has its own filter.",
			": the host refuses new namespaces (%v).", err)
	}
	return nothing("", "Run `atelier doctor` to see the host's features.", " on this host: %v.", err)
}

// kernel returns the version of the running kernel as major*1000+minor.
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
