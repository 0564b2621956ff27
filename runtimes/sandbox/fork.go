package sandbox

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// launch is everything that a forked copy of this process does until it becomes a program: system calls whose arguments
// were laid out before, since there is no Go runtime in a forked child that could do more.
type launch struct {
	calls []call
	sync  int // where it says what failed, until that is syncFD
	moved int // the call after which it is
	block *block
}

// call is one system call. Anything but success ends the child.
type call struct {
	trap uintptr
	args [6]uintptr
}

// block is memory that the child shares with us: it says which program to become, and is written after the fork.
type block struct {
	memory []byte
	used   int
}

// blockHeader is the beginning of a block: addresses of what execve wants, and of the file that becomes stdin, 0 for none.
type blockHeader struct {
	path, argv, env, stdin uintptr
}

// blockSize is more than the kernel takes in execve with the stack that programs have.
const blockSize = 4 << 20

func newBlock() (*block, error) {
	memory, err := unix.Mmap(-1, 0, blockSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("share memory with the program: %w", err)
	}
	return &block{memory: memory, used: int(unsafe.Sizeof(blockHeader{}))}, nil
}

func (b *block) header() *blockHeader { return (*blockHeader)(unsafe.Pointer(&b.memory[0])) }

func (b *block) close() error { return unix.Munmap(b.memory) }

var errTooLong = errors.New("arguments and environment are too long")

// put copies a text with its final zero and answers its address.
func (b *block) put(text string) (uintptr, error) {
	if len(text)+1 > len(b.memory)-b.used {
		return 0, errTooLong
	}
	at := b.used
	b.used += copy(b.memory[at:], text) + 1
	return uintptr(unsafe.Pointer(&b.memory[at])), nil
}

// list copies texts and then their addresses, with a final 0.
func (b *block) list(texts []string) (uintptr, error) {
	addresses := make([]uintptr, 0, len(texts)+1)
	for _, text := range texts {
		at, err := b.put(text)
		if err != nil {
			return 0, err
		}
		addresses = append(addresses, at)
	}
	addresses = append(addresses, 0)
	const word = int(unsafe.Sizeof(uintptr(0)))
	b.used = (b.used + word - 1) / word * word
	if len(addresses)*word > len(b.memory)-b.used {
		return 0, errTooLong
	}
	at := b.used
	copy(unsafe.Slice((*uintptr)(unsafe.Pointer(&b.memory[at])), len(addresses)), addresses)
	b.used += len(addresses) * word
	return uintptr(unsafe.Pointer(&b.memory[at])), nil
}

// become says what the child is to be. It reads that once it is released.
func (b *block) become(c Command, stdin string) (err error) {
	h := b.header()
	if h.path, err = b.put(c.Argv[0]); err != nil {
		return err
	}
	if h.argv, err = b.list(c.Argv); err != nil {
		return err
	}
	if h.env, err = b.list(c.Env); err != nil {
		return err
	}
	if stdin != "" {
		h.stdin, err = b.put(stdin)
	}
	return err
}

// fork starts a child in a new process namespace. pidfd is a handle on it that is readable when it, and with it
// everything in its namespace, is dead.
func (l *launch) fork() (pid, pidfd int, err error) {
	child, handle, errno := forkChild(l.calls, l.block.header(), uintptr(l.sync), l.moved)
	runtime.KeepAlive(l)
	if errno != 0 {
		return 0, 0, fmt.Errorf("fork: %w", os.NewSyscallError("clone", errno))
	}
	return child, handle, nil
}

// What the child says on syncFD, a byte and for failures two numbers of 4 bytes: which call, and why.
const (
	saysReady  = 'R'
	saysFailed = 'F'
	noExec     = -1
	noStdin    = -2
)

// forkChild forks. In the child, which is a copy of the calling thread alone, nothing may allocate, grow the stack or
// lock: it makes the calls, waits for one byte, and becomes the program. The parent goes on at once.
//
//go:noinline
//go:norace
//go:nocheckptr
func forkChild(calls []call, h *blockHeader, says uintptr, moved int) (pid, pidfd int, errno syscall.Errno) {
	var (
		handle  int32 = -1
		failure [3]int32
		word    [1]byte
		r       uintptr
		failed  syscall.Errno
	)
	flags := uintptr(unix.CLONE_NEWPID | unix.CLONE_PIDFD | uintptr(syscall.SIGCHLD))
	syscall.ForkLock.Lock()
	beforeFork()
	// On both machines the second argument is the stack, 0 for a copy of ours, and the third where the handle goes.
	r, _, errno = syscall.RawSyscall6(unix.SYS_CLONE, flags, 0, uintptr(unsafe.Pointer(&handle)), 0, 0, 0)
	if errno != 0 || r != 0 {
		afterFork()
		syscall.ForkLock.Unlock()
		return int(r), int(handle), errno
	}

	// The child.
	afterForkInChild()
	for i := range calls {
		c := &calls[i]
		if _, _, failed = syscall.RawSyscall6(c.trap, c.args[0], c.args[1], c.args[2], c.args[3], c.args[4], c.args[5]); failed != 0 {
			failure[1] = int32(i)
			goto fail
		}
		if i == moved {
			says = syncFD
		}
	}
	word[0] = saysReady
	syscall.RawSyscall(unix.SYS_WRITE, syncFD, uintptr(unsafe.Pointer(&word)), 1)
	for {
		r, _, failed = syscall.RawSyscall(unix.SYS_READ, syncFD, uintptr(unsafe.Pointer(&word)), 1)
		if failed != syscall.EINTR {
			break
		}
	}
	if failed != 0 || r != 1 {
		goto leave // nobody wants us any more
	}
	if h.stdin != 0 {
		r, _, failed = syscall.RawSyscall6(unix.SYS_OPENAT, atCWD, h.stdin, unix.O_RDONLY|unix.O_CLOEXEC, 0, 0, 0)
		if failed == 0 {
			_, _, failed = syscall.RawSyscall(unix.SYS_DUP3, r, 0, 0)
		}
		if failed != 0 {
			failure[1] = noStdin
			goto fail
		}
	}
	_, _, failed = syscall.RawSyscall(unix.SYS_EXECVE, h.path, h.argv, h.env)
	failure[1] = noExec

fail:
	failure[0] = saysFailed
	failure[2] = int32(failed)
	syscall.RawSyscall(unix.SYS_WRITE, says, uintptr(unsafe.Pointer(&failure)), unsafe.Sizeof(failure))
leave:
	for {
		syscall.RawSyscall(unix.SYS_EXIT_GROUP, exitSetup, 0, 0)
	}
}

// atCWD is unix.AT_FDCWD as the kernel takes it.
const atCWD = ^uintptr(99)

// These are what the standard library itself does around a fork.

//go:linkname beforeFork syscall.runtime_BeforeFork
func beforeFork()

//go:linkname afterFork syscall.runtime_AfterFork
func afterFork()

//go:linkname afterForkInChild syscall.runtime_AfterForkInChild
func afterForkInChild()
