package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/attacks"
	"github.com/atelier-run/atelier/runtimes/doctor/guest"
	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/runtimes/sandbox/seccomp"
)

// bad is an invalid value for a descriptor, a pointer and a number. If a filter allows a call with this value, the call
// fails without harm. If the filter blocks the call, it fails with the filter's error.
const bad = ^uintptr(0)

// call is one system call and its required result.
type call struct {
	name string
	args [6]uintptr
	want []syscall.Errno
}

func (c call) String() string { return c.name }

// refused returns the error numbers with which a filter blocks calls. Some calls need privileges and fail with the same
// error if the caller has none. For such a call the check cannot tell which of the two protections blocked it.
func refused() []syscall.Errno { return []syscall.Errno{unix.EPERM, unix.ENOSYS} }

// dangerousCalls returns calls that no program needs and that exploits start with. The list is not derived from the
// filter's policy, because it tests the policy.
func dangerousCalls() []call {
	var calls []call
	for name := range strings.FieldsSeq(`
		ptrace process_vm_readv process_vm_writev pidfd_getfd kcmp process_madvise
		mount umount2 pivot_root chroot fsopen fsconfig fsmount fspick open_tree move_mount mount_setattr statmount listmount
		setns unshare io_uring_setup io_uring_enter io_uring_register io_setup bpf userfaultfd perf_event_open memfd_secret
		keyctl add_key request_key inotify_init1 fanotify_init name_to_handle_at open_by_handle_at shmget semget mq_open
		settimeofday clock_settime clock_adjtime adjtimex reboot swapon swapoff acct syslog quotactl
		init_module finit_module delete_module kexec_load move_pages migrate_pages mbind set_mempolicy
		iopl ioperm modify_ldt lookup_dcookie sethostname setdomainname`) {
		calls = append(calls, call{name, [6]uintptr{bad, bad, bad, bad, bad, bad}, refused()})
	}
	return append(calls,
		// If a filter allows this call, the kernel returns EINVAL, because a new user namespace cannot share its file system
		// state.
		call{"clone", [6]uintptr{unix.CLONE_NEWUSER | unix.CLONE_FS}, refused()},
		call{"clone3", [6]uintptr{bad, bad}, refused()},
		call{"socket", [6]uintptr{unix.AF_UNIX, unix.SOCK_STREAM}, []syscall.Errno{unix.EACCES, unix.EPERM}},
		call{"socket", [6]uintptr{unix.AF_NETLINK, unix.SOCK_RAW}, []syscall.Errno{unix.EAFNOSUPPORT, unix.EPERM}},
		call{"socket", [6]uintptr{unix.AF_PACKET, unix.SOCK_RAW}, []syscall.Errno{unix.EAFNOSUPPORT, unix.EPERM}},
		call{"socket", [6]uintptr{unix.AF_ALG, unix.SOCK_SEQPACKET}, []syscall.Errno{unix.EAFNOSUPPORT, unix.EPERM}},
		call{"socket", [6]uintptr{unix.AF_VSOCK, unix.SOCK_STREAM}, []syscall.Errno{unix.EAFNOSUPPORT, unix.EPERM}},
		call{"socketpair", [6]uintptr{unix.AF_UNIX, unix.SOCK_DGRAM}, refused()},
		call{"ioctl", [6]uintptr{bad, unix.TIOCSTI}, refused()},
		call{"ioctl", [6]uintptr{bad, unix.TIOCLINUX}, refused()},
		call{"fcntl", [6]uintptr{bad, unix.F_SETLEASE}, refused()},
		call{"flock", [6]uintptr{bad, unix.LOCK_EX}, refused()},
		call{"mknodat", [6]uintptr{bad, bad, unix.S_IFCHR | 0o600}, refused()},
		call{"prlimit64", [6]uintptr{0, unix.RLIMIT_CORE, bad}, refused()},
		call{"personality", [6]uintptr{0x0040000}, refused()},
	)
}

// workerCalls returns the additional calls that the filter for Atelier's own interpreters must block.
func workerCalls() []call {
	var calls []call
	for name := range strings.FieldsSeq(`
		openat openat2 open execve execveat socket socketpair connect bind sendmsg recvmsg kill prctl ioctl fcntl memfd_create
		getdents64 newfstatat statx readlinkat unlinkat renameat2 seccomp prlimit64 pipe2 dup3 pidfd_open setuid setsid`) {
		calls = append(calls, call{name, [6]uintptr{bad, bad, bad, bad, bad, bad}, refused()})
	}
	return append(calls,
		call{"clone", [6]uintptr{unix.CLONE_NEWUSER | unix.CLONE_FS}, refused()},
		call{"mmap", [6]uintptr{0, 4096, unix.PROT_READ | unix.PROT_EXEC, unix.MAP_PRIVATE | unix.MAP_ANON, bad}, refused()},
		call{"mprotect", [6]uintptr{0, 4096, unix.PROT_READ | unix.PROT_WRITE | unix.PROT_EXEC}, refused()},
	)
}

