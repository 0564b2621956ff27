package assist

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
)

const (
	atOnce      = 4 // maximum number of concurrent conversations
	tasksAtOnce = 2 // maximum number of concurrent conversations for tasks; the remaining ones are reserved for people
)

// places limits the number of concurrent conversations. A waiting person may start before any waiting task.
type places struct {
	mu          sync.Mutex
	used, tasks int             // number of conversations, and the number of these that belong to tasks
	people      []chan struct{} // waiting people, in order of arrival
	queued      []chan struct{} // waiting tasks, in order of arrival
}

// enter waits until a conversation may start. The caller must call leave at its end. Errors: ModelUnavailable if it has
// waited for the duration longest; Cancelled.
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
	if at < 0 { // The place was assigned just before the wait ended, so give it back.
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

// admit assigns free places, first to waiting people and then to waiting tasks.
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
