package seccomp

import "maps"

// Forks splits a policy for programs in two. The first part is for a fork server, whose children inherit it; the second
// is for each child. Together they decide like the original policy, because the kernel takes the strictest answer of
// all filters of a process. The first part also allows the calls of a fork server and of a child's set-up. The second
// part decides only about these calls.
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
