package sandbox

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"syscall"

	"github.com/atelier-run/atelier/runtimes/sandbox/wire"
	"golang.org/x/sys/unix"
)

// spawner starts all jails on one thread. The kernel kills a jail when the thread that started it ends (Pdeathsig). So
// the thread must exist as long as the server. Go guarantees that only for a locked thread. Jails also inherit the
// thread's session keyring, because no namespace isolates keyrings. So the thread gets an empty, revoked keyring.
type spawner struct {
	requests chan func()
	stop     sync.Once
	stopped  chan struct{}
}

// lateSlack is the timer slack of process 1, in nanoseconds. Process 1 of a jail is a Go process, and with the default
// slack its monitoring thread used a twelfth of the CPU time of a Python run. The server's monitoring thread has the same
// slack (see internal/gctuning). Programs get wire.UsualSlack.
const lateSlack = 1_000_000

func newSpawner() *spawner {
	k := &spawner{requests: make(chan func()), stopped: make(chan struct{})}
	go k.run()
	return k
}

func (k *spawner) run() {
	// The thread is never unlocked: it ends with this goroutine, and the remaining jails end with the thread.
	runtime.LockOSThread()
	defer close(k.stopped)
	if _, err := unix.KeyctlJoinSessionKeyring(""); err == nil {
		_, _ = unix.KeyctlInt(unix.KEYCTL_REVOKE, unix.KEY_SPEC_SESSION_KEYRING, 0, 0, 0)
	}
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, lateSlack, 0, 0, 0) // jails inherit this setting too
	for request := range k.requests {
		request()
	}
}

func (k *spawner) close() {
	k.stop.Do(func() { close(k.requests) })
	<-k.stopped
}

// start runs the server's binary as process 1 of new namespaces.
func (k *spawner) start(exe *os.File, role string, who identity, frames, stderr *os.File) (*os.Process, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	// The child process of os.StartProcess puts temporary descriptors after the last one in Files, and would overwrite the
	// descriptor of the binary. So the connection has a higher number than the binary.
	beyond, err := unix.FcntlInt(frames.Fd(), unix.F_DUPFD_CLOEXEC, int(exe.Fd())+1)
	if err != nil {
		return nil, fmt.Errorf("duplicate the connection: %w", err)
	}
	frames = os.NewFile(uintptr(beyond), "frames")
	defer frames.Close()
	attr := &os.ProcAttr{
		Dir:   "/",
		Env:   []string{}, // empty and not nil, because nil would pass the server's environment
		Files: []*os.File{null, null, stderr, frames},
		Sys:   attributes(who),
	}
	type started struct {
		process *os.Process
		err     error
	}
	answer := make(chan started, 1)
	k.requests <- func() {
		// The path of the descriptor works for every user, even without access to the binary's directory. If the binary is
		// replaced, the path still refers to the old file.
		process, err := os.StartProcess(fmt.Sprintf("/proc/self/fd/%d", exe.Fd()), []string{"atelier", wire.Argument, role}, attr)
		answer <- started{process, err}
	}
	got := <-answer
	return got.process, got.err
}

// hostID is the user and group of a jail on the host.
type hostID struct {
	uid, gid int
	pooled   bool // true if the user is from the pool of ids, which exists only if the server is root
}

// identity is the user of process 1, and the host users that its user namespace maps. The namespace maps one user. For
// a launcher of a server that is root, it maps every user of the pool.
type identity struct {
	hostID
	first    hostID // mapped to wire.InsideID in the jail
	users    int
	launcher bool
	network  bool // only for a launcher, which sets up networks
}

func (i identity) inside() int { return wire.InsideID + i.uid - i.first.uid }

// attributes returns the namespaces, users and capabilities with which process 1 starts. Process 1 drops the
// capabilities before it executes its role. It creates its cgroup namespace itself, after the server has moved it into
// its groups.
func attributes(who identity) *syscall.SysProcAttr {
	capabilities := []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP}
	if who.launcher { // capabilities to start children, and to manage files that other users of the namespace own
		capabilities = append(capabilities, unix.CAP_SETUID, unix.CAP_SETGID, unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_KILL, unix.CAP_SYS_RESOURCE)
	}
	if who.network {
		capabilities = append(capabilities, unix.CAP_NET_ADMIN)
	}
	inside := uint32(who.inside())
	return &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: wire.InsideID, HostID: who.first.uid, Size: who.users}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: wire.InsideID, HostID: who.first.gid, Size: who.users}},
		// Only root may drop the groups of the server. For an ordinary user the kernel forbids setgroups here.
		GidMappingsEnableSetgroups: who.pooled,
		Credential:                 &syscall.Credential{Uid: inside, Gid: inside, NoSetGroups: !who.pooled},
		AmbientCaps:                capabilities,
		Pdeathsig:                  syscall.SIGKILL,
		Setsid:                     true,
	}
}
