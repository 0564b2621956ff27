package runs

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

const (
	// lookEvery is the interval at which a reader reads the record of a run that another server executes. The reader reads
	// earlier if the other server sends a signal.
	lookEvery = time.Second
	// followEvery is the interval at which a reader signals to the other server that it follows the run.
	followEvery = 5 * time.Second
	// followedFor is how long a run counts as followed after a SignalFollow.
	followedFor = 3 * followEvery
	// cancelWithin is the maximum time to wait until another server has cancelled a run. It is longer than the time after
	// which the runs of a stopped server are marked as interrupted.
	cancelWithin = 30 * time.Second
	// flushFollowed is the interval at which the events of a run are stored while another server follows the run.
	flushFollowed = 25 * time.Millisecond
)

// These are the kinds of signals between servers. The subject of a signal is the ID of a run.
const (
	SignalFollow = "follow" // the sending server follows the run
	SignalEvents = "events" // events or the end of the run were stored
)

// elsewhere reports whether another server executes a run that is not live here. If that server stops, its lease
// expires and the records of its runs become interrupted, except for those with a remote job.
func (s *Service) elsewhere(run registry.Run) bool {
	return s.Others != nil && unfinished(run) && run.Server != s.Server
}

// lost reports whether a run that is not live here ended without its end being recorded.
func (s *Service) lost(ctx context.Context, run registry.Run) bool {
	return unfinished(run) && !s.elsewhere(run) && !s.continues(ctx, run.ID)
}

// cancelElsewhere asks the server that executes a run to cancel the run, and waits until the run has ended. It repeats
// the request every second, because the other server drops a request for a run that it has recorded but not started. If
// the other server has stopped, the run ends as interrupted when its lease expires. Error: Conflict if the run ended by
// itself.
func (s *Service) cancelElsewhere(ctx context.Context, actor registry.Actor, id string) (registry.Run, error) {
	stored, end := s.awaitStored(id)
	defer end()
	s.signal(ctx, SignalFollow, id)
	var asked time.Time
	for began := time.Now(); time.Since(began) < cancelWithin; {
		if time.Since(asked) >= lookEvery {
			asked = time.Now()
			if err := s.Others.AskToCancel(ctx, actor.Workspace, id); err != nil {
				return registry.Run{}, err
			}
		}
		run, _, err := s.ended(ctx, actor, id)
		switch {
		case err != nil:
			return registry.Run{}, err
		case s.elsewhere(run):
			if s.continues(ctx, id) { // if its server has stopped, any server may end the run, also one without its runtime
				if cancelled, err := s.cancelContinued(ctx, actor, id); !fault.Is(err, fault.Conflict) {
					return cancelled, err
				}
			}
		case unfinished(run): // The other server has stopped, and this server continues the run.
			return s.Cancel(ctx, actor, id)
		case run.Status == registry.StatusCancelled || run.Status == registry.StatusInterrupted:
			return run, nil
		default:
			return registry.Run{}, endedAlready(run)
		}
		if err := pause(ctx, lookEvery, stored); err != nil {
			return registry.Run{}, err
		}
	}
	return registry.Run{}, fault.New(fault.RuntimeUnavailable, "The server that executes the run did not cancel it within %s. The run continues; try again.", cancelWithin)
}

// CancelForOthers cancels those runs on this server for which other servers have requested a cancellation.
func (s *Service) CancelForOthers(ctx context.Context) error {
	if s.Live() == 0 {
		return nil
	}
	ids, err := s.Others.TakeCancellations(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		if l := s.live[id]; l != nil {
			l.cancel(errCancelled)
		}
	}
	return err
}

// Signalled handles a signal from another server.
func (s *Service) Signalled(kind, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch l := s.live[id]; {
	case kind == SignalFollow && l != nil:
		l.followed.Store(time.Now().Add(followedFor).UnixNano())
	case kind == SignalEvents:
		for _, stored := range s.waiting[id] {
			select {
			case stored <- struct{}{}:
			default: // A signal is already pending.
			}
		}
	}
}

// awaitStored returns a channel that receives a value when another server has stored events of a run. The caller must
// call end to unregister the channel.
func (s *Service) awaitStored(id string) (stored chan struct{}, end func()) {
	stored = make(chan struct{}, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting[id] = append(s.waiting[id], stored)
	return stored, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.waiting[id] = slices.DeleteFunc(s.waiting[id], func(one chan struct{}) bool { return one == stored })
		if len(s.waiting[id]) == 0 {
			delete(s.waiting, id)
		}
	}
}

func (s *Service) signal(ctx context.Context, kind, id string) {
	if err := s.Others.Signal(ctx, kind, id); err != nil && ctx.Err() == nil {
		s.Log.LogAttrs(ctx, slog.LevelWarn, "notify other servers", slog.Any("error", err)) // Without the signal, the other servers read the record after lookEvery.
	}
}

// isFollowed reports whether another server follows the run.
func (l *execution) isFollowed() bool { return time.Now().UnixNano() < l.followed.Load() }

func (l *execution) flushInterval() time.Duration {
	if l.isFollowed() {
		return flushFollowed
	}
	return flushEvery
}

// tellOthers notifies the servers that follow the run. It is called after events or the end of the run were stored.
func (l *execution) tellOthers(ctx context.Context) {
	if l.service.Others != nil && l.isFollowed() {
		l.service.signal(ctx, SignalEvents, l.job.RunID)
	}
}

// await waits until a run that another server executes may have new events. When the record of the run is final, all
// events are stored, so await sets waits to false.
func (f *Follower) await(ctx context.Context) error {
	stored, end := f.service.awaitStored(f.run.ID)
	defer end()
	if time.Since(f.notified) >= followEvery {
		f.notified = time.Now()
		f.service.signal(ctx, SignalFollow, f.run.ID)
	}
	// Read the record now, because events may have been stored after the last read and before this reader registered for
	// signals.
	run, bytes, err := f.service.ended(ctx, registry.Actor{Workspace: f.run.Workspace}, f.run.ID)
	if err != nil {
		return err
	}
	f.exhausted = false
	if l := f.service.find(registry.Actor{Workspace: f.run.Workspace}, f.run.ID); l != nil { // The other server has stopped, and this server continues the run.
		f.recording = l.recording
		return nil
	}
	if !f.service.elsewhere(run) && unfinished(run) { // This server is about to continue the run.
		return pause(ctx, lookEvery, stored)
	}
	if !f.service.elsewhere(run) {
		f.run, f.bytes, f.waits = run, bytes, false
		return nil
	}
	if found, err := f.lookAgain(ctx); found || err != nil {
		return err
	}
	return pause(ctx, lookEvery, stored)
}

// lookAgain reads the next page of stored events and reports whether the page has any events.
func (f *Follower) lookAgain(ctx context.Context) (bool, error) {
	events, err := f.service.Archive.Events(ctx, f.run.Workspace, f.run.ID, f.seq, f.page)
	f.stored = events
	return len(events) > 0, err
}

// pause waits for a duration or a signal, whichever comes first.
func pause(ctx context.Context, d time.Duration, signal <-chan struct{}) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-signal:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