// controlCalls returns calls that every filter allows. They must reach the kernel, which rejects their arguments.
func controlCalls(filter sandbox.Filter) []call {
	calls := []call{
		{"read", [6]uintptr{bad}, []syscall.Errno{unix.EBADF}},
		{"write", [6]uintptr{bad}, []syscall.Errno{unix.EBADF}},
	}
	if filter == sandbox.FilterProgram {
		calls = append(calls,
			call{"openat", [6]uintptr{bad, bad}, []syscall.Errno{unix.EFAULT, unix.EBADF}},
			call{"execve", [6]uintptr{bad, bad}, []syscall.Errno{unix.EFAULT}},
			call{"ioctl", [6]uintptr{bad, unix.TCGETS}, []syscall.Errno{unix.EBADF}},
		)
	}
	return calls
}

// numbered returns those of the calls that this machine's architecture has: first as they are, then by their numbers.
func numbered(calls []call) ([]call, []guest.Call) {
	var known []call
	var numbers []guest.Call
	for _, c := range calls {
		if number, ok := seccomp.Arch(runtime.GOARCH).Number(c.name); ok {
			known = append(known, c)
			numbers = append(numbers, guest.Call{Number: uintptr(number), Args: c.args})
		}
	}
	return known, numbers
}

// systemCalls tries the calls under each filter: first in a process without an interpreter, then in a Python program.
func (d *Doctor) systemCalls(ctx context.Context, engines []Engine) {
	for filter, role := range map[sandbox.Filter]string{
		sandbox.FilterProgram: guest.ProgramRole, sandbox.FilterAlone: guest.AloneRole, sandbox.FilterWorker: guest.WorkerRole, sandbox.FilterCompiler: guest.CompilerRole,
	} {
		calls := dangerousCalls()
		switch filter {
		case sandbox.FilterProgram:
		case sandbox.FilterAlone:
			calls = append(calls, aloneCalls()...)
		default:
			calls = append(calls, workerCalls()...)
		}
		name := "filter of " + map[sandbox.Filter]string{sandbox.FilterProgram: "programs", sandbox.FilterAlone: "programs only", sandbox.FilterWorker: "workers", sandbox.FilterCompiler: "compilers"}[filter]
		calls, controls := calls, controlCalls(filter)
		all, numbers := numbered(append(slices.Clone(calls), controls...))
		answer, err := d.probe(ctx, filter, role, guest.Request{Calls: numbers, Read: []string{"/", "/etc/passwd", "/proc/self/status"}})
		if err != nil {
			d.add(Check{Group: Syscalls, Name: name, Verdict: Fail, Evidence: err.Error(), Fix: "Start the server with --log-level=debug and read its log."})
			continue
		}
		d.add(judgeCalls(name, "", all, answer.Errnos))
		d.add(judgeRole(name, filter, answer))
	}
	d.foreign(ctx)
	for _, e := range engines {
		if e.Language == runtimes.Python {
			d.callsFromPython(ctx, e)
		}
	}
}

// judgeCalls returns a check that passes if each call had its required result.
func judgeCalls(name string, language runtimes.Language, calls []call, errnos []int) Check {
	c := Check{Group: Syscalls, Name: name, Language: language, Verdict: Fail, Mechanism: sandbox.Seccomp, Fix: ask}
	if len(errnos) != len(calls) || len(calls) == 0 {
		c.Evidence = fmt.Sprintf("%d answers to %d calls", len(errnos), len(calls))
		return c
	}
	var wrong []string
	for i, got := range errnos {
		if !slices.Contains(calls[i].want, syscall.Errno(got)) {
			wrong = append(wrong, fmt.Sprintf("%s returns %s", calls[i], errnoName(got)))
		}
	}
	if len(wrong) > 0 {
		c.Evidence = strings.Join(cutList(wrong, 8), ", ")
		return c
	}
	c.Verdict, c.Evidence = Pass, fmt.Sprintf("%d calls with invalid arguments fail as expected: dangerous calls with EPERM or ENOSYS, others with EBADF or EFAULT", len(calls))
	return c
}

func errnoName(number int) string {
	if number == 0 {
		return "success"
	}
	if name := unix.ErrnoName(syscall.Errno(number)); name != "" {
		return name
	}
	return fmt.Sprint(number)
}

