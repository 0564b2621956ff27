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

// headroom is the size in bytes of an allocation that is never used, so it needs no physical memory. The garbage collector
// counts it as heap and therefore runs less often. Without it, a small server would collect garbage every seven megabytes.
const headroom = 16 << 20

// slack is the maximum delay of the monitor thread's wake-ups. While any thread works, the monitor thread sleeps for 20 µs
// at a time (in fact about 70 µs), which took 10% to 20% of a server's CPU time. The longer delay is acceptable: all that
// the thread does meanwhile is to let another thread run when one waits for the disk.
const slack = time.Millisecond

// Slow reduces background work until end is called. Changing the monitor thread needs CAP_SYS_NICE. Without it, Slow
// returns an error, but the garbage collector still runs less often.
func Slow() (end func(), err error) {
	ballast := make([]byte, headroom)
	err = rest(slack)
	return func() { runtime.KeepAlive(ballast) }, err
}

// Collect makes the garbage collector run more often when the process uses about above bytes. It does nothing if GOMEMLIMIT
// is set. It is not a hard limit, because memory that is in use cannot be freed.
func Collect(above int64) {
	if debug.SetMemoryLimit(-1) == math.MaxInt64 {
		debug.SetMemoryLimit(above)
	}
}

// rest sets the timer slack of the monitor thread, so that it wakes up less often.
func rest(slack time.Duration) error {
	thread, err := watching()
	if err != nil {
		return err
	}
	return os.WriteFile(slackFile(thread), []byte(strconv.FormatInt(slack.Nanoseconds(), 10)), 0)
}

func slackFile(thread string) string { return filepath.Join("/proc", thread, "timerslack_ns") }

// watching returns the thread ID of the monitor thread. It is the second thread in the kernel's list, which is ordered by
// age: Go's runtime starts the monitor thread first and never ends it.
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
