package sandbox

import "github.com/atelier-run/atelier/runtimes/sandbox/cgroups"

// Host is what the sandbox found on this host and uses.
type Host struct {
	Landlock int // version of its interface, 0 for none
	Cgroups  cgroups.Mode
	Without  []string // what it was told to do without
}

// Host says what the sandbox found.
func (s *Sandbox) Host() Host {
	return Host{Landlock: s.landlock, Cgroups: s.groups.Mode(), Without: s.options.Without}
}
