package assist

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
)

const (
	atOnce      = 4 // conversations at once
	tasksAtOnce = 2 // of them for tasks, so that tasks never hold all
)

// places bounds the conversations that run at once. A person who waits comes before every task.
type places struct {
	mu          sync.Mutex
	used, tasks int             // conversations that run, and those of them that are for tasks
	people      []chan struct{} // of those who wait, first come first
	queued      []chan struct{} // of tasks that wait
}

// enter waits for a place and returns the function that frees it. Errors: ModelUnavailable after longest, Cancelled.
func (p *places) enter(ctx context.Context, task bool, longest time.Duration) (leave func(), err error) {
	turn, line := make(chan struct{}), &p.people
	if task {
		line = &p.queued
	}
	p.mu.Lock()
	*line = append(*line, turn)
	p.admit()
	p.mu.Unlock()
	timer := time.NewTimer(longest)
	defer timer.Stop()
	select {
	case <-turn:
		return func() { p.leave(task) }, nil
	case <-timer.C:
		err = &fault.Error{Code: fault.ModelUnavailable, Message: "Other members wait for the language model. Try again later.", RetryAfter: longest}
	case <-ctx.Done():
		err = fault.New(fault.Cancelled, "The request was cancelled.")
	}
	p.mu.Lock()
	at := slices.Index(*line, turn)
	if at >= 0 {
		*line = slices.Delete(*line, at, at+1)
	}
	p.mu.Unlock()
	if at < 0 { // it was admitted meanwhile
		p.leave(task)
	}
	return nil, err
}

func (p *places) leave(task bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used--
	if task {
		p.tasks--
	}
	p.admit()
}

// admit gives free places to those who wait.
func (p *places) admit() {
	for p.used < atOnce && len(p.people) > 0 {
		close(p.people[0])
		p.people = p.people[1:]
		p.used++
	}
	for p.used < atOnce && p.tasks < tasksAtOnce && len(p.queued) > 0 {
		close(p.queued[0])
		p.queued = p.queued[1:]
		p.used++
		p.tasks++
	}
}
