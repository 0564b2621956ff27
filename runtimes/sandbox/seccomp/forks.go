package seccomp

import "maps"

// Forks makes two policies of one for programs: the first is for a fork server, whose children inherit it, the second for
// each child. Both together decide as the one does, because the kernel takes the strictest answer of all filters of a
// process. What the first lets pass beyond the one is what a fork server and the way into a child need, and the second says
// nothing but to that.
func Forks(program Policy) (server, child Policy) {
	server = Policy{Rules: maps.Clone(program.Rules), Default: program.Default}
	child = Policy{Rules: map[string]Rule{}, Default: Allow}
	for _, name := range []string{"clone3", "mount", "move_mount", "prlimit64", "unshare"} {
		rule, ok := program.Rules[name]
		if !ok {
			rule = Rule{Otherwise: program.Default}
		}
		server.Rules[name], child.Rules[name] = Rule{Otherwise: Allow}, rule
	}
	return server, child
}
