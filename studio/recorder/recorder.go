// Package recorder orders, limits and publishes the events of a run. While a run is live, its Recording is the only
// list of all its events. Each reader has its own position in the list, so a slow reader neither delays the run nor
// misses events. The owner of the run stores the events that Drain returns.
package recorder

import (
	"context"
	"encoding/json"
	"io"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/atelier-run/atelier/internal/redact"
	"github.com/atelier-run/atelier/runtimes"
)

const (
	// TailBytes is the maximum number of bytes of stdout, and of stderr, in the answer of a run.
	TailBytes = 64 << 10
	// eager is the number of events that are published immediately. After that, output is collected for up to gatherFor
	// and published in chunks of up to runtimes.MaxChunk. Otherwise a program that prints byte by byte would create a very
	// long list.
	eager     = 4096
	gatherFor = 100 * time.Millisecond
)

// Recording holds the events of one live run. It is safe for concurrent use.
type Recording struct {
	now      func() time.Time
	redactor *redact.Redactor // nil if the run has no secrets

	mu          sync.Mutex
	events      []runtimes.Event
	stored      int // number of events at the start of the list that were returned for storing
	changed     chan struct{}
	sealed      bool // whether only the result event may follow
	closed      bool
	result      func() json.RawMessage // function that builds the data of the last event when it is first read
	gathered    []byte                 // output that is not part of an event yet
	gatherAs    runtimes.Kind
	gatherAt    time.Time
	timer       *time.Timer
	stdout      tail
	stderr      tail
	outRedactor *redact.Stream
	errRedactor *redact.Stream
	truncated   bool
	again       repeated
}

// repeated counts the output and the calls of a job that are already among the events. The recording ignores them when
// the job emits them again. This happens if a server follows a job again from its start.
type repeated struct {
	stdout, stderr int // number of bytes of each stream
	calls          int // number of calls of log and progress
}

// New returns an empty recording. It redacts events and output before anyone can read them. If the end of a piece of
// output may be the start of a secret, this end is published only with the next piece.
func New(now func() time.Time, m *redact.Redactor) *Recording {
	return &Recording{now: now, redactor: m, outRedactor: m.Stream(), errRedactor: m.Stream(), changed: make(chan struct{})}
}

// Resume returns a recording that starts with the stored events of a run. If repeats is true, the job emits all its
// output again, and the recording ignores the part that is among the stored events.
func Resume(now func() time.Time, m *redact.Redactor, stored []runtimes.Event, repeats bool) *Recording {
	r := New(now, m)
	r.events, r.stored = stored, len(stored)
	for _, e := range stored {
		var text string
		switch e.Kind {
		case runtimes.KindStdout:
			_ = json.Unmarshal(e.Data, &text) // Unmarshal cannot fail: this package wrote the data.
			r.again.stdout += len(text)
			r.truncated = r.stdout.add(text) || r.truncated
		case runtimes.KindStderr:
			_ = json.Unmarshal(e.Data, &text)
			r.again.stderr += len(text)
			r.truncated = r.stderr.add(text) || r.truncated
		case runtimes.KindLog, runtimes.KindProgress:
			r.again.calls++
		case runtimes.KindDropped:
			r.truncated = true
		}
	}
	if !repeats {
		r.again = repeated{}
	}
	return r
}

// Emit numbers an event and publishes it.
func (r *Recording) Emit(e runtimes.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sealed || r.closed {
		return
	}
	if e.At.IsZero() {
		e.At = r.now()
	}
	if e.Kind == runtimes.KindStdout || e.Kind == runtimes.KindStderr {
		r.emitOutput(e)
		return
	}
	switch {
	case e.Kind == runtimes.KindDropped:
		r.truncated = true
	case r.again.calls > 0 && (e.Kind == runtimes.KindLog || e.Kind == runtimes.KindProgress):
		r.again.calls--
		return
	}
	r.flush()
	e.Data = r.redactor.JSON(e.Data)
	r.append(e)
}

func (r *Recording) emitOutput(e runtimes.Event) {
	var text string
	if json.Unmarshal(e.Data, &text) != nil {
		return
	}
	if r.redactor != nil {
		r.publish(e.Kind, e.At, r.redacted(e.Kind).Write(text))
		return
	}
	r.retain(e, text)
}

func (r *Recording) redacted(kind runtimes.Kind) *redact.Stream {
	if kind == runtimes.KindStdout {
		return r.outRedactor
	}
	return r.errRedactor
}

// publish creates events from redacted output. The output may include text that an earlier call did not publish.
func (r *Recording) publish(kind runtimes.Kind, at time.Time, text string) {
	for len(text) > 0 {
		end := len(text)
		if end > runtimes.MaxChunk {
			end = runtimes.MaxChunk
			for end > 0 && !utf8.RuneStart(text[end]) {
				end--
			}
		}
		e := runtimes.Text(kind, text[:end])
		e.At = at
		r.retain(e, text[:end])
		text = text[end:]
	}
}

// EndOutput publishes the rest of the output that was not published because it might be the start of a secret. It is no
// secret, because no further output follows.
func (r *Recording) EndOutput() {
	if r.redactor == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, kind := range []runtimes.Kind{runtimes.KindStdout, runtimes.KindStderr} {
		r.publish(kind, r.now(), r.redacted(kind).End())
	}
}

