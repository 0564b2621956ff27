package child

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"syscall"
	"unsafe" // the package unsafe is also needed for linkname

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/runtimes/sandbox/wire"
)

// SyscallProgram is a table of the system calls that a child makes before it executes its program. The child shares the
// launcher's memory until then, because copying memory takes most of the time of a fork. So the child must not run any
// Go code. It runs startChild in fork_*.s, which reads only this table.
type SyscallProgram struct {
	calls   []call
	failure failure
	kept    [][]byte // references to the memory that calls point to, so that the garbage collector does not free it
	Path    []byte   // memory where the program's path must be stored, see MapPath; nil for any memory
}

// call is one system call in the layout that the child reads: 9 words.
type call struct {
	trap  uintptr
	args  [6]uintptr
	says  uintptr // descriptor to which the child reports a failure of this call
	least uintptr // smallest result that counts as success
}

// failure is the child's report of a failed call.
type failure struct {
	mark  uint64 // always reportFailed
	at    uint64 // offset of the failed call from the first call, in bytes
	value int64  // negative error number, or the result of the call
}

const (
	ReportReady  = 'R'
	ReportFailed = 'F'
	callSize     = unsafe.Sizeof(call{})
)

// Indexes of the last calls of a syscall program, relative to its end. These calls execute the program.
const (
	callRead  = iota - 6 // waits until Become has set the program
	callClear            // closes procFD and above, so that callOpen gets number procFD
	callOpen             // opens the file for stdin
	callStdin
	callSignals // unblocks all signals; no signal has a handler any more
	callExec
)

// NewSyscallProgram returns the table of a child. The child makes the calls of sequence, reports that it is ready, waits,
// and then executes the program that Become sets.
func NewSyscallProgram(sequence []call) *SyscallProgram {
	s := &SyscallProgram{failure: failure{mark: ReportFailed}}
	ready, word, none := []byte{ReportReady}, make([]byte, 8), make([]byte, 8)
	untouched := make([]byte, 32) // a struct sigaction with the default action of the kernel
	s.kept = append(s.kept, ready, word, none, untouched)
	s.calls = append(s.calls, sequence...)
	// The signal handlers of the launcher are Go code, which the child cannot run. So reset every signal to its default
	// action before signals are unblocked.
	for number := syscall.Signal(1); number <= 64; number++ {
		if number != syscall.SIGKILL && number != syscall.SIGSTOP {
			s.calls = append(s.calls, call{trap: unix.SYS_RT_SIGACTION, args: [6]uintptr{uintptr(number), address(untouched), 0, 8}})
		}
	}
	s.calls = append(s.calls,
		call{trap: unix.SYS_WRITE, args: [6]uintptr{wire.SyncFD, address(ready), 1}},
		call{trap: unix.SYS_READ, args: [6]uintptr{wire.SyncFD, address(word), 1}, least: 1},
		call{trap: unix.SYS_CLOSE_RANGE, args: [6]uintptr{wire.ProcFD, ^uintptr(0)}},
		call{trap: unix.SYS_OPENAT, args: [6]uintptr{atCWD, 0, unix.O_RDONLY | unix.O_CLOEXEC}},
		call{trap: unix.SYS_DUP3, args: [6]uintptr{wire.ProcFD, wire.StdinFD}},
		call{trap: unix.SYS_RT_SIGPROCMASK, args: [6]uintptr{2, address(none), 0, 8}}, // SIG_SETMASK
		call{trap: unix.SYS_EXECVE},
	)
	for i := len(sequence); i < len(s.calls); i++ {
		s.calls[i].says = wire.SyncFD
	}
	return s
}

