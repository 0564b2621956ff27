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

// Halved returns both parts of a fork server's filter. They are empty if the set-up has no filter. It is an error if only
// the complete filter or only its parts are present.
func Halved(config wire.Setup) (wire.Halves, error) {
	if (len(config.Seccomp) > 0) != (len(config.Halves.Server) > 0) {
		return wire.Halves{}, wire.ErrHalf
	}
	return config.Halves, config.Halves.Check()
}

// installFilter installs the filter on all threads at once. It must run last, because the filter forbids the calls of the
// set-up.
func installFilter(config wire.Setup) error {
	if len(config.Seccomp) == 0 || config.Launcher {
		// No filter: Options.AllowWeak permits that, or this is a launcher, whose children install their filter themselves.
		return nil
	}
	length := len(config.Seccomp) / seccomp.InstructionSize
	if len(config.Seccomp)%seccomp.InstructionSize != 0 || length > seccomp.MaxInstructions {
		return errors.New("the filter is truncated")
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
		return fmt.Errorf("thread %d could not install the filter", thread)
	}
	return nil
}

// spareThreads is the number of threads created before programs run. Go aborts if it needs a thread and cannot create
// one, for example because a program has used up the process limit. With spare threads Go seldom needs a new thread at
// that time.
const spareThreads = 6

// warmThreads makes the Go runtime create spareThreads threads, by locking that many goroutines to threads at the same
// time. The runtime keeps the threads for later.
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
