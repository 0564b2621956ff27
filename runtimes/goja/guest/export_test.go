package guest

import (
	"io"
	"math"
	"net"
	"time"
)

// Worker is a worker whose steps a test takes one by one.
type Worker struct{ w *worker }

// NewWorker returns a worker that writes its frames to out.
func NewWorker(out io.Writer) Worker { return Worker{newWorker(out)} }

// Unbounded lets the worker load programs ahead whatever that takes: other tests use time and memory of this process.
func (w Worker) Unbounded() Worker {
	w.w.loadTime, w.w.loadBytes, w.w.kept = time.Hour, math.MaxInt64, math.MaxInt64
	return w
}

// Serve carries out the jobs of a connection.
func (w Worker) Serve(conn net.Conn) error { return w.w.serve(conn) }

// Run carries out a job.
func (w Worker) Run(job Job) error {
	w.w.announce()
	w.w.received++
	return w.w.carryOut(order{job, newSignals()})
}

// Suggest makes the program of a job the next to be prepared, though it did not run.
func (w Worker) Suggest(job Job) { w.w.candidate = &candidate{compile(job), job} }

// Suggested reports whether a program may be prepared.
func (w Worker) Suggested() bool { return w.w.candidate != nil }

// Prepare prepares the suggested program.
func (w Worker) Prepare(limit time.Duration) { w.w.prepare(limit) }

// Preparing reports whether a program is being loaded at the moment.
func (w Worker) Preparing() bool {
	s := w.w.preparing.Load()
	return s != nil && s.vm.Load() != nil
}

// Announce tells the worker that a job arrives, and Receive that it has it.
func (w Worker) Announce() { w.w.announce() }

// Receive takes note of a job.
func (w Worker) Receive() { w.w.received++ }

// Prepared returns the number of prepared runs.
func (w Worker) Prepared() int { return len(w.w.prepared) }
