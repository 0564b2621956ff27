package sandbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path"
	"runtime"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Cell is a jail of a starter, seen from the starter: a child in namespaces of its own that has set everything up and
// either waits to become a program, or is a fork of an interpreter that waits for its job. Each serves one program.
type Cell struct {
	conn   net.Conn
	user   int
	own    bool // the user is not that of the starter
	forked bool
	disk   int
	work   *os.Root

	stdout, stderr, channel int // our ends, which do not block
	sync                    *os.File
	script                  *script // nil when forked; the child reads it until it is the program

	network int // listens at ProxyAddress in the cell's namespace, -1 without one

	pid    int
	pidfd  int
	mounts int // a handle on its mount namespace, -1 where the kernel gives none
	end    *end
	once   sync.Once
}

// Work is the work directory. What is in it belongs to the program, and may be anything.
func (c *Cell) Work() *os.Root { return c.work }

// Forked says that the program is there already, and waits for its job on its descriptor 3.
func (c *Cell) Forked() bool { return c.forked }

// Stdout, Stderr and Channel are our ends of the program's descriptors 1, 2 and 3. None of them blocks.
func (c *Cell) Stdout() int { return c.stdout }

// Stderr is described at Stdout.
func (c *Cell) Stderr() int { return c.stderr }

// Channel is described at Stdout.
func (c *Cell) Channel() int { return c.channel }

// Ended is a descriptor that is readable when the program is dead, and with it everything that it started.
func (c *Cell) Ended() int { return c.pidfd }

// Dead is closed when the program is dead, and with it everything that it started.
func (c *Cell) Dead() <-chan struct{} { return c.end.dead }

// Status waits for the end and says how the program ended.
func (c *Cell) Status() syscall.WaitStatus {
	<-c.end.dead
	return c.end.status
}

// Kill ends the program and everything that it started.
func (c *Cell) Kill() { _ = unix.PidfdSendSignal(c.pidfd, unix.SIGKILL, nil, 0) }

// Begin makes the child the program. stdin is a file beneath the work directory, "" leaves stdin empty.
func (c *Cell) Begin(program Command, stdin string) error {
	if len(program.Argv) == 0 || !path.IsAbs(program.Argv[0]) {
		return errNoProgram
	}
	if stdin == "" {
		stdin = os.DevNull
	} else {
		stdin = WorkDir + "/" + stdin
	}
	c.script.become(program, stdin)
	if _, err := c.sync.Write([]byte{saysReady}); err != nil {
		return fmt.Errorf("start %s: %w", program.Argv[0], err)
	}
	switch err := c.listen(nil); {
	case errors.Is(err, io.EOF): // it is the program, or it was killed
		return c.sync.Close()
	default:
		return fmt.Errorf("start %s: %w", program.Argv[0], err)
	}
}

// listen reads what the child says on its way: that it is ready, or what failed.
func (c *Cell) listen(way []step) error {
	said := make([]byte, unsafe.Sizeof(failure{}))
	if _, err := io.ReadFull(c.sync, said[:1]); err != nil {
		return err
	}
	if said[0] == saysReady {
		return nil
	}
	if _, err := io.ReadFull(c.sync, said[1:]); err != nil {
		return io.ErrUnexpectedEOF // and not the end that says that the child is the program
	}
	number := binary.NativeEndian.Uint64
	return failedAt(way, failure{at: number(said[8:]), value: int64(number(said[16:]))})
}

// Give makes a file or directory in the work directory the program's.
func (c *Cell) Give(name string) error {
	if !c.own {
		return nil
	}
	return c.work.Lchown(name, c.user, c.user)
}

// Full says whether the disk has no room left, for bytes or for files.
func (c *Cell) Full() bool {
	var stat unix.Statfs_t
	return unix.Fstatfs(c.disk, &stat) == nil && (stat.Bavail == 0 || stat.Files > 0 && stat.Ffree == 0)
}

