package program

import (
	"errors"
	"fmt"
	"os"
	"path"
	"runtime"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// child is a started program with our ends of its pipes, none of which blocks.
type child struct {
	pid            int
	stdout, stderr int
	channel        *channel
	death          *death
}

// start starts the program. root holds the file that becomes its stdin, nil means an empty one.
func start(job Job, root *os.Root) (*child, error) {
	if len(job.Argv) == 0 || !path.IsAbs(job.Argv[0]) {
		return nil, errors.New("start program: no absolute path")
	}
	var theirs, ours descriptors
	defer theirs.close()

	if err := theirs.stdin(job.Stdin, root); err != nil {
		return nil, err
	}
	for range 2 {
		if err := pipe(&ours, &theirs); err != nil {
			return nil, err
		}
	}
	if err := socketpair(&ours, &theirs); err != nil {
		return nil, err
	}
	if job.Mutex {
		if err := theirs.mutex(); err != nil {
			return nil, err
		}
	}
	files := make([]uintptr, len(theirs))
	for i, fd := range theirs {
		files[i] = uintptr(fd)
	}
	attr := &syscall.ProcAttr{Env: job.Env, Files: files, Sys: &syscall.SysProcAttr{Setsid: true}}
	death := new(death)
	pid, err := death.parent(func() (int, error) { return syscall.ForkExec(job.Argv[0], job.Argv, attr) })
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", job.Argv[0], err)
	}
	// When memory runs out the program has to go, not the process that reports it. Where /proc cannot be written the
	// kernel decides by size, which is nearly as good.
	_ = os.WriteFile("/proc/"+strconv.Itoa(pid)+"/oom_score_adj", []byte("1000"), 0)
	return &child{pid: pid, stdout: ours[0], stderr: ours[1], channel: &channel{fd: ours[2]}, death: death}, nil
}

// limit applies the rlimits, soft and hard alike. The program was started microseconds ago, or waits for its Hello.
func (c *child) limit(limits Rlimits) error {
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

// death is the end of the program and of everything that it started.
type death struct {
	fd     int // readable when nothing is left
	joined sync.WaitGroup
	status syscall.WaitStatus
}

func (d *death) wait() syscall.WaitStatus {
	d.joined.Wait()
	return d.status
}

// parent starts the program and then collects every dead process, its own and the orphans that become its own. When the
// program ends it kills the rest: nothing outlives its parent, and no pipe stays open.
//
// One thread does all that. Landlock's domains belong to threads, and a thread may not signal what was born in the
// domain of another: a kill from elsewhere in this process fails without a sound.
func (d *death) parent(begin func() (int, error)) (pid int, err error) {
	var fds [2]int
	if err := syscall.Pipe2(fds[:], syscall.O_CLOEXEC); err != nil {
		return 0, err
	}
	d.fd = fds[0]
	begun := make(chan struct{})
	d.joined.Go(func() {
		defer syscall.Close(fds[1])
		runtime.LockOSThread() // for good: the thread ends with the goroutine
		pid, err = begin()
		close(begun)
		if err == nil {
			d.reap(pid)
		}
	})
	<-begun
	return pid, err
}

func (d *death) reap(program int) {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WALL, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil: // ECHILD: everything is dead
			return
		case pid == program:
			d.status = status
			_ = syscall.Kill(-1, syscall.SIGKILL)
		}
	}
}

// descriptors are file descriptors of one side, in the order of their numbers in the program.
type descriptors []int

func (d *descriptors) add(fd int) { *d = append(*d, fd) }

func (d *descriptors) close() {
	for _, fd := range *d {
		_ = syscall.Close(fd)
	}
}

// stdin adds the program's descriptor 0.
func (d *descriptors) stdin(name string, root *os.Root) error {
	if name == "" || root == nil {
		var fds [2]int
		if err := syscall.Pipe2(fds[:], syscall.O_CLOEXEC); err != nil {
			return err
		}
		d.add(fds[0])
		return syscall.Close(fds[1])
	}
	file, err := root.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	fd, err := unix.FcntlInt(file.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return err
	}
	d.add(fd)
	return nil
}

// mutex adds the two ends of a pipe that holds one byte: whoever reads it has the lock, and writes it back.
func (d *descriptors) mutex() error {
	var fds [2]int
	if err := syscall.Pipe2(fds[:], syscall.O_CLOEXEC); err != nil {
		return err
	}
	d.add(fds[0])
	d.add(fds[1])
	_, err := syscall.Write(fds[1], []byte{'x'})
	return err
}

func pipe(ours, theirs *descriptors) error {
	var fds [2]int
	if err := syscall.Pipe2(fds[:], syscall.O_CLOEXEC); err != nil {
		return err
	}
	ours.add(fds[0])
	theirs.add(fds[1])
	return syscall.SetNonblock(fds[0], true)
}

func socketpair(ours, theirs *descriptors) error {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	ours.add(fds[0])
	theirs.add(fds[1])
	return syscall.SetNonblock(fds[0], true)
}
