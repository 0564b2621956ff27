// Package gctuning reduces the background work of the Go runtime in a server process, namely of the garbage collector
// and of the monitor thread (sysmon).
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

// headroom is the size in bytes of an allocation that is never used. It needs no physical memory. The garbage collector
// counts it as heap and therefore runs less often. Without this allocation, a small server would collect garbage every
// seven megabytes.
const headroom = 16 << 20

// slack is the maximum delay of the monitor thread's wake-ups. While any thread works, the monitor thread sleeps for 20
// µs at a time (in fact about 70 µs). This took 10% to 20% of a server's CPU time. A longer delay is acceptable,
// because the monitor thread only lets another thread run while one waits for the disk.
const slack = time.Millisecond

// Slow reduces background work until the caller calls end. Changing the monitor thread requires CAP_SYS_NICE. Without
// this capability, Slow returns an error, but the garbage collector still runs less often.
func Slow() (end func(), err error) {
	ballast := make([]byte, headroom)
	err = rest(slack)
	return func() { runtime.KeepAlive(ballast) }, err
}

// Collect makes the garbage collector run more often when the process uses about above bytes. It does nothing if
// GOMEMLIMIT is set. above is not a hard limit, because the collector cannot free memory that is in use.
func Collect(above int64) {
	if debug.SetMemoryLimit(-1) == math.MaxInt64 {
		debug.SetMemoryLimit(above)
	}
}

// rest sets the timer slack of the monitor thread, so that this thread wakes up less often.
func rest(slack time.Duration) error {
	thread, err := watching()
	if err != nil {
		return err
	}
	return os.WriteFile(slackFile(thread), []byte(strconv.FormatInt(slack.Nanoseconds(), 10)), 0)
}

func slackFile(thread string) string { return filepath.Join("/proc", thread, "timerslack_ns") }

// watching returns the thread ID of the monitor thread. The kernel lists threads by age, and the monitor thread is the
// second, because the Go runtime starts it first and never ends it.
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
