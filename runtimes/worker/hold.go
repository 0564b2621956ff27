package worker

import (
	"context"
	"slices"
	"time"

	"github.com/atelier-run/atelier/runtimes"
)

// Hot says when a run is held back for a worker that is at work, though it could have another one: with as many of a
// workspace at work as there are processors it would not be served sooner by one more, which has to be woken and has nothing
// in the processor's caches. The zero value: never.
type Hot struct {
	Runs int           // of the workspace, at work
	Wait time.Duration // for one of them to end
}

// held is a run that is held back.
type held struct {
	workspace string
	given     chan struct{} // closed when there is a member
	member    *member
}

// reusable says whether a worker may serve the job and others of its workspace.
func reusable(job runtimes.Job) bool { return job.Isolation != runtimes.Strict && job.Workspace != "" }

// begin and end count a run that is on the way into a worker, or in it. They need the lock.
func (p *Pool) begin(workspace string) {
	p.busy++
	p.work[workspace]++
}

func (p *Pool) end(workspace string) {
	p.busy--
	if p.work[workspace]--; p.work[workspace] == 0 {
		delete(p.work, workspace)
	}
}

// holds says whether a run is held back: not where others wait for a place, who would be overtaken by it. It needs the lock.
func (p *Pool) holds(job runtimes.Job) bool {
	return p.options.Hot.Runs > 0 && p.work[job.Workspace] >= p.options.Hot.Runs && reusable(job) && p.waiting == 0
}

// hold waits for a worker of the workspace; nil if none becomes free in time. It gives the lock up meanwhile.
func (p *Pool) hold(ctx context.Context, workspace string) *member {
	h := &held{workspace: workspace, given: make(chan struct{})}
	p.held = append(p.held, h)
	p.mu.Unlock()
	late := time.NewTimer(p.options.Hot.Wait)
	select {
	case <-h.given:
	case <-late.C:
	case <-ctx.Done():
	}
	late.Stop()
	p.mu.Lock()
	p.held = slices.DeleteFunc(p.held, func(other *held) bool { return other == h })
	return h.member
}

// pass gives a worker that has become free to the first run that is held back for one. It needs the lock.
func (p *Pool) pass(m *member) bool {
	i := slices.IndexFunc(p.held, func(h *held) bool { return h.workspace == m.workspace })
	if i < 0 {
		return false
	}
	h := p.held[i]
	p.held = slices.Delete(p.held, i, i+1)
	h.member = m
	close(h.given)
	p.begin(m.workspace)
	return true
}
