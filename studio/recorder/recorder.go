// Package recorder orders, limits and publishes the events of a run. A run's Recording is the only list of its events
// while it is live. Readers follow it with their own cursors, so a slow reader neither delays the run nor misses
// events. The run's owner stores events that are not stored yet.
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
	// TailBytes is the number of bytes of stdout and of stderr in an answer.
	TailBytes = 64 << 10
	// eager is the number of events that are published immediately. Later output is collected into chunks of up to
	// runtimes.MaxChunk for at most gatherFor. So a program that prints byte by byte cannot grow the list without
	// limit.
	eager     = 4096
	gatherFor = 100 * time.Millisecond
)

// Recording holds the events of one live run. It is safe for concurrent use.
type Recording struct {
	now      func() time.Time
	redactor *redact.Redactor // nil for a run without secrets

	mu          sync.Mutex
	events      []runtimes.Event
	stored      int // events[:stored] were returned for storing
	changed     chan struct{}
	sealed      bool // only the result may follow
	closed      bool
	result      func() json.RawMessage // builds the data of the last event when it is first read
	gathered    []byte                 // output that waits to become an event
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

// repeated counts the output and calls of a job that a server follows again from its beginning, as far as they are already
// among the events.
type repeated struct {
	stdout, stderr int // bytes
	calls          int // of log and progress
}

// New returns an empty recording. It redacts events and output before anyone can read them. A piece of output that may
// be the beginning of a secret is held back until the next piece.
func New(now func() time.Time, m *redact.Redactor) *Recording {
	return &Recording{now: now, redactor: m, outRedactor: m.Stream(), errRedactor: m.Stream(), changed: make(chan struct{})}
}

// Resume returns a recording that continues with the stored events of a run. repeats says that its job prints everything
// again, which is then left out.
func Resume(now func() time.Time, m *redact.Redactor, stored []runtimes.Event, repeats bool) *Recording {
	r := New(now, m)
	r.events, r.stored = stored, len(stored)
	for _, e := range stored {
		var text string
		switch e.Kind {
		case runtimes.KindStdout:
			_ = json.Unmarshal(e.Data, &text) // written by this package
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

// publish creates events from redacted output, including output that was held back.
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

// EndOutput ends the output. Output that was held back is published, because it contains no secret.
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

// known returns how many bytes at the start of a piece of output are already among the events.
func (r *Recording) known(kind runtimes.Kind, size int) int {
	left := &r.again.stdout
	if kind == runtimes.KindStderr {
		left = &r.again.stderr
	}
	n := min(*left, size)
	*left -= n
	return n
}

// flush converts collected output to an event.
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

// Close publishes the last event and ends the recording. It ignores later events. The data of the last event is built
// only when it is read, because most runs have no reader by then.
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

// complete fills in the last event for a reader. The caller must hold the lock.
func (r *Recording) complete() {
	if r.result != nil {
		r.events[len(r.events)-1].Data = r.result()
		r.result = nil
	}
}

// Drain returns the events that were not returned before, for storing. It includes output that is still being
// collected.
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

// Seal ends the recording except for its result, and returns the events that were not returned before. It ignores later
// events, so that the seq of the result is known before it is published.
func (r *Recording) Seal() []runtimes.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sealed = true
	return r.drain()
}

// ResultSeq returns the seq of the result after Seal.
func (r *Recording) ResultSeq() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return int64(len(r.events)) + 1
}

// Output returns the last 64 KiB of stdout and of stderr, and whether output is missing.
func (r *Recording) Output() (stdout, stderr string, truncated bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stdout.text(), r.stderr.text(), r.truncated
}

// Next returns the first event after seq and waits for it if necessary. After the last event of a closed recording it
// returns io.EOF.
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

// Bytes returns the size of the events that were not returned for storing.
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

// tail keeps the last TailBytes of a stream.
type tail struct{ buf []byte }

// add appends text and reports whether older text was dropped.
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

// text returns the tail, cut at a UTF-8 boundary.
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
