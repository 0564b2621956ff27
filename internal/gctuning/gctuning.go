// Package gctuning slows down how often Go's runtime looks after itself in a process that serves: its collector, and the
// thread that watches all others.
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

// headroom is memory that counts for the collector and is never touched, so that it takes none: what a small server
// allocates would otherwise be collected every seven megabytes.
const headroom = 16 << 20

// slack is how late the watching thread may wake. It asks for 20 µs again and again for as long as anything works, and
// gets about 70, which was a tenth to a fifth of the processor time of a server; all it does then is to give the
// place of a thread that waits for the disk to another one.
const slack = time.Millisecond

// Slow holds until end is called. Where the process may not change the watching thread, which takes CAP_SYS_NICE, the
// error says so, and the rest holds all the same.
func Slow() (end func(), err error) {
	ballast := make([]byte, headroom)
	err = rest(slack)
	return func() { runtime.KeepAlive(ballast) }, err
}

// Collect makes the collector work harder where the process would take more than about so many bytes, unless the
// environment has set a limit (GOMEMLIMIT). It is no wall: memory that is in use stays.
func Collect(above int64) {
	if debug.SetMemoryLimit(-1) == math.MaxInt64 {
		debug.SetMemoryLimit(above)
	}
}

// rest sets the timer slack of the watching thread.
func rest(slack time.Duration) error {
	thread, err := watching()
	if err != nil {
		return err
	}
	return os.WriteFile(slackFile(thread), []byte(strconv.FormatInt(slack.Nanoseconds(), 10)), 0)
}

func slackFile(thread string) string { return filepath.Join("/proc", thread, "timerslack_ns") }

// watching is the thread that Go's runtime starts first of all, and never ends. The kernel lists threads by their age.
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