// Rlimits bound each process of a program. 0 leaves the jail's own limit.
type Rlimits struct {
	FileBytes uint64 `json:"fileBytes,omitempty"`
	OpenFiles uint64 `json:"openFiles,omitempty"`
	Processes uint64 `json:"processes,omitempty"` // of the user of the cell
	Stack     uint64 `json:"stack,omitempty"`
}

// sharedTasks is room for the processes of other cells, where all have one user. The watch counts those of each.
const sharedTasks = 128

// Limit applies them, soft and hard alike, before the program begins.
func (c *Cell) Limit(limits Rlimits) error {
	select {
	case <-c.end.dead: // its number may be another's
		return nil
	default:
	}
	if !c.own && limits.Processes > 0 { // the kernel counts what other cells and the starter have as well
		limits.Processes += sharedTasks
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
			return nil // it ended already
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

// close ends the cell and waits until nothing is left of it.
func (c *Cell) close() (status syscall.WaitStatus) {
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
		runtime.KeepAlive(c.script)
		_ = c.conn.Close()
		if c.mounts >= 0 {
			_ = unix.Close(c.mounts)
		}
	})
	return status
}

// hold keeps the mount namespace until the cell is closed. The kernel waits for all processors before it lets go of a
// mount, and the last process of a namespace does that before it is dead: who waits for its end would wait for that, too.
// Before Linux 6.11 there is no such handle.
func (c *Cell) hold() {
	if handle, err := unix.IoctlRetInt(c.pidfd, unix.PIDFD_GET_MNT_NAMESPACE); err == nil {
		c.mounts = handle
	}
}

// furnish makes the private disk of the cell: one file system with three parts.
func (c *Cell) furnish(bytes int64) error {
	fs, err := unix.Fsopen("tmpfs", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return err
	}
	defer unix.Close(fs)
	for key, value := range map[string]string{
		"size": fmt.Sprint(bytes), "nr_inodes": fmt.Sprint(max(minInodes, bytes/inodeSize)), "mode": "0700",
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

// enter opens the work directory. There is no way to it but by the current directory where the host allows no /proc, and
// that is the whole process's: one cell after the other.
func (c *Cell) enter(one sync.Locker) (err error) {
	one.Lock()
	defer one.Unlock()
	if err := unix.Fchdir(c.disk); err != nil {
		return err
	}
	c.work, err = os.OpenRoot(diskWork[1:])
	return errors.Join(err, unix.Chdir("/"))
}

// The parts of a disk, from its root on.
const (
	diskWork   = "/work"
	diskTemp   = "/tmp"
	diskShared = "/shm"
)

func diskParts() []string { return []string{diskWork, diskTemp, diskShared} }

// common are the paths that the rules of all cells of a starter allow, open.
type common map[int]uint64

func openCommon(config setup) (common, error) {
	open := common{}
	for path, access := range readOnly(config) {
		fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
		if err != nil {
			return nil, fmt.Errorf("open %s: %w", path, err)
		}
		open[fd] = access
	}
	return open, nil
}

// rules makes the landlock rules of the cell, but for /proc, which only the child can see.
func (c *Cell) rules(config setup, shared common) (int, error) {
	attr := rulesFor(config)
	rules, err := newRules(attr)
	if err != nil {
		return -1, err
	}
	for fd, access := range shared {
		if err := allowBeneath(rules, fd, access&attr.Handled_access_fs); err != nil {
			return -1, errors.Join(fmt.Errorf("allow what all may read: %w", err), unix.Close(rules))
		}
	}
	for _, part := range diskParts() {
		fd, err := unix.Openat(c.disk, part[1:], unix.O_PATH|unix.O_CLOEXEC, 0)
		if err == nil {
			err = errors.Join(allowBeneath(rules, fd, diskAccess&attr.Handled_access_fs), unix.Close(fd))
		}
		if err != nil {
			return -1, errors.Join(fmt.Errorf("allow %s: %w", part, err), unix.Close(rules))
		}
	}
	return rules, nil
}
