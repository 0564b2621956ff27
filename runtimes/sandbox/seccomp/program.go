package seccomp

import "math"

const whole = math.MaxUint32

// Error numbers and flags, which are the same on amd64 and arm64.
const (
	ePERM         = 1
	eACCES        = 13
	eNOSYS        = 38
	eAFNOSUPPORT  = 97
	namespaceBits = 0x7e020000 // the CLONE_NEW flags of clone
	threadBit     = 0x00010000 // CLONE_THREAD
	datagramBits  = 0xe        // SOCK_DGRAM and SOCK_RAW among the socket types, without flags
	rlimitCore    = 4
)

// Program returns the policy for foreign programs: the calls that shells and interpreters need. It is the default list
// of the Moby project without the calls that a jail does not need. Calls that are not listed fail with ENOSYS, so that
// the C library uses a fallback. Dangerous calls fail with EPERM, so that the user sees that they are forbidden.
func Program() Policy {
	rules := map[string]Rule{}
	for _, name := range ordinary() {
		rules[name] = Rule{Otherwise: Allow}
	}
	for _, name := range dangerous() {
		rules[name] = Rule{Otherwise: Errno(ePERM)}
	}
	for name, rule := range conditional() {
		rules[name] = rule
	}
	return Policy{Rules: rules, Default: Errno(eNOSYS)}
}

// Installer returns the policy for package resolvers. It is the policy of Program, except that flock succeeds without
// effect: uv exits if it cannot lock its cache. The cache is in the resolver's own jail, so no lock is needed.
func Installer() Policy {
	policy := Program()
	policy.Rules["flock"] = Rule{Otherwise: Errno(0)}
	return policy
}

// conditional returns the rules of calls that are allowed only with certain arguments.
func conditional() map[string]Rule {
	refuse := Errno(ePERM)
	return map[string]Rule{
		// Threads and processes, but no namespaces. clone3 has its flags in memory, which a filter cannot read.
		"clone":  {Checks: []Check{{Arg: 0, Mask: namespaceBits, Value: 0, Action: Allow}}, Otherwise: refuse},
		"clone3": {Otherwise: Errno(eNOSYS)},

		// Abstract AF_UNIX addresses belong to a network namespace and not to a root, so runs could connect through
		// them. Inet sockets are allowed so that connect can fail with "network is unreachable".
		"socket": {Checks: []Check{
			{Arg: 0, Mask: whole, Value: 1, Action: Errno(eACCES)},
			{Arg: 0, Mask: whole, Value: 2, Action: Allow},
			{Arg: 0, Mask: whole, Value: 10, Action: Allow},
		}, Otherwise: Errno(eAFNOSUPPORT)},
		// A datagram pair can be disconnected and bound to an abstract address, which other runs in the network
		// namespace can reach. SOCK_DGRAM is 2; the kernel also makes a datagram socket of SOCK_RAW, 3.
		"socketpair": {Checks: []Check{
			{Arg: 1, Mask: datagramBits, Value: 2, Action: refuse},
			{Arg: 0, Mask: whole, Value: 1, Action: Allow},
		}, Otherwise: Errno(eAFNOSUPPORT)},

		// TIOCSTI and TIOCLINUX insert input into a terminal. TIOCSETD loads line disciplines.
		"ioctl": {Checks: []Check{
			{Arg: 1, Mask: whole, Value: 0x5412, Action: refuse},
			{Arg: 1, Mask: whole, Value: 0x541c, Action: refuse},
			{Arg: 1, Mask: whole, Value: 0x5423, Action: refuse},
		}, Otherwise: Allow},

		// F_SETLEASE and F_NOTIFY let a program observe how other processes access shared files.
		"fcntl": {Checks: []Check{
			{Arg: 1, Mask: whole, Value: 1024, Action: refuse},
			{Arg: 1, Mask: whole, Value: 1026, Action: refuse},
		}, Otherwise: Allow},

		// flock locks a file for the whole host, even if it is open only for reading. With locks on files of /usr, a program
		// could block programs of the host and pass information to other runs. Libraries fall back to fcntl locks.
		"flock": {Otherwise: Errno(eNOSYS)},

		"personality": {Checks: []Check{
			{Arg: 0, Mask: whole, Value: 0, Action: Allow},
			{Arg: 0, Mask: whole, Value: whole, Action: Allow},
		}, Otherwise: refuse},

		// The limit of core files must stay 1 byte. Only that value prevents the kernel from starting a helper program of
		// the host that core_pattern may name. Reading the limit is allowed.
		"prlimit64": {Checks: []Check{
			{Arg: 2, Mask: whole, Value: 0, Action: Allow, Wide: true},
			{Arg: 1, Mask: whole, Value: rlimitCore, Action: refuse},
		}, Otherwise: Allow},
		"setrlimit": {Checks: []Check{{Arg: 0, Mask: whole, Value: rlimitCore, Action: refuse}}, Otherwise: Allow},

		"mknod":   {Checks: plainFiles(1), Otherwise: refuse},
		"mknodat": {Checks: plainFiles(2), Otherwise: refuse},

		// Programs may not flush the disks of the host: the call succeeds and has no effect.
		"sync":   {Otherwise: Errno(0)},
		"syncfs": {Otherwise: Errno(0)},
	}
}

