package sandbox

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/runtimes/sandbox/cgroups"
	"github.com/atelier-run/atelier/runtimes/sandbox/seccomp"
)

// instructionSize is the size of struct sock_filter in bytes: code, two jumps, constant.
const instructionSize = 8

// policies returns the policy of each filter. Where no control group counts memory, programs may not create files that
// exist only in memory, because these belong to no process whose memory could be measured. Their sockets also keep the
// default size of their buffers, so that the watch knows how much a socket can hold.
func policies(mode cgroups.Mode) map[Filter]seccomp.Policy {
	program, alone := seccomp.Program(), seccomp.Alone()
	if mode == cgroups.None {
		program, alone = program.Refuse("memfd_create").KeepBuffers(), alone.Refuse("memfd_create").KeepBuffers()
	}
	return map[Filter]seccomp.Policy{
		FilterWorker: seccomp.Worker(), FilterCompiler: seccomp.Compiler(), FilterProgram: program, FilterAlone: alone,
	}
}

// halves holds a filter in two parts, for fork servers. The kernel checks and compiles each installed filter again for
// each process. So the fork server installs the larger part once.
type halves struct {
	Server []byte `json:"server,omitempty"` // installed by the fork server before it forks, and inherited
	Child  []byte `json:"child,omitempty"`  // installed by each child as its last step
}

var errHalf = errors.New("a part of the filter is missing")

// check rejects one half without the other.
func (h halves) check() error {
	if (len(h.Server) > 0) != (len(h.Child) > 0) {
		return errHalf
	}
	return nil
}

// halved returns both halves of a fork server's filter, or none if programs have no filter at all.
func (config setup) halved() (halves, error) {
	if (len(config.Seccomp) > 0) != (len(config.Halves.Server) > 0) {
		return halves{}, errHalf
	}
	return config.Halves, config.Halves.check()
}

// compileHalves compiles the two parts of a filter. It runs in the server, once.
func compileHalves(policy seccomp.Policy) (h halves, err error) {
	server, startChild := seccomp.Forks(policy)
	if h.Server, err = compileFilter(server); err != nil {
		return halves{}, err
	}
	h.Child, err = compileFilter(startChild)
	return h, err
}

// compileFilter compiles a filter for this machine. It runs in the server, once.
func compileFilter(policy seccomp.Policy) ([]byte, error) {
	program, err := seccomp.Compile(policy, seccomp.Arch(runtime.GOARCH))
	if err != nil {
		return nil, err
	}
	code := make([]byte, 0, len(program)*instructionSize)
	for _, in := range program {
		code = append(code, byte(in.Op), byte(in.Op>>8), in.Jt, in.Jf, byte(in.K), byte(in.K>>8), byte(in.K>>16), byte(in.K>>24))
	}
	return code, nil
}

// installFilter installs the filter on all threads at once. The filter forbids every call of the set-up.
func installFilter(config setup) error {
	if len(config.Seccomp) == 0 || config.Launcher {
		return nil // the server was told to go without a filter; children of a launcher install theirs during their set-up
	}
	length := len(config.Seccomp) / instructionSize
	if len(config.Seccomp)%instructionSize != 0 || length > seccomp.MaxInstructions {
		return errors.New("the filter is cut")
	}
	instructions := make([]unix.SockFilter, length)
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&instructions[0])), len(config.Seccomp)), config.Seccomp)
	program := unix.SockFprog{Len: uint16(length), Filter: &instructions[0]}
	thread, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program)))
	runtime.KeepAlive(instructions)
	if errno != 0 {
		return errno
	}
	if thread != 0 {
		return fmt.Errorf("thread %d did not take the filter", thread)
	}
	return nil
}

// spareThreads is the number of threads made before programs run. The Go runtime then seldom needs a new thread while a
// program holds every process of the limit. Go aborts if it cannot create a thread it needs.
const spareThreads = 6

// warmThreads creates threads by locking that many goroutines to their threads at once. The runtime keeps the threads.
func warmThreads(config setup) error {
	if config.Filter.ours() || config.Launcher {
		return nil
	}
	var ready, done sync.WaitGroup
	release := make(chan struct{})
	ready.Add(spareThreads)
	for range spareThreads {
		done.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			ready.Done()
			<-release
		})
	}
	ready.Wait()
	close(release)
	done.Wait()
	return nil
}
