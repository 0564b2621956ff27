package seccomp

// Worker returns the policy for our own interpreters. They may compute, use their open socket and start threads of the Go
// runtime. They cannot open files or make memory executable.
func Worker() Policy {
	refuse := Errno(ePERM)
	rules := map[string]Rule{}
	for _, name := range []string{
		"clock_getres", "clock_gettime", "clock_nanosleep", "close", "epoll_ctl", "epoll_pwait", "epoll_wait", "exit",
		"exit_group", "fstat", "futex", "getpid", "getrandom", "gettid", "gettimeofday", "madvise", "mincore", "munmap",
		"nanosleep", "ppoll", "poll", "read", "readv", "restart_syscall", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn",
		"sched_getaffinity", "sched_yield", "sigaltstack", "tgkill", "write", "writev",
	} {
		rules[name] = Rule{Otherwise: Allow}
	}
	rules["clone"] = Rule{
		Checks: []Check{
			{Arg: 0, Mask: namespaceBits | threadBit, Value: threadBit, Action: Allow},
		},
		Otherwise: refuse,
	}
	rules["clone3"] = Rule{Otherwise: Errno(eNOSYS)}
	const executable = 4 // PROT_EXEC
	for _, name := range []string{"mmap", "mprotect"} {
		rules[name] = Rule{Checks: []Check{{Arg: 2, Mask: executable, Value: 0, Action: Allow}}, Otherwise: refuse}
	}
	return Policy{Rules: rules, Default: refuse}
}

// Compiler returns the policy for an engine that generates machine code. It is the policy of a worker, except that memory
// may become executable if it is no longer writable.
func Compiler() Policy {
	const writable, executable = 2, 4 // PROT_WRITE, PROT_EXEC
	policy := Worker()
	policy.Rules["mprotect"] = Rule{
		Checks: []Check{
			{Arg: 2, Mask: executable, Value: 0, Action: Allow},
			{Arg: 2, Mask: writable | executable, Value: executable, Action: Allow},
		},
		Otherwise: Errno(ePERM),
	}
	return policy
}
