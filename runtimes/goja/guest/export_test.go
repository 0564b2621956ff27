package guest

import (
	"io"
	"math"
	"net"
	"time"
)

// Worker is a worker that a test executes step by step.
type Worker struct{ w *worker }

// NewWorker returns a worker that writes its frames to out.
func NewWorker(out io.Writer) Worker { return Worker{newWorker(out)} }

// Unbounded removes the limits of time and memory for loading programs ahead. Tests that run at the same time in this
// process would otherwise exceed them.
func (w Worker) Unbounded() Worker {
	w.w.loadTime, w.w.loadBytes, w.w.kept = time.Hour, math.MaxInt64, math.MaxInt64
	return w
}

// Serve serves the jobs of a connection.
func (w Worker) Serve(conn net.Conn) error { return w.w.serve(conn) }

// Run executes one job.
func (w Worker) Run(job Job) error {
	w.w.announce()
	w.w.received++
	return w.w.carryOut(order{job, newSignals()})
}

// Suggest makes the program of a job the candidate for Prepare, without running it.
func (w Worker) Suggest(job Job) { w.w.candidate = &candidate{compile(job), job} }

// Suggested reports whether there is a candidate for Prepare.
func (w Worker) Suggested() bool { return w.w.candidate != nil }

// Prepare loads the candidate ahead, within a time limit.
func (w Worker) Prepare(limit time.Duration) { w.w.prepare(limit) }

// Preparing reports whether a program is being loaded at the moment.
func (w Worker) Preparing() bool {
	s := w.w.preparing.Load()
	return s != nil && s.vm.Load() != nil
}

// Announce simulates that a job starts to arrive. Receive simulates that it was read.
func (w Worker) Announce() { w.w.announce() }

// Receive simulates that an announced job was read.
func (w Worker) Receive() { w.w.received++ }

// Prepared returns the number of prepared runs.
func (w Worker) Prepared() int { return len(w.w.prepared) }
