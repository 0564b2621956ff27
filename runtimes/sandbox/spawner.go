package sandbox

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// spawner is the one thread that starts jails. The kernel kills a jail when the thread that started it ends (Pdeathsig),
// so that thread must live as long as the server, which Go promises only for a locked one. Jails also inherit its
// session keyring: keyrings are in no namespace, so it has an own one that is revoked and holds nothing for anybody.
type spawner struct {
	requests chan func()
	stop     sync.Once
	stopped  chan struct{}
}

// How late threads may wake, in nanoseconds: those of a program as Linux has it, ours as a server's watching thread (see
// internal/gctuning). Processes 1 of jails are Go as well, and what their watching threads took was a twelfth of a Python run.
const (
	usualSlack = 50_000
	lateSlack  = 1_000_000
)

func newSpawner() *spawner {
	k := &spawner{requests: make(chan func()), stopped: make(chan struct{})}
	go k.run()
	return k
}

func (k *spawner) run() {
	runtime.LockOSThread() // and never unlock: the thread ends with this goroutine, and jails that still run with it
	defer close(k.stopped)
	if _, err := unix.KeyctlJoinSessionKeyring(""); err == nil {
		_, _ = unix.KeyctlInt(unix.KEYCTL_REVOKE, unix.KEY_SPEC_SESSION_KEYRING, 0, 0, 0)
	}
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, lateSlack, 0, 0, 0) // jails inherit that as well
	for request := range k.requests {
		request()
	}
}

func (k *spawner) close() {
	k.stop.Do(func() { close(k.requests) })
	<-k.stopped
}

// start runs our binary as process 1 of new namespaces.
func (k *spawner) start(exe *os.File, role string, who identity, frames, stderr *os.File) (*os.Process, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	// Go's child puts descriptors of its own behind the last of Files, and would put them over that of the binary.
	beyond, err := unix.FcntlInt(frames.Fd(), unix.F_DUPFD_CLOEXEC, int(exe.Fd())+1)
	if err != nil {
		return nil, fmt.Errorf("duplicate the connection: %w", err)
	}
	frames = os.NewFile(uintptr(beyond), "frames")
	defer frames.Close()
	attr := &os.ProcAttr{
		Dir:   "/",
		Env:   []string{}, // nil would be ours
		Files: []*os.File{null, null, stderr, frames},
		Sys:   attributes(who),
	}
	type started struct {
		process *os.Process
		err     error
	}
	answer := make(chan started, 1)
	k.requests <- func() {
		// The path of the descriptor works for every user, whoever may enter the directory of the binary, and stays the
		// same file when the binary is replaced.
		process, err := os.StartProcess(fmt.Sprintf("/proc/self/fd/%d", exe.Fd()), []string{"atelier", argument, role}, attr)
		answer <- started{process, err}
	}
	got := <-answer
	return got.process, got.err
}

// hostID is who a jail is on the host.
type hostID struct {
	uid, gid int
	pooled   bool // of the pool of ids, which only root has
}

// identity is who process 1 is, and which users of the host its namespace knows: one, or for a launcher as root all that
// its children may be.
type identity struct {
	hostID
	first    hostID // appears as insideID
	users    int
	launcher bool
	network  bool // of a launcher: it sets up networks
}

func (i identity) inside() int { return insideID + i.uid - i.first.uid }

// attributes: new namespaces, the users in them, and the capabilities to set them up. Process 1 gives them up before its
// role serves. The namespace of control groups it makes itself, once it is in its groups.
func attributes(who identity) *syscall.SysProcAttr {
	capabilities := []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP}
	if who.launcher { // to make children, and to look after what other users of the namespace left there
		capabilities = append(capabilities, unix.CAP_SETUID, unix.CAP_SETGID, unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_KILL, unix.CAP_SYS_RESOURCE)
	}
	if who.network {
		capabilities = append(capabilities, unix.CAP_NET_ADMIN)
	}
	inside := uint32(who.inside())
	return &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: insideID, HostID: who.first.uid, Size: who.users}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: insideID, HostID: who.first.gid, Size: who.users}},
		// Only root may drop the groups of the server; for an ordinary user the kernel forbids setgroups here.
		GidMappingsEnableSetgroups: who.pooled,
		Credential:                 &syscall.Credential{Uid: inside, Gid: inside, NoSetGroups: !who.pooled},
		AmbientCaps:                capabilities,
		Pdeathsig:                  syscall.SIGKILL,
		Setsid:                     true,
	}
}
