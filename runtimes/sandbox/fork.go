package sandbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe" // also for linkname

	"golang.org/x/sys/unix"
)

// syscallProgram is everything that a child of this process does until it is a program: a table of system calls. The child shares
// our memory until then, which makes it cheap to start: what copies a process spends most of its time on its memory. So it
// must not run a line of Go. What it runs is child in fork_*.s, which reads the table and nothing else.
type syscallProgram struct {
	calls   []call
	failure failure
	kept    [][]byte // what calls point to
	path    []byte   // where the path of the program has to be; nil for anywhere
}

// call is one system call, as the child reads it: 9 words.
type call struct {
	trap  uintptr
	args  [6]uintptr
	says  uintptr // the descriptor where it says that this call failed
	least uintptr // the smallest result that is not a failure
}

// failure is what the child says then.
type failure struct {
	mark  uint64 // reportFailed
	at    uint64 // bytes from the first call
	value int64  // negative error number, or what the call answered
}

const (
	reportReady  = 'R'
	reportFailed = 'F'
	callSize     = unsafe.Sizeof(call{})
)

// Where the last calls of a script are, from its end: they become the program.
const (
	callRead  = iota - 6 // waits until we say what the program is
	callClear            // gives the next one a known number
	callOpen             // of stdin
	callStdin
	callSignals // all are blocked until here, and have no handlers any more
	callExec
)

// newSyscallProgram makes the table of a child that goes the way of these calls, says that it is ready, waits, and becomes what
// become says.
func newSyscallProgram(sequence []call) *syscallProgram {
	s := &syscallProgram{failure: failure{mark: reportFailed}}
	ready, word, none := []byte{reportReady}, make([]byte, 8), make([]byte, 8)
	untouched := make([]byte, 32) // a struct sigaction: what the kernel does by itself
	s.kept = append(s.kept, ready, word, none, untouched)
	s.calls = append(s.calls, sequence...)
	// The handlers of the launcher are Go. A signal that waits until they are unblocked must not find one.
	for number := syscall.Signal(1); number <= 64; number++ {
		if number != syscall.SIGKILL && number != syscall.SIGSTOP {
			s.calls = append(s.calls, call{trap: unix.SYS_RT_SIGACTION, args: [6]uintptr{uintptr(number), address(untouched), 0, 8}})
		}
	}
	s.calls = append(s.calls,
		call{trap: unix.SYS_WRITE, args: [6]uintptr{syncFD, address(ready), 1}},
		call{trap: unix.SYS_READ, args: [6]uintptr{syncFD, address(word), 1}, least: 1},
		call{trap: unix.SYS_CLOSE_RANGE, args: [6]uintptr{procFD, ^uintptr(0)}},
		call{trap: unix.SYS_OPENAT, args: [6]uintptr{atCWD, 0, unix.O_RDONLY | unix.O_CLOEXEC}},
		call{trap: unix.SYS_DUP3, args: [6]uintptr{procFD, stdinFD}},
		call{trap: unix.SYS_RT_SIGPROCMASK, args: [6]uintptr{2, address(none), 0, 8}}, // SIG_SETMASK
		call{trap: unix.SYS_EXECVE},
	)
	for i := len(sequence); i < len(s.calls); i++ {
		s.calls[i].says = syncFD
	}
	return s
}

// become says what the child is to be. It reads that once it is released.
func (s *syscallProgram) become(program Command, stdin string) {
	last := len(s.calls)
	exec := &s.calls[last+callExec].args
	if s.path == nil {
		exec[0] = s.text(program.Argv[0])
	} else {
		copy(s.path, append([]byte(program.Argv[0]), 0))
		exec[0] = address(s.path)
	}
	exec[1], exec[2] = s.list(program.Argv), s.list(program.Env)
	s.calls[last+callOpen].args[1] = s.text(stdin)
}

func (s *syscallProgram) text(text string) uintptr {
	memory := append([]byte(text), 0)
	s.kept = append(s.kept, memory)
	return address(memory)
}

// list answers the address of the texts' addresses, with a final 0.
func (s *syscallProgram) list(texts []string) uintptr {
	memory := make([]byte, 0, 8*(len(texts)+1))
	for _, text := range texts {
		memory = binary.NativeEndian.AppendUint64(memory, uint64(s.text(text)))
	}
	memory = binary.NativeEndian.AppendUint64(memory, 0)
	s.kept = append(s.kept, memory)
	return address(memory)
}

// address is where memory is, which stays there as long as somebody holds it: Go moves stacks, but no heap.
func address(memory []byte) uintptr { return uintptr(unsafe.Pointer(&memory[0])) }

// failedAt turns what a child said of its failure into words. Behind the way are only the calls that become the program.
func failedAt(sequence []step, reported failure) error {
	at := int(reported.at / uint64(callSize))
	name := "become the program"
	if at < len(sequence) {
		name = sequence[at].name
	}
	if reported.value >= 0 {
		return fmt.Errorf("%s: nothing came", name)
	}
	return fmt.Errorf("%s: %w", name, syscall.Errno(-reported.value))
}

// start starts the child in a new process namespace. pidfd is a handle on it that is readable when it, and with it
// everything in its namespace, is dead. The script must be held until then.
func (s *syscallProgram) start() (pid, pidfd int, err error) {
	handle := new(int32)
	*handle = -1
	flags := unix.CLONE_VM | unix.CLONE_NEWPID | unix.CLONE_PIDFD | uintptr(syscall.SIGCHLD)
	// Signals stay blocked in the child until it is the program: handlers are Go.
	beforeFork()
	result := startChild(flags, handle, &s.calls[0], &s.failure)
	afterFork()
	runtime.KeepAlive(s)
	if result < 0 {
		return 0, 0, fmt.Errorf("fork: %w", os.NewSyscallError("clone", syscall.Errno(-result)))
	}
	return result, int(*handle), nil
}

// startChild starts a child that makes the calls, one after the other, and answers its number, or a negative error number.
//
//go:noescape
func startChild(flags uintptr, handle *int32, first *call, says *failure) int

// atCWD is unix.AT_FDCWD as the kernel takes it.
const atCWD = ^uintptr(99)

// These are what the standard library itself does around a fork.

//go:linkname beforeFork syscall.runtime_BeforeFork
func beforeFork()

//go:linkname afterFork syscall.runtime_AfterFork
func afterFork()

var errNoProgram = errors.New("start program: no absolute path")
