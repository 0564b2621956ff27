package sandbox

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// The mechanisms that a host may lack, by the names of Options, flags and reports.
const (
	Namespaces = "namespaces" // required, and there is no jail without
	Seccomp    = "seccomp"    // required, unless the operator names it
	Landlock   = "landlock"
	Cgroups    = "cgroups"
	Proc       = "proc"  // a private /proc
	Users      = "users" // of the host, one for each live jail
)

// AllowFlag names to the operator what Options.AllowWeak is on the command line.
const AllowFlag = "--allow-weak-sandbox"

// Weakenable are the required mechanisms that Options.AllowWeak may name.
func Weakenable() []string { return []string{Seccomp} }

// Removable are the mechanisms that Options.Without may name. Users are not among them: as root there would be no other
// user for a guest than root.
func Removable() []string { return []string{Namespaces, Seccomp, Landlock, Cgroups, Proc} }

func checkNames(given, known []string, what string) error {
	for _, name := range given {
		if !slices.Contains(known, name) {
			return fmt.Errorf("%q is not a mechanism that %s; choose from %s", name, what, strings.Join(known, ", "))
		}
	}
	return nil
}

// doesWithout says whether to behave as on a host that lacks a mechanism.
func (o Options) doesWithout(mechanism string) bool { return slices.Contains(o.Without, mechanism) }

// simulateMissing answers the error that the set-up of a jail would meet on a host that lacks what is masked.
func (s *Sandbox) simulateMissing() error {
	switch {
	case s.options.doesWithout(Namespaces):
		return fmt.Errorf("start process 1 of the jail: %w (masked)", unix.EPERM)
	case s.options.doesWithout(Seccomp) && !s.weakSeccomp:
		return fmt.Errorf("set up the jail: seccomp: %w (masked)", unix.ENOSYS)
	case s.options.doesWithout(Proc) && !s.noProc:
		return fmt.Errorf("set up the jail: mounts: mount /proc: %w (masked)", unix.EPERM)
	}
	return nil
}

// chooseMechanisms sets up a jail for real, first with everything and then without what may be missing, until that works. It leaves
// the sandbox as it has to be on this host.
func (s *Sandbox) chooseMechanisms(try func() error) error {
	ways := []struct{ noProc, weakSeccomp bool }{{false, false}, {true, false}, {false, true}, {true, true}}
	var first error
	for _, sequence := range ways {
		s.noProc, s.weakSeccomp = sequence.noProc, sequence.weakSeccomp
		err := try()
		if first == nil {
			first = err
		}
		if err != nil {
			continue
		}
		if sequence.weakSeccomp && !slices.Contains(s.options.AllowWeak, Seccomp) {
			s.weakSeccomp = false
			return unfiltered{first}
		}
		return nil
	}
	s.noProc, s.weakSeccomp = false, false
	return first
}
