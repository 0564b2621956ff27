package worker

import (
	"context"
	"sync"
	"time"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/frames"
)

const (
	// startDeadline is the timeout for the start of the program. No user code runs before it.
	startDeadline = 10 * time.Second
	// cpuPoll is the interval between checks of the CPU time. On two processors, a run can exceed its limit by twice this
	// interval.
	cpuPoll = 25 * time.Millisecond
)

// watch ends a run because of a timeout, its CPU time, a cancellation or its output limit. If there are several
// reasons, it stores the first. It never reads from the worker, and waits for the worker at most for the grace period.
// It uses a timer instead of a goroutine, because most runs end before the first check.
type watch struct {
	*peer
	limits  runtimes.Limits
	grace   time.Duration
	cpuBase time.Duration

	calls    context.Context // context of host calls; ends with the run
	endCalls context.CancelFunc
	forget   func() bool // unregisters the callback for the end of the run's context

	mu       sync.Mutex
	alarm    *time.Timer
	deadline time.Time // time at which the time limit ends; zero until the program has started
	over     chan struct{}
	stopped  bool // true when the session is over
	ending   bool // the worker is being interrupted, or was killed because its start took too long
	joined   sync.WaitGroup
	reason   runtimes.ErrorType
	cpu      bool // the reason is the limit of CPU time
	missed   bool // the reason is the deadline for the start
}

func startWatch(ctx context.Context, p *peer, limits runtimes.Limits, grace, cpuBase time.Duration) *watch {
	w := &watch{peer: p, limits: limits, grace: grace, cpuBase: cpuBase, over: make(chan struct{})}
	w.calls, w.endCalls = context.WithCancel(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.alarm = time.AfterFunc(startDeadline, w.look)
	w.forget = context.AfterFunc(ctx, func() { w.stopFor(runtimes.Cancelled) })
	return w
}

// start begins the program's time limit.
func (w *watch) start() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.deadline = time.Now().Add(w.limits.Timeout())
	w.alarm.Reset(w.next())
}

// next returns the time until the next check.
func (w *watch) next() time.Duration {
	left := time.Until(w.deadline)
	if w.limits.CPUMs > 0 {
		left = min(left, cpuPoll)
	}
	return left
}

// stop ends the watch at the end of the session and waits for its goroutines.
func (w *watch) stop() {
	w.mu.Lock()
	w.stopped = true
	close(w.over)
	w.alarm.Stop()
	w.mu.Unlock()
	w.forget()
	w.endCalls()
	w.joined.Wait()
}

// end kills the worker for a reason that the session found, such as the output limit.
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

// look is called when the alarm fires. If the run has used up its time or its CPU time, look ends the run. Otherwise it
// sets the alarm again.
func (w *watch) look() {
	if !w.enter() {
		return
	}
	defer w.joined.Done()
	w.mu.Lock()
	w.missed = w.deadline.IsZero()
	w.ending = w.ending || w.missed
	missed, late := w.missed, !time.Now().Before(w.deadline)
	w.mu.Unlock()
	switch {
	case missed:
		w.jail.Kill()
	case late:
		w.stopFor(runtimes.Timeout)
	case w.limits.CPUMs > 0 && w.jail.CPU()-w.cpuBase > w.limits.CPU():
		w.mu.Lock()
		w.cpu = w.reason == ""
		w.mu.Unlock()
		w.stopFor(runtimes.Timeout)
	default:
		w.mu.Lock()
		defer w.mu.Unlock()
		if !w.stopped {
			w.alarm.Reset(w.next())
		}
	}
}

// enter registers a goroutine for whose end stop must wait. It returns false if the watch has ended.
func (w *watch) enter() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped || w.ending {
		return false
	}
	w.joined.Add(1)
	return true
}

// stopFor ends the run for a reason. Only its first call has an effect.
func (w *watch) stopFor(reason runtimes.ErrorType) {
	if !w.enter() {
		return
	}
	defer w.joined.Done()
	w.mu.Lock()
	first := !w.ending
	w.ending = true
	if first && w.reason == "" {
		w.reason = reason
	}
	w.mu.Unlock()
	if first {
		w.interrupt(reason)
	}
}

// interrupt sends an Interrupt frame to the worker. If the worker has not finished after the grace period, interrupt
// kills it.
func (w *watch) interrupt(reason runtimes.ErrorType) {
	w.endCalls()
	if w.grace <= 0 {
		w.jail.Kill()
		return
	}
	// If the worker does not read, the write would block. The deadline prevents that for this goroutine and for one that
	// writes a reply.
	_ = w.jail.Conn().SetWriteDeadline(time.Now().Add(w.grace))
	grace := time.NewTimer(w.grace)
	defer grace.Stop()
	_ = w.out.WriteJSON(frames.Interrupt, frames.Reason{Type: reason})
	select {
	case <-w.over:
	case <-grace.C:
		w.jail.Kill()
	}
}
