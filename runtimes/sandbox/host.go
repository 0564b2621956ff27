package sandbox

import (
	"github.com/atelier-run/atelier/runtimes/sandbox/cgroups"
)

// Host describes the features of this host that the sandbox found and uses.
type Host struct {
	Landlock int // version of its interface, 0 if there is none
	Cgroups  cgroups.Mode
	Without  []string // mechanisms that the options switch off
}

// Host returns the features that the sandbox found.
func (s *Sandbox) Host() Host {
	return Host{Landlock: s.landlock, Cgroups: s.groups.Mode(), Without: s.options.Without}
}
