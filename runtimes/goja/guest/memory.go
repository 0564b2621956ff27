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
	startDelay = time.Millisecond      // delay before the start of a silent program is reported
	watchDelay = 20 * time.Millisecond // delay before memory is first checked, so that short programs pay nothing
	watchEvery = 5 * time.Millisecond
)

// watch reports to the server that a longer program has started. It interrupts a program whose heap approaches its
// limit. It returns a function that stops watching.
//
// The kernel enforces the limit but cannot report a line. For programs that grow in steps, watch reports the program's
// line.
//
// watch sets a lower memory limit for the garbage collector, so that garbage does not count. Setting it stops the
// world, so watch does that and the remaining work only at the first check.
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
			_ = r.worker.out.Flush() // the reader notices a failed connection
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

// taken returns the bytes of memory that the process holds, without memory that the collector returned to the kernel.
func taken() int64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return int64(samples[0].Value.Uint64() - samples[1].Value.Uint64())
}

// keptMemory is the number of bytes that a worker may keep between runs, in addition to its memory before the first
// run. Small runs stay below it and cost nothing. The remains of a large run would count against the limit of the next.
const keptMemory = 24 << 20

// settle releases memory after a large run and records the memory in use before the next. Prepared runs may stay as long
// as there is memory for them.
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
