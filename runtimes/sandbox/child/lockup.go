// Package child contains the code of a jailed process. LockUp isolates process 1 of a jail. SyscallProgram is the list of
// system calls that a launcher's child makes before it executes its program, when it cannot run Go code.
package child

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/runtimes/sandbox/wire"
)

// LockUp isolates this process. The order of the steps matters. The server put process 1 into its control groups before
// this process creates its cgroup namespace, so the names of the groups stay hidden. Mounting needs capabilities, and
// landlock forbids it. The seccomp filter comes last, because it forbids all of these calls.
func LockUp(config wire.Setup) error {
	steps := []struct {
		name string
		do   func(wire.Setup) error
	}{
		{"control groups", hideGroups},
		{"project ids", mapProjectIDs},
		{"mounts", changeRoot},
		{"host name", func(wire.Setup) error { return unix.Sethostname([]byte(wire.Hostname)) }},
		{"limits", setLimits},
		{"privileges", dropPrivileges},
		{"landlock", landlock},
		{"threads", warmThreads},
		{"seccomp", installFilter},
	}
	for _, step := range steps {
		if err := step.do(config); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return nil
}
