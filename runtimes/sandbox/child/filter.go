package child

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/runtimes/sandbox/seccomp"
	"github.com/atelier-run/atelier/runtimes/sandbox/wire"
)

// Halved returns both halves of a fork server's filter, or none if programs have no filter at all.
func Halved(config wire.Setup) (wire.Halves, error) {
	if (len(config.Seccomp) > 0) != (len(config.Halves.Server) > 0) {
		return wire.Halves{}, wire.ErrHalf
	}
	return config.Halves, config.Halves.Check()
}

// installFilter installs the filter on all threads at once. The filter forbids every call of the set-up.
func installFilter(config wire.Setup) error {
	if len(config.Seccomp) == 0 || config.Launcher {
		return nil // the server runs without a filter, as its options ask; children of a launcher install theirs during their set-up
	}
	length := len(config.Seccomp) / seccomp.InstructionSize
	if len(config.Seccomp)%seccomp.InstructionSize != 0 || length > seccomp.MaxInstructions {
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
func warmThreads(config wire.Setup) error {
	if config.Filter.Ours() || config.Launcher {
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
