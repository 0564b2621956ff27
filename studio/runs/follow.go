package runs

import (
	"context"
	"io"
	"time"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/recorder"
)

// A page of stored events has between leastPage and mostPage events. The next page is larger if this one was small, so
// that many small events need few queries and large events little memory.
const (
	leastPage = 32
	mostPage  = 500
	smallPage = 32 << 10 // bytes
	// followBytes is the memory of a reader of stored events.
	followBytes = 512 << 10
)

// Events returns a reader of a run's events after seq from that does not wait for further ones. The result is one of
// them if the run has ended. If the run is about to report its result, the reader waits for it.
func (s *Service) Events(ctx context.Context, actor registry.Actor, id string, from int64) (*Follower, error) {
	l := s.find(actor, id)
	live := l != nil && !l.snapshot().Status.Final()
	f, err := s.Follow(ctx, actor, id, from)
	if err == nil {
		f.waits = false
	}
	if err == nil && live && f.recording != nil {
		f.until = l.recording.Last()
		f.bounded = true
	}
	return f, err
}

// Follower reads a run's events one by one, live or stored. It is not safe for concurrent use.
type Follower struct {
	service   *Service
	recording *recorder.Recording // nil if the run is not live here
	run       registry.Run        // summary of the run, if it is not live here
	waits     bool                // another server executes the run, and the reader waits for its end
	notified  time.Time           // when this server last notified the other that it follows the run
	bytes     int64               // size of the parts that the summary lacks
	from      int64               // first position of the reader
	seq       int64               // last event that the reader has received
	bounded   bool                // until is the last event to read
	until     int64
	stored    []runtimes.Event
	page      int // number of events to read next
	exhausted bool
	ended     bool
}

// Follow returns a reader of a run's events after seq from.
func (s *Service) Follow(ctx context.Context, actor registry.Actor, id string, from int64) (*Follower, error) {
	f := &Follower{service: s, from: max(from, 0), seq: max(from, 0), page: leastPage}
	l := s.find(actor, id)
	if l == nil {
		l = s.justEnded(actor, id)
	}
	if l != nil {
		f.recording = l.recording
		return f, l.mayFollow(actor)
	}
	var err error
	if f.run, f.bytes, err = s.ended(ctx, actor, id); err != nil {
		return nil, err
	}
	f.waits = s.elsewhere(f.run)
	return f, reserve(ctx, followBytes)
}

// Next waits for the next event. After the last one it returns io.EOF. A run that is not final has no result event.
func (f *Follower) Next(ctx context.Context) (runtimes.Event, error) {
	if f.recording != nil {
		if f.bounded && f.seq >= f.until {
			return runtimes.Event{}, io.EOF
		}
		e, err := f.recording.Next(ctx, f.seq)
		if err == nil {
			f.seq = e.Seq
		}
		return e, err
	}
	for f.recording == nil {
		e, ok, err := f.nextStored(ctx)
		if err != nil || ok {
			return e, err
		}
		if !f.waits {
			break
		}
		if err := f.await(ctx); err != nil {
			return runtimes.Event{}, err
		}
	}
	if f.recording != nil {
		return f.Next(ctx)
	}
	if f.ended || !f.run.Status.Final() {
		return runtimes.Event{}, io.EOF
	}
	return f.result(ctx)
}

func (f *Follower) nextStored(ctx context.Context) (runtimes.Event, bool, error) {
	if len(f.stored) == 0 && !f.exhausted {
		events, err := f.service.Archive.Events(ctx, f.run.Workspace, f.run.ID, f.seq, f.page)
		if err != nil {
			return runtimes.Event{}, false, err
		}
		f.stored, f.exhausted = events, len(events) == 0
		if bytesOf(events) < smallPage {
			f.page = min(2*f.page, mostPage)
		} else {
			f.page = leastPage
		}
	}
	if len(f.stored) == 0 {
		return runtimes.Event{}, false, nil
	}
	e := f.stored[0]
	f.stored, f.seq = f.stored[1:], e.Seq
	return e, true, nil
}

// result rebuilds the last event from the stored run, because it is not stored separately.
func (f *Follower) result(ctx context.Context) (runtimes.Event, error) {
	seq := f.resultSeq()
	if f.seq >= seq { // the reader has already received the result
		f.ended = true
		return runtimes.Event{}, io.EOF
	}
	run, err := f.service.whole(ctx, f.run.Workspace, f.run.ID, f.bytes)
	if err != nil {
		return runtimes.Event{}, err
	}
	f.ended = true
	raw, err := encode(AnswerOf(run))
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
