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
	startDelay = time.Millisecond      // before a program that says nothing is told to have started
	watchDelay = 20 * time.Millisecond // before memory is looked at: short programs pay nothing
	watchEvery = 5 * time.Millisecond
)

// watch tells the server that a program has started which goes on, and interrupts one whose heap comes near its limit. The
// kernel is the wall; this only tells the program's line where the kernel tells nothing, for programs that grow in steps.
// It returns how to stop watching.
//
// The collector is told a limit below, so that garbage does not count. That stops the world, so it is done at the first
// look only, as is the rest.
func (r *run) watch() (stop func()) {
	limit, base := r.job.Limits.MemoryBytes, r.worker.base
	var mu sync.Mutex
	told, looked, done := false, false, false
	var look func()
	alarm := time.AfterFunc(math.MaxInt64, func() { look() })
	look = func() {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case done:
			return
		case !told:
			told = true
			_ = r.worker.out.Flush() // a connection that failed is noticed by whoever reads from it
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

// taken is the memory that the process holds of the kernel's, without what the collector gave back.
func taken() int64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return int64(samples[0].Value.Uint64() - samples[1].Value.Uint64())
}

// keptMemory is what a worker may keep between runs beyond what it had before the first. Small runs stay below it and pay
// nothing; what a large one left would count against the limit of the next.
const keptMemory = 24 << 20

// settle gives memory back after a large run and notes what is taken before the next.
func (w *worker) settle() {
	if taken()-w.fresh > keptMemory {
		debug.FreeOSMemory()
	}
	w.base = taken()
}
