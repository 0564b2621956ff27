package sandbox_test

import (
	"fmt"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// none is a pointer or descriptor that is never valid. An allowed call with it fails with EBADF or EFAULT and does no
// harm. A refused call fails with the error number of the filter.
const none = ^uintptr(0)

// TestHostileSyscalls makes forbidden system calls in a program's jail, with invalid arguments. Each must fail with the
// error number of the filter.
func TestHostileSyscalls(t *testing.T) {
	t.Parallel()
	p := jail(t, newBox(t), program(limits()))
	refused := map[string]uintptr{
		"ptrace": unix.SYS_PTRACE, "process_vm_readv": unix.SYS_PROCESS_VM_READV, "process_vm_writev": unix.SYS_PROCESS_VM_WRITEV,
		"pidfd_getfd": unix.SYS_PIDFD_GETFD, "kcmp": unix.SYS_KCMP, "process_madvise": unix.SYS_PROCESS_MADVISE,
		"mount": unix.SYS_MOUNT, "umount2": unix.SYS_UMOUNT2, "pivot_root": unix.SYS_PIVOT_ROOT, "chroot": unix.SYS_CHROOT,
		"fsopen": unix.SYS_FSOPEN, "open_tree": unix.SYS_OPEN_TREE, "move_mount": unix.SYS_MOVE_MOUNT, "mount_setattr": unix.SYS_MOUNT_SETATTR,
		"statmount": unix.SYS_STATMOUNT, "listmount": unix.SYS_LISTMOUNT,
		"setns": unix.SYS_SETNS, "unshare": unix.SYS_UNSHARE, "sethostname": unix.SYS_SETHOSTNAME,
		"io_uring_setup": unix.SYS_IO_URING_SETUP, "io_setup": unix.SYS_IO_SETUP, "bpf": unix.SYS_BPF, "userfaultfd": unix.SYS_USERFAULTFD,
		"perf_event_open": unix.SYS_PERF_EVENT_OPEN, "memfd_secret": unix.SYS_MEMFD_SECRET, "keyctl": unix.SYS_KEYCTL,
		"add_key": unix.SYS_ADD_KEY, "request_key": unix.SYS_REQUEST_KEY, "inotify_init1": unix.SYS_INOTIFY_INIT1,
		"fanotify_init": unix.SYS_FANOTIFY_INIT, "name_to_handle_at": unix.SYS_NAME_TO_HANDLE_AT, "open_by_handle_at": unix.SYS_OPEN_BY_HANDLE_AT,
		"shmget": unix.SYS_SHMGET, "semget": unix.SYS_SEMGET, "msgget": unix.SYS_MSGGET, "mq_open": unix.SYS_MQ_OPEN,
		"settimeofday": unix.SYS_SETTIMEOFDAY, "clock_settime": unix.SYS_CLOCK_SETTIME, "clock_adjtime": unix.SYS_CLOCK_ADJTIME,
		"reboot": unix.SYS_REBOOT, "swapon": unix.SYS_SWAPON, "acct": unix.SYS_ACCT, "syslog": unix.SYS_SYSLOG, "quotactl": unix.SYS_QUOTACTL,
		"init_module": unix.SYS_INIT_MODULE, "finit_module": unix.SYS_FINIT_MODULE, "kexec_load": unix.SYS_KEXEC_LOAD,
		"move_pages": unix.SYS_MOVE_PAGES, "mbind": unix.SYS_MBIND, "vhangup": unix.SYS_VHANGUP,
	}
	for name, number := range refused {
		args := [6]uintptr{none, none, none, none, none, none}
		if got := p.do(t, request{Do: "syscall", Number: number, Args: args}); got.Errno != int(unix.EPERM) {
			t.Errorf("%s: %s, want EPERM", name, errnoName(got.Errno))
		}
	}
	checkCalls(t, p, map[string]callCheck{
		"clone of a user namespace":  {unix.SYS_CLONE, [6]uintptr{unix.CLONE_NEWUSER | uintptr(unix.SIGCHLD)}, unix.EPERM},
		"clone3":                     {unix.SYS_CLONE3, [6]uintptr{none, none}, unix.ENOSYS},
		"call of a later kernel":     {900, [6]uintptr{}, unix.ENOSYS},
		"AF_UNIX socket":             {unix.SYS_SOCKET, [6]uintptr{unix.AF_UNIX, unix.SOCK_STREAM}, unix.EACCES},
		"AF_NETLINK socket":          {unix.SYS_SOCKET, [6]uintptr{unix.AF_NETLINK, unix.SOCK_RAW}, unix.EAFNOSUPPORT},
		"AF_VSOCK socket":            {unix.SYS_SOCKET, [6]uintptr{unix.AF_VSOCK, unix.SOCK_STREAM}, unix.EAFNOSUPPORT},
		"AF_ALG socket":              {unix.SYS_SOCKET, [6]uintptr{unix.AF_ALG, unix.SOCK_SEQPACKET}, unix.EAFNOSUPPORT},
		"AF_PACKET socket":           {unix.SYS_SOCKET, [6]uintptr{unix.AF_PACKET, unix.SOCK_RAW}, unix.EAFNOSUPPORT},
		"raw inet socket":            {unix.SYS_SOCKET, [6]uintptr{unix.AF_INET, unix.SOCK_RAW, 1}, unix.EPERM},
		"typing into a terminal":     {unix.SYS_IOCTL, [6]uintptr{none, unix.TIOCSTI}, unix.EPERM},
		"lease on a shared file":     {unix.SYS_FCNTL, [6]uintptr{none, unix.F_SETLEASE}, unix.EPERM},
		"no address randomisation":   {unix.SYS_PERSONALITY, [6]uintptr{0x0040000}, unix.EPERM},
		"character device":           {unix.SYS_MKNODAT, [6]uintptr{none, none, unix.S_IFCHR | 0o600}, unix.EPERM},
		"control: read":              {unix.SYS_READ, [6]uintptr{none, 0, 0}, unix.EBADF},
		"control: write":             {unix.SYS_WRITE, [6]uintptr{none, 0, 0}, unix.EBADF},
		"control: openat":            {unix.SYS_OPENAT, [6]uintptr{none, none, 0}, unix.EFAULT},
		"control: execve":            {unix.SYS_EXECVE, [6]uintptr{none, none, 0}, unix.EFAULT},
		"control: ioctl":             {unix.SYS_IOCTL, [6]uintptr{none, unix.TCGETS}, unix.EBADF},
		"control: fcntl lock":        {unix.SYS_FCNTL, [6]uintptr{none, unix.F_SETLK}, unix.EBADF},
		"control: FIFO":              {unix.SYS_MKNODAT, [6]uintptr{none, none, unix.S_IFIFO | 0o600}, unix.EFAULT},
		"control: own limits":        {unix.SYS_PRLIMIT64, [6]uintptr{0, unix.RLIMIT_NOFILE, 0, 0}, 0},
		"control: sync does nothing": {unix.SYS_SYNC, [6]uintptr{}, 0},
	})
}

// TestHostileWorkerSyscalls makes forbidden system calls in a worker's jail, whose filter allows very few calls.
func TestHostileWorkerSyscalls(t *testing.T) {
	t.Parallel()
	p := jail(t, newBox(t), worker(limits()))
	for name, number := range map[string]uintptr{
		"openat": unix.SYS_OPENAT, "openat2": unix.SYS_OPENAT2, "execve": unix.SYS_EXECVE, "execveat": unix.SYS_EXECVEAT,
		"socket": unix.SYS_SOCKET, "socketpair": unix.SYS_SOCKETPAIR, "connect": unix.SYS_CONNECT, "sendmsg": unix.SYS_SENDMSG,
		"recvmsg": unix.SYS_RECVMSG, "kill": unix.SYS_KILL, "ptrace": unix.SYS_PTRACE, "prctl": unix.SYS_PRCTL, "ioctl": unix.SYS_IOCTL,
		"mount": unix.SYS_MOUNT, "unshare": unix.SYS_UNSHARE, "memfd_create": unix.SYS_MEMFD_CREATE, "getdents64": unix.SYS_GETDENTS64,
		"newfstatat": unix.SYS_NEWFSTATAT, "io_uring_setup": unix.SYS_IO_URING_SETUP, "keyctl": unix.SYS_KEYCTL, "seccomp": unix.SYS_SECCOMP,
		"prlimit64": unix.SYS_PRLIMIT64, "userfaultfd": unix.SYS_USERFAULTFD, "pipe2": unix.SYS_PIPE2, "dup3": unix.SYS_DUP3,
	} {
		args := [6]uintptr{none, none, none, none, none, none}
		if got := p.do(t, request{Do: "syscall", Number: number, Args: args}); got.Errno != int(unix.EPERM) {
			t.Errorf("%s: %s, want EPERM", name, errnoName(got.Errno))
		}
	}
	checkCalls(t, p, map[string]callCheck{
		"fork":             {unix.SYS_CLONE, [6]uintptr{uintptr(unix.SIGCHLD)}, unix.EPERM},
		"executable pages": {unix.SYS_MMAP, [6]uintptr{0, 4096, unix.PROT_READ | unix.PROT_EXEC, unix.MAP_PRIVATE | unix.MAP_ANON, none}, unix.EPERM},
		"control: pages":   {unix.SYS_MMAP, [6]uintptr{0, 4096, unix.PROT_READ, unix.MAP_PRIVATE | unix.MAP_ANON, none}, 0},
		"control: read":    {unix.SYS_READ, [6]uintptr{none, 0, 0}, unix.EBADF},
	})
	if got := p.do(t, request{Do: "threads", Bytes: 20}); got.Error != "" {
		t.Errorf("control: threads of Go: %s", got.Error)
	}
}

type callCheck struct {
	number uintptr
	args   [6]uintptr
	want   syscall.Errno
}

func checkCalls(t *testing.T, p *prisoner, checks map[string]callCheck) {
	t.Helper()
	for name, check := range checks {
		if got := p.do(t, request{Do: "syscall", Number: check.number, Args: check.args}); got.Errno != int(check.want) {
			t.Errorf("%s: %s, want %s", name, errnoName(got.Errno), errnoName(int(check.want)))
		}
	}
}

func errnoName(number int) string {
	if number == 0 {
		return "success"
	}
	return fmt.Sprintf("%s (%d)", unix.ErrnoName(syscall.Errno(number)), number)
}

// TestHostileForeignABI makes system calls through the x32 ABI, whose numbers differ. A filter that checks only numbers,
// but not the ABI, would allow them.
func TestHostileForeignABI(t *testing.T) {
	t.Parallel()
	if runtime.GOARCH != "amd64" {
		t.Skip("only amd64 has the x32 ABI")
	}
	p := jail(t, newBox(t), program(limits()))
	p.send(t, request{Do: "syscall", Number: 0x40000000 + unix.SYS_GETPID})
	if _, err := p.receive(t); err == nil {
		t.Fatal("an x32 call returned")
	}
	if exit := p.Wait(); exit.Signal != int(unix.SIGSYS) {
		t.Errorf("ended with %+v, want signal SIGSYS", exit)
	}
}
