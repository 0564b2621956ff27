package runs

import (
	"context"
	"io"
	"time"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/recorder"
)

// A page of stored events has between leastPage and mostPage events. If a page is smaller than smallPage bytes, the
// next page has more events. This way, small events need few queries, and large events need little memory.
const (
	leastPage = 32
	mostPage  = 500
	smallPage = 32 << 10 // bytes
	// followBytes is the memory in bytes that is reserved for a reader of stored events.
	followBytes = 512 << 10
)

// Events returns a reader of those events of the run that exist now and have a seq greater than from. It does not wait
// for later events. If the run has ended, the result event is included. If the run is about to report its result, the
// reader waits for the result.
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

// Follower reads a run's events one by one, from the live run or from the stored events. It is not safe for concurrent
// use.
type Follower struct {
	service   *Service
	recording *recorder.Recording // nil if the run is not live on this server
	run       registry.Run        // summary of the run if the run is not live on this server
	waits     bool                // whether another server executes the run and the reader waits for the run's end
	notified  time.Time           // when this server last signalled that it follows the run
	bytes     int64               // size in bytes of the fields that the summary omits
	from      int64               // seq with which the reader started
	seq       int64               // seq of the last event that was read
	bounded   bool                // whether until is the last event to read
	until     int64
	stored    []runtimes.Event
	page      int // maximum number of events to read with the next query
	exhausted bool
	ended     bool
}

// Follow returns a reader of the run's events with a seq greater than from. It waits for later events until the run
// ends.
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

// Next waits for the next event. After the last event it returns io.EOF. A run that has not ended has no result event.
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

// result rebuilds the result event from the stored run, because the result event is not stored.
func (f *Follower) result(ctx context.Context) (runtimes.Event, error) {
	seq := f.resultSeq()
	if f.seq >= seq { // The reader has already received the result.
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

// resultSeq returns the seq of the result event. A reader may have started at a higher seq, because it has read events
// that were never stored. Such a reader gets the result with the highest possible seq.
func (f *Follower) resultSeq() int64 {
	if f.run.ResultSeq == 0 || f.from > f.run.ResultSeq {
		return registry.LastSeq
	}
	return f.run.ResultSeq
}
