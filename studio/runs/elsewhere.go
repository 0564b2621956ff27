package runs

import (
	"context"
	"time"

	"github.com/atelier-run/atelier/registry"
)

// lookEvery is the interval at which the record of a run that another server executes is read.
const lookEvery = 250 * time.Millisecond

// elsewhere reports whether another server executes a run that is not live here. A server that has ended is removed
// when its lease expires, and its runs become interrupted in their records.
func (s *Service) elsewhere(run registry.Run) bool {
	return s.Others != nil && unfinished(run) && run.Server != s.Server
}

// lost reports whether a run that is not live here has ended without a record.
func (s *Service) lost(run registry.Run) bool { return unfinished(run) && !s.elsewhere(run) }

// cancelElsewhere asks the server that executes a run to cancel it, and waits until the run has ended. If that server is
// gone, the run ends as interrupted when its lease expires.
func (s *Service) cancelElsewhere(ctx context.Context, actor registry.Actor, id string) (registry.Run, error) {
	if err := s.Others.AskToCancel(ctx, actor.Workspace, id); err != nil {
		return registry.Run{}, err
	}
	for {
		run, _, err := s.ended(ctx, actor, id)
		if err != nil || !s.elsewhere(run) {
			return run, err
		}
		if err := pause(ctx, lookEvery); err != nil {
			return registry.Run{}, err
		}
	}
}

// CancelForOthers cancels the runs that other servers asked this one to cancel.
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

// await waits until there may be further events of a run that another server executes. The reader stops waiting when the
// record is final: then all events are stored.
func (f *Follower) await(ctx context.Context) error {
	run, bytes, err := f.service.ended(ctx, registry.Actor{Workspace: f.run.Workspace}, f.run.ID)
	if err != nil {
		return err
	}
	f.exhausted = false
	if !f.service.elsewhere(run) {
		f.run, f.bytes, f.waits = run, bytes, false
		return nil
	}
	return pause(ctx, lookEvery)
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
