package gctuning_test

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/internal/gctuning"
)

// TestSlow checks that the monitor thread has the slack, and that the next garbage collection starts only after more than
// headroom bytes are allocated.
func TestSlow(t *testing.T) {
	t.Parallel()
	end, err := gctuning.Slow()
	runtime.GC()
	goal := []metrics.Sample{{Name: "/gc/heap/goal:bytes"}}
	metrics.Read(goal)
	if got := goal[0].Value.Uint64(); got < 32<<20 {
		t.Errorf("the collector's next turn is at %d bytes", got)
	}
	end()
	if errors.Is(err, fs.ErrPermission) {
		if os.Getuid() == 0 {
			t.Error(err)
		}
		return // the caller reports it too
	}
	if err != nil {
		t.Fatal(err)
	}
	thread, err := gctuning.Watching()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(gctuning.SlackFile(thread))
	if err != nil || strings.TrimSpace(string(text)) != "1000000" {
		t.Errorf("the slack of the watching thread is %q, %v", text, err)
	}
}

// TestWatching checks that Watching finds the monitor thread. While a goroutine works without a pause, the monitor thread
// sleeps again and again for a fixed time. A thread that runs goroutines does not.
func TestWatching(t *testing.T) {
	t.Parallel()
	thread, err := gctuning.Watching()
	if err != nil {
		t.Fatal(err)
	}
	var over atomic.Bool
	var work sync.WaitGroup
	work.Go(func() {
		for !over.Load() { // busy loop
		}
	})
	defer work.Wait()
	defer over.Store(true)
	for seen := 0; seen < 20; {
		call, err := os.ReadFile("/proc/self/task/" + thread + "/syscall")
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(string(call), strconv.Itoa(unix.SYS_NANOSLEEP)+" ") {
			seen++
		}
	}
}