// retain appends output to its tail and to the events.
func (r *Recording) retain(e runtimes.Event, text string) {
	if known := r.known(e.Kind, len(text)); known > 0 {
		if text = text[known:]; text == "" {
			return
		}
		at := e.At
		e = runtimes.Text(e.Kind, text)
		e.At = at
	}
	if e.Kind == runtimes.KindStdout {
		r.truncated = r.stdout.add(text) || r.truncated
	} else {
		r.truncated = r.stderr.add(text) || r.truncated
	}
	if len(r.events) < eager {
		r.append(e)
		return
	}
	if r.gatherAs != e.Kind || len(r.gathered)+len(text) > runtimes.MaxChunk {
		r.flush()
	}
	if len(r.gathered) == 0 {
		r.gatherAs, r.gatherAt = e.Kind, e.At
		r.timer = time.AfterFunc(gatherFor, func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.flush()
		})
	}
	r.gathered = append(r.gathered, text...)
}

// known returns the number of bytes at the start of a piece of output that are already among the events.
func (r *Recording) known(kind runtimes.Kind, size int) int {
	left := &r.again.stdout
	if kind == runtimes.KindStderr {
		left = &r.again.stderr
	}
	n := min(*left, size)
	*left -= n
	return n
}

// flush makes an event from the collected output.
func (r *Recording) flush() {
	if len(r.gathered) == 0 {
		return
	}
	r.timer.Stop()
	e := runtimes.Text(r.gatherAs, string(r.gathered))
	e.At = r.gatherAt
	r.gathered = r.gathered[:0]
	r.append(e)
}

func (r *Recording) append(e runtimes.Event) {
	e.Seq = int64(len(r.events)) + 1
	r.events = append(r.events, e)
	close(r.changed)
	r.changed = make(chan struct{})
}

// Close publishes the last event and ends the recording. Later events are ignored. The data of the last event is built
// only when a reader reads it, because most runs have no reader then.
func (r *Recording) Close(kind runtimes.Kind, data func() json.RawMessage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	r.flush()
	r.closed, r.result = true, data
	r.append(runtimes.Event{Kind: kind, At: r.now()})
}

// complete builds the data of the last event for a reader. The caller must hold the lock.
func (r *Recording) complete() {
	if r.result != nil {
		r.events[len(r.events)-1].Data = r.result()
		r.result = nil
	}
}

// Drain returns the events that it has not returned before, so that the caller can store them. They include output that
// is still being collected.
func (r *Recording) Drain() []runtimes.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.drain()
}

func (r *Recording) drain() []runtimes.Event {
	r.flush()
	r.complete()
	events := r.events[r.stored:len(r.events):len(r.events)]
	r.stored = len(r.events)
	return events
}

// Seal ends the recording except for its result. It returns the events that Drain has not returned yet. Later events
// are ignored, so that the seq of the result is known before the result is published.
func (r *Recording) Seal() []runtimes.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sealed = true
	return r.drain()
}

// ResultSeq returns the seq of the result event. The caller must have called Seal before.
func (r *Recording) ResultSeq() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return int64(len(r.events)) + 1
}

// Output returns the last 64 KiB of stdout and of stderr, and whether a part of the output is missing.
func (r *Recording) Output() (stdout, stderr string, truncated bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stdout.text(), r.stderr.text(), r.truncated
}

// Next returns the first event after seq. If there is none yet, Next waits for one. After the last event of a closed
// recording it returns io.EOF.
func (r *Recording) Next(ctx context.Context, seq int64) (runtimes.Event, error) {
	for {
		r.mu.Lock()
		if seq < int64(len(r.events)) {
			r.complete()
			e := r.events[max(seq, 0)]
			r.mu.Unlock()
			return e, nil
		}
		closed, changed := r.closed, r.changed
		r.mu.Unlock()
		if closed {
			return runtimes.Event{}, io.EOF
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return runtimes.Event{}, context.Cause(ctx)
		}
	}
}

// Bytes returns the size of the events that Drain has not returned yet.
func (r *Recording) Bytes() (total int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.events[r.stored:] {
		total += int64(len(r.events[r.stored+i].Data))
	}
	return total
}

// Last returns the seq of the last event so far.
func (r *Recording) Last() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return int64(len(r.events))
}

// tail stores the last TailBytes bytes of a stream.
type tail struct{ buf []byte }

// add appends text to the tail and reports whether older text was dropped.
func (t *tail) add(text string) bool {
	t.buf = append(t.buf, text...)
	if len(t.buf) <= TailBytes {
		return false
	}
	if len(t.buf) > 4*TailBytes {
		t.buf = append(t.buf[:0:0], t.buf[len(t.buf)-TailBytes:]...)
	}
	return true
}

// text returns the tail as valid UTF-8. It starts at the boundary of a character.
func (t *tail) text() string {
	b := t.buf
	if len(b) > TailBytes {
		b = b[len(b)-TailBytes:]
		for len(b) > 0 && !utf8.RuneStart(b[0]) {
			b = b[1:]
		}
	}
	return string(b)
}
