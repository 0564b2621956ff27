package tasks

import (
	"context"
	"io"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

const (
	maxReaders = 1000 // maximum number of readers of this server that wait for events
	eventsPage = 100
	// pollEvery is the interval at which a reader reads the events of a task that another server executes.
	pollEvery = 2 * time.Second
)

// watchers counts the readers that wait for the next event of a task.
type watchers struct {
	changed chan struct{} // closed when the task changes
	readers int
}

// announce notifies the readers of a task that it has changed.
func (s *Service) announce(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.watched[id]; w != nil {
		close(w.changed)
		w.changed = make(chan struct{})
	}
}

// watch returns a channel that is closed at the next change of a task.
func (s *Service) watch(id string) (changed chan struct{}, leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.readers >= maxReaders {
		return nil, nil, &fault.Error{Code: fault.TooManyRequests, Message: "The server has too many open event streams. Try again later.", RetryAfter: pollEvery}
	}
	w := s.watched[id]
	if w == nil {
		w = &watchers{changed: make(chan struct{})}
		s.watched[id] = w
	}
	w.readers++
	s.readers++
	return w.changed, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.readers--
		if w.readers--; w.readers == 0 {
			delete(s.watched, id)
		}
	}, nil
}

// Follower reads the events of a task one by one. It is not safe for concurrent use.
type Follower struct {
	service       *Service
	workspace, id string
	seq           int64
	live          bool // whether the reader waits for later events
	events        []registry.TaskEvent
}

// Events returns a reader of a task's events with a seq greater than from. A live reader waits for later events until
// the task has ended. Error: NotFound.
func (s *Service) Events(ctx context.Context, actor registry.Actor, id string, from int64, live bool) (*Follower, error) {
	if _, err := s.Get(ctx, actor, id); err != nil {
		return nil, err
	}
	return &Follower{service: s, workspace: actor.Workspace, id: id, seq: max(from, 0), live: live}, nil
}

// Next returns the next event. After the last event it returns io.EOF.
func (f *Follower) Next(ctx context.Context) (registry.TaskEvent, error) {
	for len(f.events) == 0 {
		changed, leave, err := f.service.watch(f.id)
		if err != nil {
			return registry.TaskEvent{}, err
		}
		ended, err := f.read(ctx)
		if err == nil && len(f.events) == 0 && !ended {
			err = pause(ctx, changed)
		}
		leave()
		switch {
		case err != nil:
			return registry.TaskEvent{}, err
		case ended && len(f.events) == 0:
			return registry.TaskEvent{}, io.EOF
		}
	}
	e := f.events[0]
	f.events, f.seq = f.events[1:], e.Seq
	return e, nil
}

// read reads the next events, and reports whether the task has ended and no events follow. It must read the task before
// the events, because the last event is stored together with the end of the task.
func (f *Follower) read(ctx context.Context) (ended bool, err error) {
	ended = !f.live
	if f.live {
		t, err := f.service.Store.Task(ctx, f.workspace, f.id)
		if err != nil {
			return false, err
		}
		ended = t.Status.Final()
	}
	f.events, err = f.service.Reader.TaskEvents(ctx, f.workspace, f.id, f.seq, eventsPage)
	return ended, err
}

func pause(ctx context.Context, changed chan struct{}) error {
	timer := time.NewTimer(pollEvery)
	defer timer.Stop()
	select {
	case <-changed:
	case <-timer.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}
