package guest

import (
	"math"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"

	"github.com/atelier-run/atelier/runtimes"
)

const (
	startDelay = time.Millisecond      // delay before the start of a program that prints nothing is reported
	watchDelay = 20 * time.Millisecond // delay before the first check of memory, so that short programs are not slowed down
	watchEvery = 5 * time.Millisecond
)

// watch reports to the server that a longer program has started. It interrupts a program whose heap approaches its
// limit. It returns a function that stops watching.
//
// The kernel also enforces the limit, but it cannot report the program's line. watch can, unless memory grows too fast
// between two checks.
//
// watch also sets a memory limit for the garbage collector, so that garbage is collected before the limit is reached.
// Setting that limit stops all goroutines for a moment. So watch sets it only at the first check, which short programs
// do not reach.
func (r *run) watch() (stop func()) {
	limit, base := r.job.Limits.MemoryBytes, r.worker.base
	var mu sync.Mutex
	flushed, looked, done := false, false, false
	var look func()
	alarm := time.AfterFunc(math.MaxInt64, func() { look() })
	look = func() {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case done:
			return
		case !flushed:
			flushed = true
			_ = r.worker.out.Flush() // if sending fails, the goroutine that reads from the connection notices that too
			if limit > 0 {
				alarm.Reset(watchDelay - startDelay)
			}
			return
		case !looked:
			looked = true
			debug.SetMemoryLimit(base + limit*3/4)
		}
		if taken()-base > limit*9/10 {
			r.interrupt(runtimes.MemoryLimit, "")
			return
		}
		alarm.Reset(watchEvery)
	}
	alarm.Reset(startDelay)
	return func() {
		alarm.Stop()
		mu.Lock()
		defer mu.Unlock()
		done = true
		if looked {
			debug.SetMemoryLimit(math.MaxInt64)
		}
	}
}

// taken returns the memory of this process in bytes. It does not count memory that Go has returned to the kernel.
func taken() int64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return int64(samples[0].Value.Uint64() - samples[1].Value.Uint64())
}

// keptMemory is the number of bytes that a worker may use between runs in addition to its memory before the first run.
// If a worker uses more, settle releases memory, because it would otherwise count for the limit of the next run.
// Releasing takes time, so it must not be needed after small runs.
const keptMemory = 24 << 20

// settle releases memory after a large run, and records the memory in use before the next run. It drops prepared runs if
// memory is still above the limit.
func (w *worker) settle() {
	if taken()-w.fresh > w.kept {
		debug.FreeOSMemory()
		if len(w.prepared) > 0 && taken()-w.fresh > w.kept {
			w.prepared = nil
			debug.FreeOSMemory()
		}
	}
	w.base = taken()
}
