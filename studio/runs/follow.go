package runs

import (
	"context"
	"io"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/recorder"
)

// page is the number of stored events that are read at once.
const page = 500

// Events returns the events of a run after seq from, including the result once the run has ended. If the run is about
// to report its result, Events waits for it.
func (s *Service) Events(ctx context.Context, actor registry.Actor, id string, from int64) ([]runtimes.Event, error) {
	if l := s.find(actor, id); l != nil && !l.snapshot().Status.Final() {
		return l.recording.Events(from), nil
	}
	f, err := s.Follow(ctx, actor, id, from)
	if err != nil {
		return nil, err
	}
	events := []runtimes.Event{}
	for {
		e, err := f.Next(ctx)
		if err == io.EOF {
			return events, nil
		}
		if err != nil {
			return nil, err
		}
		events = append(events, e)
	}
}

// Follower reads a run's events one by one, live or stored. It is not safe for concurrent use.
type Follower struct {
	service   *Service
	recording *recorder.Recording // nil if the run had already ended
	run       registry.Run        // the run, if it had already ended
	from      int64               // first position of the reader
	seq       int64               // last event that the reader has received
	stored    []runtimes.Event
	exhausted bool
	ended     bool
}

// Follow returns a reader of a run's events after seq from.
func (s *Service) Follow(ctx context.Context, actor registry.Actor, id string, from int64) (*Follower, error) {
	f := &Follower{service: s, from: max(from, 0), seq: max(from, 0)}
	if l := s.find(actor, id); l != nil {
		f.recording = l.recording
		return f, nil
	}
	run, err := s.ended(ctx, actor, id)
	f.run = run
	return f, err
}

// Next waits for the next event. After the result it returns io.EOF. A run that is not final has no result event.
func (f *Follower) Next(ctx context.Context) (runtimes.Event, error) {
	if f.recording != nil {
		e, err := f.recording.Next(ctx, f.seq)
		if err == nil {
			f.seq = e.Seq
		}
		return e, err
	}
	if e, ok, err := f.nextStored(ctx); err != nil || ok {
		return e, err
	}
	if f.ended || !f.run.Status.Final() {
		return runtimes.Event{}, io.EOF
	}
	return f.result()
}

func (f *Follower) nextStored(ctx context.Context) (runtimes.Event, bool, error) {
	if len(f.stored) == 0 && !f.exhausted {
		events, err := f.service.Archive.Events(ctx, f.run.Workspace, f.run.ID, f.seq, page)
		if err != nil {
			return runtimes.Event{}, false, err
		}
		f.stored, f.exhausted = events, len(events) < page
	}
	if len(f.stored) == 0 {
		return runtimes.Event{}, false, nil
	}
	e := f.stored[0]
	f.stored, f.seq = f.stored[1:], e.Seq
	return e, true, nil
}

// result rebuilds the last event from the stored run, because it is not stored separately.
func (f *Follower) result() (runtimes.Event, error) {
	f.ended = true
	seq := f.resultSeq()
	if f.seq >= seq { // the reader has already received the result
		return runtimes.Event{}, io.EOF
	}
	raw, err := encode(AnswerOf(f.run))
	if err != nil {
		return runtimes.Event{}, err
	}
	at := f.run.CreatedAt
	if f.run.FinishedAt != nil {
		at = *f.run.FinishedAt
	}
	return runtimes.Event{Seq: seq, At: at, Kind: runtimes.KindResult, Data: raw}, nil
}

// resultSeq returns the seq of the result. A reader that asks from a higher seq has received events that were never
// stored, but not this result. It gets the result with the highest seq.
func (f *Follower) resultSeq() int64 {
	if f.run.ResultSeq == 0 || f.from > f.run.ResultSeq {
		return registry.LastSeq
	}
	return f.run.ResultSeq
}
