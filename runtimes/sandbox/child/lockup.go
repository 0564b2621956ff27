// Package child is the code that becomes a jailed program. It locks up its own process, and holds the system calls that
// a launcher's child makes between its start and its program, where no Go code can run.
package child

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/runtimes/sandbox/wire"
)

// LockUp makes the jail around this process. The order matters. The server has put process 1 into its control groups
// before their namespace begins, so their names stay hidden. Mounting needs the capabilities, and landlock forbids
// mounting. After seccomp, none of these calls is possible any more.
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
