// Package gctuning reduces background work of Go's runtime in a server process: the garbage collector and the monitor
// thread (sysmon).
package gctuning

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"
)

// headroom is heap memory that the collector counts but that is never touched, so it uses no physical memory. Without
// it, a small server would collect garbage every seven megabytes.
const headroom = 16 << 20

// slack is the maximum delay of the monitor thread's wake-ups. The thread asks for 20 µs repeatedly while any thread
// works, and gets about 70 µs, which took a tenth to a fifth of a server's processor time. Its only task then is to
// hand over the place of a thread that waits for the disk.
const slack = time.Millisecond

// Slow reduces background work until end is called. Changing the monitor thread needs CAP_SYS_NICE. If that is not
// permitted, the returned error reports it; the other settings still apply.
func Slow() (end func(), err error) {
	ballast := make([]byte, headroom)
	err = rest(slack)
	return func() { runtime.KeepAlive(ballast) }, err
}

// Collect makes the garbage collector work harder if the process would use more than about above bytes, unless
// GOMEMLIMIT is set. It is not a hard limit, because memory in use stays.
func Collect(above int64) {
	if debug.SetMemoryLimit(-1) == math.MaxInt64 {
		debug.SetMemoryLimit(above)
	}
}

// rest sets the timer slack of the monitor thread.
func rest(slack time.Duration) error {
	thread, err := watching()
	if err != nil {
		return err
	}
	return os.WriteFile(slackFile(thread), []byte(strconv.FormatInt(slack.Nanoseconds(), 10)), 0)
}

func slackFile(thread string) string { return filepath.Join("/proc", thread, "timerslack_ns") }

// watching finds the monitor thread. Go's runtime starts it first and never ends it, and the kernel lists threads by
// age.
func watching() (string, error) {
	tasks, err := os.Open("/proc/self/task")
	if err != nil {
		return "", err
	}
	threads, err := tasks.Readdirnames(2)
	if err = errors.Join(err, tasks.Close()); err != nil {
		return "", err
	}
	if len(threads) < 2 {
		return "", errors.New("this process has one thread")
	}
	return threads[1], nil
}