// plainFiles allows regular files and FIFOs. arg is the argument with the mode.
func plainFiles(arg int) []Check {
	const format = 0o170000
	return []Check{
		{Arg: arg, Mask: format, Value: 0, Action: Allow},
		{Arg: arg, Mask: format, Value: 0o100000, Action: Allow},
		{Arg: arg, Mask: format, Value: 0o010000, Action: Allow},
	}
}

// ordinary returns the names of calls that are allowed with any arguments.
func ordinary() []string {
	return []string{
		"accept", "accept4", "access", "alarm", "arch_prctl", "bind", "brk", "cachestat", "capget", "capset", "chdir", "chmod", "chown",
		"clock_getres", "clock_gettime", "clock_nanosleep", "close", "close_range", "connect", "copy_file_range", "creat",
		"dup", "dup2", "dup3", "epoll_create", "epoll_create1", "epoll_ctl", "epoll_pwait", "epoll_pwait2", "epoll_wait",
		"eventfd", "eventfd2", "execve", "execveat", "exit", "exit_group", "faccessat", "faccessat2", "fadvise64", "fallocate",
		"fchdir", "fchmod", "fchmodat", "fchmodat2", "fchown", "fchownat", "fdatasync", "fgetxattr", "flistxattr",
		"fork", "fremovexattr", "fsetxattr", "fstat", "fstatfs", "fsync", "ftruncate", "futex", "futex_requeue", "futex_wait",
		"futex_waitv", "futex_wake", "futimesat", "get_robust_list", "getcpu", "getcwd", "getdents", "getdents64", "getegid",
		"geteuid", "getgid", "getgroups", "getitimer", "getpeername", "getpgid", "getpgrp", "getpid", "getppid", "getpriority",
		"getrandom", "getresgid", "getresuid", "getrlimit", "getrusage", "getsid", "getsockname", "getsockopt", "gettid",
		"gettimeofday", "getuid", "getxattr", "ioprio_get", "ioprio_set", "kill", "landlock_add_rule",
		"landlock_create_ruleset", "landlock_restrict_self", "lchown", "lgetxattr", "link", "linkat", "listen", "listxattr",
		"llistxattr", "lremovexattr", "lseek", "lsetxattr", "lstat", "madvise", "map_shadow_stack", "membarrier",
		"memfd_create", "mincore", "mkdir", "mkdirat", "mlock", "mlock2", "mlockall", "mmap", "mprotect", "mremap", "mseal",
		"msync", "munlock", "munlockall", "munmap", "nanosleep", "newfstatat", "open", "openat", "openat2", "pause",
		"pidfd_open", "pidfd_send_signal", "pipe", "pipe2", "pkey_alloc", "pkey_free", "pkey_mprotect", "poll", "ppoll",
		"prctl", "pread64", "preadv", "preadv2", "pselect6", "pwrite64", "pwritev", "pwritev2", "read", "readahead",
		"readlink", "readlinkat", "readv", "recvfrom", "recvmmsg", "recvmsg", "remap_file_pages", "removexattr", "rename",
		"renameat", "renameat2", "restart_syscall", "rmdir", "rseq", "rt_sigaction", "rt_sigpending", "rt_sigprocmask",
		"rt_sigqueueinfo", "rt_sigreturn", "rt_sigsuspend", "rt_sigtimedwait", "rt_tgsigqueueinfo", "sched_get_priority_max",
		"sched_get_priority_min", "sched_getaffinity", "sched_getattr", "sched_getparam", "sched_getscheduler",
		"sched_rr_get_interval", "sched_setaffinity", "sched_setattr", "sched_setparam", "sched_setscheduler", "sched_yield",
		"seccomp", "select", "sendfile", "sendmmsg", "sendmsg", "sendto", "set_robust_list", "set_tid_address", "setfsgid",
		"setfsuid", "setgid", "setgroups", "setitimer", "setpgid", "setpriority", "setregid", "setresgid", "setresuid",
		"setreuid", "setrlimit", "setsid", "setsockopt", "setuid", "setxattr", "shutdown", "sigaltstack", "signalfd",
		"signalfd4", "splice", "stat", "statfs", "statx", "symlink", "symlinkat", "sync_file_range", "sysinfo", "tee",
		"tgkill", "time", "timer_create", "timer_delete", "timer_getoverrun", "timer_gettime", "timer_settime",
		"timerfd_create", "timerfd_gettime", "timerfd_settime", "times", "tkill", "truncate", "umask", "uname", "unlink",
		"unlinkat", "utime", "utimensat", "utimes", "vfork", "vmsplice", "wait4", "waitid", "write", "writev",
	}
}

