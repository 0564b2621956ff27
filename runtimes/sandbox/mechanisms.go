package sandbox

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Mechanisms that a host may lack, by their names in Options, flags and reports.
const (
	Namespaces = "namespaces" // always required
	Seccomp    = "seccomp"    // required unless the operator accepts its absence
	Landlock   = "landlock"
	Cgroups    = "cgroups"
	Proc       = "proc"  // a private /proc
	Users      = "users" // one host user for each live jail
)

// AllowFlag is the command line flag of Options.AllowWeak.
const AllowFlag = "--allow-weak-sandbox"

// Weakenable returns the required mechanisms that Options.AllowWeak may name.
func Weakenable() []string { return []string{Seccomp} }

// Removable returns the mechanisms that Options.Without may name. Users is not one of them: without it, programs of a
// server that runs as root would run as root too.
func Removable() []string { return []string{Namespaces, Seccomp, Landlock, Cgroups, Proc} }

func checkNames(given, known []string, what string) error {
	for _, name := range given {
		if !slices.Contains(known, name) {
			return fmt.Errorf("%q is not a mechanism that %s; choose from %s", name, what, strings.Join(known, ", "))
		}
	}
	return nil
}

// doesWithout reports whether the sandbox must behave as if the host lacked a mechanism, because of Options.Without.
func (o Options) doesWithout(mechanism string) bool { return slices.Contains(o.Without, mechanism) }

// simulateMissing returns the error of a jail set-up on a host that lacks the mechanisms in Options.Without.
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

// chooseMechanisms tries to set up a jail, first with every mechanism and then without /proc, seccomp or both, until it
// works. It stores the working combination in s.
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
