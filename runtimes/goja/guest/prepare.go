package guest

import (
	"math/rand/v2"
	"os"
	"runtime/metrics"
	"slices"
	"strings"
	"time"

	"github.com/dop251/goja"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/bundle"
)

// Prepared runs
//
// Packages are large: a VM needs several milliseconds to load Zod. While the worker waits for a job, it loads the last
// program with packages into another VM, for the next run of that program. That run uses the VM, and the VM is
// discarded after the run, so two runs never share a VM.
//
// A program must not be able to notice this. It is loaded in advance only if its last loading had no effect that is
// visible or that differs between runs: no output, host call or timer, and no use of the clock or of random numbers.
// Input, environment and files are passed only to main. So the result of loading does not depend on when the program is
// loaded. Time and memory for loading are limited.
//
// There is one exception: packages may read the clock while they are loaded, as Lodash does to measure how often its
// functions are called. The time that they read may be up to maxAge before the run.

const (
	maxPrepared = 4 // maximum number of prepared runs per worker
	// Maximum loading time; a program that takes longer is loaded only in its run, within the limits of the run.
	maxLoadTime = 100 * time.Millisecond
	// Maximum of bytes allocated during loading; a program that needs more is loaded only in its run.
	maxLoadBytes = 32 << 20
	maxAge       = 5 * time.Second // a prepared run whose packages read the clock is dropped after this time

	// prepareDelay is the time without a job after which a program is loaded in advance. So loading does not delay jobs
	// that the server sends in quick succession, nor the processing of the last result.
	prepareDelay = 20 * time.Millisecond

	// prepareTime is the timeout for loading in advance. It is much longer than maxLoadTime, because the machine may be busy.
	prepareTime = 2 * time.Second

	// endTime is how long after prepareTime an interrupted program may still run. Then the worker exits.
	endTime = 5 * time.Second
)

// next waits for a job. If none comes, it prepares a run.
func (w *worker) next(jobs <-chan order) (order, bool) {
	if w.candidate != nil {
		delay := time.NewTimer(prepareDelay)
		select {
		case o, ok := <-jobs:
			delay.Stop()
			return w.receive(o, ok)
		case <-delay.C:
			w.prepare(prepareTime)
		}
	}
	o, ok := <-jobs
	return w.receive(o, ok)
}

func (w *worker) receive(o order, ok bool) (order, bool) {
	w.received++
	return o, ok
}

// announce is called when a job arrives. It stops the preparation of a run, so that the job does not wait for it.
func (w *worker) announce() {
	w.arrived.Add(1)
	if s := w.preparing.Load(); s != nil {
		s.interrupt(runtimes.Interrupted, "")
	}
}

// run returns a run for a job. It uses a prepared run of the program if there is one.
func (w *worker) run(program *program, o order) *run {
	for i, r := range w.prepared {
		if r.program != program {
			continue
		}
		w.prepared = slices.Delete(w.prepared, i, i+1)
		if r.job.Limits.RecursionDepth == o.job.Limits.RecursionDepth && r.job.Restricted == o.job.Restricted && (!r.dated || time.Since(r.began) <= maxAge) {
			r.job, r.signals = o.job, o.signals
			return r
		}
		break
	}
	return newRun(w, program, o.job, o.signals)
}

// candidate is a program that may be loaded in advance, with the limits and settings of its last run.
type candidate struct {
	program *program
	job     Job
}

// suggest makes the program of a finished run the next candidate, if it may be loaded in advance.
func (w *worker) suggest(r *run) {
	if r.program.preparable {
		w.candidate = &candidate{r.program, Job{Entrypoint: r.job.Entrypoint, Limits: r.job.Limits, Restricted: r.job.Restricted}}
	}
}

// prepare loads the program of the candidate into a VM. It stops after the time limit, or when a job arrives.
func (w *worker) prepare(limit time.Duration) {
	program := w.candidate.program
	if slices.ContainsFunc(w.prepared, func(r *run) bool { return r.program == program }) {
		w.candidate = nil
		return
	}
	s := newSignals()
	w.preparing.Store(s)
	defer w.preparing.Store(nil)
	if w.arrived.Load() != w.received { // the job arrived before stopping was possible
		return
	}
	r := newRun(w, program, w.candidate.job, s)
	r.ahead, r.ready, r.began = true, w.vm(), time.Now()
	r.bind(r.ready)
	r.enter(r.ready)
	late := time.AfterFunc(limit, func() { s.interrupt(runtimes.Timeout, "") })
	// An interrupt does not stop the matching of a regular expression. So exit; the server starts another worker.
	endless := time.AfterFunc(limit+endTime, func() { os.Exit(1) })
	r.observe(r.ready)
	err := r.load(r.ready)
	unobserve(r.ready)
	late.Stop()
	endless.Stop()
	r.ahead = false
	done := s.stopped.CompareAndSwap(nil, &interruption{}) // interrupts have no effect from now on
	switch {
	case done && err == nil && !r.impure:
		w.candidate = nil
		w.prepared = append(w.prepared, r)
		if len(w.prepared) > maxPrepared {
			w.prepared = slices.Delete(w.prepared, 0, 1)
		}
	case done || s.stopped.Load().kind == runtimes.Timeout: // the program would exceed the limit again the next time
		w.candidate = nil
		program.preparable = false
	}
	w.refill()
}

// load runs the program's modules in a VM.
func (r *run) load(vm *goja.Runtime) (err error) {
	r.install(vm)
	r.loaded, err = r.evaluate(vm)
	return err
}

// loadObserved loads a program and decides whether it may be loaded in advance the next time.
func (r *run) loadObserved(vm *goja.Runtime) error {
	if !r.program.packaged {
		return r.load(vm)
	}
	began, allocated := time.Now(), allocations()
	r.observe(vm)
	err := r.load(vm)
	unobserve(vm)
	r.program.preparable = err == nil && !r.impure && time.Since(began) < r.worker.loadTime && allocations()-allocated < r.worker.loadBytes
	return err
}

// taint records that the program has an effect that is visible or differs between runs. If the program is being loaded
// in advance, taint stops it before the effect, because there is no job to which the effect could belong.
func (r *run) taint() {
	r.impure = true
	if r.ahead {
		r.signals.interrupt(runtimes.Timeout, "")
		panic(throw(r.ready, "Error", "The run was stopped."))
	}
}

// observe makes a VM record whether the program reads the clock or random numbers while it is loaded.
func (r *run) observe(vm *goja.Runtime) {
	vm.SetTimeSource(func() time.Time {
		if by := trace(vm.CaptureCallStack(maxCallers, nil)); len(by) > 0 && strings.HasPrefix(by[0].file, bundle.PackagesDir+"/") {
			r.dated = true
		} else {
			r.impure = true
		}
		return time.Now()
	})
	vm.SetRandSource(func() float64 {
		r.impure = true
		return rand.Float64() //nolint:gosec // Math.random returns no promise
	})
}

// maxCallers is the number of stack frames in which observe searches for the code that made the call.
const maxCallers = 4

func unobserve(vm *goja.Runtime) {
	vm.SetTimeSource(time.Now)
	vm.SetRandSource(rand.Float64)
}

// allocations returns the bytes that the process has allocated so far.
func allocations() int64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}