// dangerous returns the names of calls that fail with EPERM. Some would be harmless in an intact jail, but are the first
// step of many kernel exploits. Others read or change state that namespaces do not isolate: keys, clocks, shared inodes
// and processes of the same user.
func dangerous() []string {
	return []string{
		"_sysctl", "acct", "add_key", "adjtimex", "bpf", "chroot", "clock_adjtime", "clock_settime", "create_module",
		"delete_module", "fanotify_init", "fanotify_mark", "finit_module", "fsconfig", "fsmount", "fsopen", "fspick",
		"get_kernel_syms", "get_mempolicy", "init_module", "inotify_add_watch", "inotify_init", "inotify_init1",
		"inotify_rm_watch", "io_cancel", "io_destroy", "io_getevents", "io_pgetevents", "io_setup", "io_submit",
		"io_uring_enter", "io_uring_register", "io_uring_setup", "ioperm", "iopl", "kcmp", "kexec_file_load", "kexec_load",
		"keyctl", "listmount", "listns", "lookup_dcookie", "lsm_get_self_attr", "lsm_list_modules", "lsm_set_self_attr",
		"mbind", "memfd_secret", "migrate_pages", "modify_ldt", "mount", "mount_setattr", "move_mount", "move_pages",
		"mq_getsetattr", "mq_notify", "mq_open", "mq_timedreceive", "mq_timedsend", "mq_unlink", "msgctl", "msgget", "msgrcv",
		"msgsnd", "name_to_handle_at", "nfsservctl", "open_by_handle_at", "open_tree", "open_tree_attr", "perf_event_open",
		"pidfd_getfd", "pivot_root", "process_madvise", "process_mrelease", "process_vm_readv", "process_vm_writev",
		"ptrace", "query_module", "quotactl", "quotactl_fd", "reboot", "request_key", "semctl", "semget", "semop",
		"semtimedop", "set_mempolicy", "set_mempolicy_home_node", "setdomainname", "sethostname", "setns", "settimeofday",
		"shmat", "shmctl", "shmdt", "shmget", "statmount", "swapoff", "swapon", "sysfs", "syslog", "umount2", "unshare",
		"uselib", "userfaultfd", "ustat", "vhangup",
	}
}
