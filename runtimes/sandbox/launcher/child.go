package launcher

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/runtimes/sandbox/child"
	"github.com/atelier-run/atelier/runtimes/sandbox/wire"
)

// Child is the launcher's handle for one child whose set-up is complete. The child either waits to execute a program, or
// is a fork of an interpreter that waits for its job. Each child serves one program.
type Child struct {
	conn    net.Conn
	user    int
	own     bool // true if the child's user differs from the launcher's
	counted bool // true if a control group counts the child's memory
	forked  bool
	disk    int
	work    *os.Root

	stdout, stderr, channel int // the launcher's ends of the pipes and of the channel, which do not block
	sync                    *os.File
	// Nil for a fork; otherwise the child reads it until it executes the program.
	syscallProgram *child.SyscallProgram

	leave   func() // returns the child's network namespace to the pool; nil if the namespace is not from the pool
	network int    // listening socket at ProxyAddress in the child's namespace, -1 if there is none

	pid    int
	pidfd  int
	mounts int // descriptor of the child's mount namespace, -1 if the kernel does not support it
	end    *end
	once   sync.Once
}

// Work returns the child's work directory. The program controls the contents of the directory, so they cannot be
// trusted.
func (c *Child) Work() *os.Root { return c.work }

// Forked reports whether the program already runs and waits for its job on its descriptor 3.
func (c *Child) Forked() bool { return c.forked }

// Stdout, Stderr and Channel return the launcher's ends of the program's descriptors 1, 2 and 3. None of them blocks.
func (c *Child) Stdout() int { return c.stdout }

// Stderr returns the launcher's end of the program's descriptor 2. See Stdout.
func (c *Child) Stderr() int { return c.stderr }

// Channel returns the launcher's end of the program's descriptor 3. See Stdout.
func (c *Child) Channel() int { return c.channel }

// Ended returns a descriptor that becomes readable when the program and every process it started are dead.
func (c *Child) Ended() int { return c.pidfd }

// Dead returns a channel that is closed when the program and every process it started are dead.
func (c *Child) Dead() <-chan struct{} { return c.end.dead }

// Status waits for the end of the program and returns its wait status.
func (c *Child) Status() syscall.WaitStatus {
	<-c.end.dead
	return c.end.status
}

// Kill kills the program and every process it started.
func (c *Child) Kill() { _ = unix.PidfdSendSignal(c.pidfd, unix.SIGKILL, nil, 0) }

// Begin makes the child execute the program. stdin is a file in the work directory; "" leaves stdin empty.
func (c *Child) Begin(program wire.Command, stdin string) error {
	if len(program.Argv) == 0 || !path.IsAbs(program.Argv[0]) {
		return child.ErrNoProgram
	}
	if stdin == "" {
		stdin = os.DevNull
	} else {
		stdin = wire.WorkDir + "/" + stdin
	}
	c.syscallProgram.Become(program, stdin)
	if _, err := c.sync.Write([]byte{child.ReportReady}); err != nil {
		return fmt.Errorf("start %s: %w", program.Argv[0], err)
	}
	switch err := child.ReadReport(c.sync, nil); {
	case errors.Is(err, io.EOF): // the child executed the program, or was killed
		return c.sync.Close()
	default:
		return fmt.Errorf("start %s: %w", program.Argv[0], err)
	}
}

// Chown makes the program's user the owner of a file or directory in the work directory.
func (c *Child) Chown(name string) error {
	if !c.own {
		return nil
	}
	return c.work.Lchown(name, c.user, c.user)
}

// Full reports whether the disk has no free bytes or no free inodes.
func (c *Child) Full() bool {
	var stat unix.Statfs_t
	return unix.Fstatfs(c.disk, &stat) == nil && (stat.Bavail == 0 || stat.Files > 0 && stat.Ffree == 0)
}

// Rlimits are the kernel limits of each process of a program. A value of 0 keeps the limit of the jail.
type Rlimits struct {
	FileBytes uint64 `json:"fileBytes,omitempty"`
	OpenFiles uint64 `json:"openFiles,omitempty"`
	// Sockets is the limit of open files if no control group counts the memory of sockets. 0 means OpenFiles.
	Sockets   uint64 `json:"sockets,omitempty"`
	Processes uint64 `json:"processes,omitempty"` // maximum number of processes of the child's user
	Stack     uint64 `json:"stack,omitempty"`
}

// sharedTasks is added to the process limit if all children have the same user. In that case the kernel counts the
// processes of all children together. The watch enforces the limit of each child.
const sharedTasks = 128

