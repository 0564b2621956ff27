package seccomp

import "maps"

// Forks splits a policy for programs into two policies. A fork server installs the first one, and its children inherit it.
// Each child installs the second one. The kernel applies the strictest result of all filters of a process, so together
// they have the effect of the original policy. The first policy additionally allows the calls that a fork server and a
// child's set-up need. The second policy applies the original rules to these calls and allows all others.
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