// Become sets the program that the child executes. It must be called before the waiting child is released.
func (s *SyscallProgram) Become(program wire.Command, stdin string) {
	last := len(s.calls)
	exec := &s.calls[last+callExec].args
	if s.Path == nil {
		exec[0] = s.text(program.Argv[0])
	} else {
		copy(s.Path, append([]byte(program.Argv[0]), 0))
		exec[0] = address(s.Path)
	}
	exec[1], exec[2] = s.list(program.Argv), s.list(program.Env)
	s.calls[last+callOpen].args[1] = s.text(stdin)
}

func (s *SyscallProgram) text(text string) uintptr {
	memory := append([]byte(text), 0)
	s.kept = append(s.kept, memory)
	return address(memory)
}

// list stores the texts and a null-terminated array of their addresses (argv or envp). It returns the array's address.
func (s *SyscallProgram) list(texts []string) uintptr {
	memory := make([]byte, 0, 8*(len(texts)+1))
	for _, text := range texts {
		memory = binary.NativeEndian.AppendUint64(memory, uint64(s.text(text)))
	}
	memory = binary.NativeEndian.AppendUint64(memory, 0)
	s.kept = append(s.kept, memory)
	return address(memory)
}

// address returns the address of memory. The address stays valid as long as a reference to the memory exists, because Go
// does not move the heap.
func address(memory []byte) uintptr { return uintptr(unsafe.Pointer(&memory[0])) }

// ReadReport reads the child's report on its set-up. It returns nil if the child is ready, and an error that names the
// failed call otherwise. io.EOF means that the child executed its program or was killed.
func ReadReport(from io.Reader, sequence []Step) error {
	reported := make([]byte, unsafe.Sizeof(failure{}))
	if _, err := io.ReadFull(from, reported[:1]); err != nil {
		return err
	}
	if reported[0] == ReportReady {
		return nil
	}
	if _, err := io.ReadFull(from, reported[1:]); err != nil {
		return io.ErrUnexpectedEOF // not io.EOF, which would mean that the child executed its program
	}
	number := binary.NativeEndian.Uint64
	return failedAt(sequence, failure{at: number(reported[8:]), value: int64(number(reported[16:]))})
}

// failedAt converts a child's failure report into an error. Calls after the sequence belong to executing the program.
func failedAt(sequence []Step, reported failure) error {
	at := int(reported.at / uint64(callSize))
	name := "execute the program"
	if at < len(sequence) {
		name = sequence[at].name
	}
	if reported.value >= 0 {
		return fmt.Errorf("%s: end of file", name)
	}
	return fmt.Errorf("%s: %w", name, syscall.Errno(-reported.value))
}

// Start starts the child in a new PID namespace. pidfd becomes readable when the child and every process in its namespace
// are dead. The caller must keep a reference to s until then, because the child reads its memory.
func (s *SyscallProgram) Start() (pid, pidfd int, err error) {
	handle := new(int32)
	*handle = -1
	flags := unix.CLONE_VM | unix.CLONE_NEWPID | unix.CLONE_PIDFD | uintptr(syscall.SIGCHLD)
	// Signals stay blocked in the child until it executes the program, because handlers are Go code.
	beforeFork()
	result := startChild(flags, handle, &s.calls[0], &s.failure)
	afterFork()
	runtime.KeepAlive(s)
	if result < 0 {
		return 0, 0, fmt.Errorf("fork: %w", os.NewSyscallError("clone", syscall.Errno(-result)))
	}
	return result, int(*handle), nil
}

// startChild starts a child that makes the calls one after the other. It returns the child's process ID, or a negative
// error number.
//
//go:noescape
func startChild(flags uintptr, handle *int32, first *call, says *failure) int

// atCWD is unix.AT_FDCWD in the form that the kernel expects.
const atCWD = ^uintptr(99)

// The standard library calls these functions around a fork.

//go:linkname beforeFork syscall.runtime_BeforeFork
func beforeFork()

//go:linkname afterFork syscall.runtime_AfterFork
func afterFork()

// ErrNoProgram is the error for a command whose program is missing or is not an absolute path.
var ErrNoProgram = errors.New("start program: no absolute path")
