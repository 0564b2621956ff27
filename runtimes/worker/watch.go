package worker

import (
	"context"
	"sync"
	"time"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/frames"
)

const (
	// startDeadline is how long a worker may prepare. Nothing of the user's takes part in that.
	startDeadline = 10 * time.Second
	// cpuPoll is how often CPU time is read. The limit may be exceeded by twice that on two processors.
	cpuPoll = 25 * time.Millisecond
)

// watch ends a run for a reason that comes from outside of the program: time, CPU time, cancellation, output. The first
// reason wins. It never reads from the worker and never waits for it longer than the grace.
type watch struct {
	*peer
	limits  runtimes.Limits
	grace   time.Duration
	cpuBase time.Duration

	calls    context.Context // of host calls; ends when the run has to
	endCalls context.CancelFunc
	ctx      context.Context
	begun    chan struct{} // closed when the program starts
	over     chan struct{} // closed when the conversation is over
	joined   sync.WaitGroup

	mu     sync.Mutex
	reason runtimes.ErrorType
	cpu    bool // the reason is CPU time
	missed bool // the start deadline
}

func startWatch(ctx context.Context, p *peer, limits runtimes.Limits, grace, cpuBase time.Duration) *watch {
	w := &watch{peer: p, limits: limits, grace: grace, cpuBase: cpuBase, ctx: ctx, begun: make(chan struct{}), over: make(chan struct{})}
	w.calls, w.endCalls = context.WithCancel(ctx)
	w.joined.Go(w.keep)
	return w
}

// start begins the time limit.
func (w *watch) start() { close(w.begun) }

// stop ends the watch when the conversation is over and waits for it.
func (w *watch) stop() {
	close(w.over)
	w.endCalls()
	w.joined.Wait()
}

// end kills the worker for a reason that the reader found.
func (w *watch) end(reason runtimes.ErrorType) {
	w.decide(reason)
	w.jail.Kill()
}

func (w *watch) cause() runtimes.ErrorType {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.reason
}

func (w *watch) byCPU() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.cpu
}

func (w *watch) late() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.missed
}

func (w *watch) decide(reason runtimes.ErrorType) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.reason == "" {
		w.reason = reason
	}
}

func (w *watch) keep() {
	if reason := w.wait(); reason != "" {
		w.decide(reason)
		w.interrupt(reason)
	}
}

// wait answers why the run has to end, or "" when it ended by itself or was killed already.
func (w *watch) wait() runtimes.ErrorType {
	deadline := time.NewTimer(startDeadline)
	defer deadline.Stop()
	select {
	case <-w.over:
		return ""
	case <-w.ctx.Done():
		return runtimes.Cancelled
	case <-deadline.C:
		w.mu.Lock()
		w.missed = true
		w.mu.Unlock()
		w.jail.Kill()
		return ""
	case <-w.begun:
	}
	deadline.Reset(w.limits.Timeout())
	poll := time.NewTicker(cpuPoll)
	defer poll.Stop()
	for {
		select {
		case <-w.over:
			return ""
		case <-w.ctx.Done():
			return runtimes.Cancelled
		case <-deadline.C:
			return runtimes.Timeout
		case <-poll.C:
			if w.limits.CPUMs > 0 && w.jail.Usage().CPU-w.cpuBase > w.limits.CPU() {
				w.mu.Lock()
				w.cpu = w.reason == ""
				w.mu.Unlock()
				return runtimes.Timeout
			}
		}
	}
}

// interrupt asks the worker to end the program, and kills it when that does not help.
func (w *watch) interrupt(reason runtimes.ErrorType) {
	w.endCalls()
	if w.grace <= 0 {
		w.jail.Kill()
		return
	}
	// A worker that does not read must not hold us: neither here nor where a reply is being written.
	_ = w.jail.Conn().SetWriteDeadline(time.Now().Add(w.grace))
	patience := time.NewTimer(w.grace)
	defer patience.Stop()
	_ = w.out.WriteJSON(frames.Interrupt, frames.Reason{Type: reason})
	select {
	case <-w.over:
	case <-patience.C:
		w.jail.Kill()
	}
}