// Limit sets the soft and the hard limits before the program begins.
func (c *Child) Limit(limits Rlimits) error {
	select {
	case <-c.end.dead: // the process ID may have been reused
		return nil
	default:
	}
	if !c.own && limits.Processes > 0 { // the kernel also counts the processes of other children and of the launcher
		limits.Processes += sharedTasks
	}
	if !c.counted && limits.Sockets > 0 {
		limits.OpenFiles = limits.Sockets
	}
	for resource, value := range map[int]uint64{
		unix.RLIMIT_FSIZE:  limits.FileBytes,
		unix.RLIMIT_NOFILE: limits.OpenFiles,
		unix.RLIMIT_NPROC:  limits.Processes,
		unix.RLIMIT_STACK:  limits.Stack,
	} {
		if value == 0 {
			continue
		}
		var now unix.Rlimit
		if err := unix.Prlimit(c.pid, resource, nil, &now); errors.Is(err, unix.ESRCH) {
			return nil // the child has ended already
		} else if err != nil {
			return fmt.Errorf("read rlimit %d: %w", resource, err)
		}
		value = min(value, now.Max)
		if err := unix.Prlimit(c.pid, resource, &unix.Rlimit{Cur: value, Max: value}, nil); err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("set rlimit %d: %w", resource, err)
		}
	}
	return nil
}

// close kills the child, waits for its end and releases its resources.
func (c *Child) close() (status syscall.WaitStatus) {
	c.once.Do(func() {
		if c.end != nil {
			c.Kill()
			status = c.Status()
			_ = unix.Close(c.pidfd)
		}
		for _, fd := range []int{c.disk, c.stdout, c.stderr, c.channel, c.network} {
			if fd >= 0 {
				_ = unix.Close(fd)
			}
		}
		if c.work != nil {
			_ = c.work.Close()
		}
		if c.sync != nil {
			_ = c.sync.Close()
		}
		if c.leave != nil {
			c.leave()
		}
		runtime.KeepAlive(c.syscallProgram)
		_ = c.conn.Close()
		if c.mounts >= 0 {
			_ = unix.Close(c.mounts)
		}
	})
	return status
}

// hold opens a descriptor of the child's mount namespace, so that the namespace exists until the child is closed.
// Otherwise the last process of the child would release the mounts before the kernel reports its end. Releasing mounts
// is slow, because the kernel waits for all processors, and the end of the child would be reported late. Linux supports
// such descriptors since 6.11.
func (c *Child) hold() {
	if handle, err := unix.IoctlRetInt(c.pidfd, unix.PIDFD_GET_MNT_NAMESPACE); err == nil {
		c.mounts = handle
	}
}

// mountWorkDir creates the private disk of the child: one tmpfs with directories for work, temporary and shared files.
func (c *Child) mountWorkDir(bytes int64) error {
	fs, err := unix.Fsopen("tmpfs", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return err
	}
	defer unix.Close(fs)
	for key, value := range map[string]string{
		"size": fmt.Sprint(bytes), "nr_inodes": fmt.Sprint(max(wire.MinInodes, bytes/wire.InodeSize)), "mode": "0700",
	} {
		if err := unix.FsconfigSetString(fs, key, value); err != nil {
			return fmt.Errorf("%s=%s: %w", key, value, err)
		}
	}
	if err := unix.FsconfigCreate(fs); err != nil {
		return err
	}
	if c.disk, err = unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV); err != nil {
		return err
	}
	for _, part := range diskParts() {
		if err := unix.Mkdirat(c.disk, part[1:], 0o700); err != nil {
			return err
		}
		if c.own {
			if err := unix.Fchownat(c.disk, part[1:], c.user, c.user, unix.AT_SYMLINK_NOFOLLOW); err != nil {
				return err
			}
		}
	}
	return nil
}

// enter opens the work directory. It first changes the current directory to the work directory, because a path through
// /proc does not work on every host. The current directory belongs to the whole process, so enter holds the lock one
// meanwhile.
func (c *Child) enter(one sync.Locker) (err error) {
	one.Lock()
	defer one.Unlock()
	if err := unix.Fchdir(c.disk); err != nil {
		return err
	}
	c.work, err = os.OpenRoot(wire.DiskWork[1:])
	return errors.Join(err, unix.Chdir("/"))
}

func diskParts() []string { return []string{wire.DiskWork, wire.DiskTemp, wire.DiskShared} }

// common maps descriptors to access rights. It contains the paths that every child of a launcher may access.
type common map[int]uint64

func openCommon(config wire.Setup) (common, error) {
	open := common{}
	for path, access := range child.ReadOnly(config) {
		fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
		if err != nil {
			return nil, fmt.Errorf("open %s: %w", path, err)
		}
		open[fd] = access
	}
	return open, nil
}

// rules creates the landlock ruleset of the child. It adds no rule for /proc, because only the child itself sees its
// /proc.
func (c *Child) rules(config wire.Setup, shared common) (int, error) {
	attr := child.RulesFor(config)
	rules, err := child.NewRules(attr)
	if err != nil {
		return -1, err
	}
	for fd, access := range shared {
		if err := child.AllowBeneath(rules, fd, access&attr.Handled_access_fs); err != nil {
			return -1, errors.Join(fmt.Errorf("allow a path of every child: %w", err), unix.Close(rules))
		}
	}
	for _, part := range diskParts() {
		fd, err := unix.Openat(c.disk, part[1:], unix.O_PATH|unix.O_CLOEXEC, 0)
		if err == nil {
			err = errors.Join(child.AllowBeneath(rules, fd, child.Without(config, child.DiskAccess)&attr.Handled_access_fs), unix.Close(fd))
		}
		if err != nil {
			return -1, errors.Join(fmt.Errorf("allow %s: %w", part, err), unix.Close(rules))
		}
	}
	return rules, nil
}