// judgeRole checks the rest of the report of a process under a filter: its environment, its user and, for a worker,
// that it could open no file.
func judgeRole(name string, filter sandbox.Filter, answer guest.Answer) Check {
	user := fmt.Sprintf("uid %d", answer.UID)
	if answer.UID < 0 {
		user = "may not read its uid"
	}
	c := Check{Group: Syscalls, Name: name + ": process 1", Verdict: Pass, Evidence: fmt.Sprintf("process %d, %s, an empty environment", answer.PID, user), Fix: ask}
	opened := 0
	for _, err := range answer.Errors {
		if err == "" {
			opened++
		}
	}
	if !filter.Foreign() {
		c.Evidence += ", no file can be opened"
	}
	switch {
	case answer.PID != 1 || answer.UID == 0:
		c.Verdict, c.Evidence = Fail, fmt.Sprintf("process %d, %s", answer.PID, user)
	case len(answer.Environ) > 0:
		c.Verdict, c.Evidence = Fail, plural(len(answer.Environ), "variable", "variables")+" of the server in its environment"
	case !filter.Foreign() && opened > 0:
		c.Verdict, c.Evidence, c.Mechanism = Fail, fmt.Sprintf("%d of %d files could be opened", opened, len(answer.Errors)), sandbox.Seccomp
	}
	return c
}

// probe creates a sandbox with a role of package guest, sends a request to it, and returns the answer.
func (d *Doctor) probe(ctx context.Context, filter sandbox.Filter, role string, request guest.Request) (guest.Answer, error) {
	var answer guest.Answer
	jail, err := d.Box.Prepare(ctx, profile(filter, role))
	if err != nil {
		return answer, err
	}
	defer jail.Wait()
	defer jail.Kill()
	if err := jail.Conn().SetDeadline(time.Now().Add(programTimeout)); err != nil {
		return answer, err
	}
	if err := frames.NewWriter(jail.Conn()).WriteJSON(frames.Job, request); err != nil {
		return answer, err
	}
	_, payload, err := frames.NewReader(jail.Conn(), map[frames.Kind]int{frames.Done: guest.MaxFrame}).Read()
	if err != nil {
		return answer, fmt.Errorf("the sandboxed process gave no answer: %w", err)
	}
	return answer, json.Unmarshal(payload, &answer)
}

func profile(filter sandbox.Filter, role string) sandbox.Profile {
	p := sandbox.Profile{Role: role, Filter: filter, Limits: runtimes.DefaultLimits()}
	if filter.Foreign() {
		p.Mounts, p.Proc = []sandbox.Mount{{Host: "/usr", Path: "/usr"}}, true
	}
	return p
}

// foreign makes a system call of another architecture. A filter that compares only numbers would take it for a harmless
// call. A correct filter ends the process.
func (d *Doctor) foreign(ctx context.Context) {
	const x32 = 0x40000000
	if runtime.GOARCH != "amd64" {
		return // other architectures have only one table of system calls
	}
	number, _ := seccomp.AMD64.Number("getpid")
	c := Check{Group: Syscalls, Name: "calls by another table", Verdict: Fail, Mechanism: sandbox.Seccomp, Fix: ask}
	jail, err := d.Box.Prepare(ctx, profile(sandbox.FilterProgram, guest.ProgramRole))
	if err != nil {
		c.Evidence, c.Mechanism = err.Error(), ""
		d.add(c)
		return
	}
	request := guest.Request{Calls: []guest.Call{{Number: x32 + uintptr(number)}}}
	err = frames.NewWriter(jail.Conn()).WriteJSON(frames.Job, request)
	if err == nil {
		// If the filter works, the process is killed and sends no answer.
		_ = jail.Conn().SetReadDeadline(time.Now().Add(programTimeout))
		_, _, err = frames.NewReader(jail.Conn(), map[frames.Kind]int{frames.Done: guest.MaxFrame}).Read()
	}
	jail.Kill()
	exit := jail.Wait()
	if err != nil && exit.Signal == int(unix.SIGSYS) {
		c.Verdict, c.Evidence = Pass, "an x32 system call ends the process with SIGSYS"
	} else {
		c.Evidence = fmt.Sprintf("an x32 system call returned; the process ended with signal %d", exit.Signal)
	}
	d.add(c)
}

// callsFromPython tries the same calls in a Python program.
func (d *Doctor) callsFromPython(ctx context.Context, e Engine) {
	calls, numbers := numbered(append(dangerousCalls(), controlCalls(sandbox.FilterProgram)...))
	table := make([][]int64, 0, len(numbers))
	for _, n := range numbers {
		row := []int64{int64(n.Number)}
		for _, a := range n.Args {
			row = append(row, int64(a))
		}
		table = append(table, row)
	}
	t := run(ctx, e, job(e, attacks.Source(e.Language, "syscalls"), input(map[string]any{"calls": table})))
	if strings.Contains(t.failure(), "ctypes") {
		d.add(Check{Group: Syscalls, Name: "calls of a program", Language: e.Language, Verdict: Pass, Evidence: "this Python has no ctypes, so a program can only make the interpreter's calls"})
		return
	}
	var errnos []int
	if wrong := t.failure(); wrong != "" || json.Unmarshal(t.outcome.Output, &errnos) != nil {
		d.add(Check{Group: Syscalls, Name: "calls of a program", Language: e.Language, Verdict: Fail, Evidence: "The program failed: " + wrong, Fix: d.remedyOfEngine(e)})
		return
	}
	d.add(judgeCalls("calls of a program", e.Language, calls, errnos))
}
