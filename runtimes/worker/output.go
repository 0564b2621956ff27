package worker

import (
	"bytes"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/frames"
)

// window is the maximum time for which output is buffered. Buffered output is joined with later output of the same
// stream. The first output after a pause is not buffered.
const window = 4 * time.Millisecond

// maxTurns is the number of switches between stdout and stderr for which the exact order of the output is preserved.
// After that the order may change.
const maxTurns = 4096

// output turns a worker's output into events. It enforces the output limit, joins small writes, and never splits a UTF-8
// character. A program that writes single bytes causes at most one event per window and stream, plus maxTurns events that
// preserve the order. So the number of events is limited by the time and the number of bytes.
type output struct {
	host  runtimes.Host
	limit int64
	tap   func(frames.Kind, []byte)
	mark  []byte // start of the message that an interpreter writes to stderr when it aborts

	mu      sync.Mutex // protects the fields below, because the timer flushes in its own goroutine
	held    []byte     // stderr from the mark on; nil if the mark was not found
	taken   int64
	dropped int64
	streams [2]stream
	current int // index of the stream that was written last
	turns   int // number of events that were emitted early because the program wrote to the other stream
	last    time.Time
	timer   *time.Timer
	closed  bool
}

// stream is stdout or stderr. buf contains the bytes that are not yet part of an event.
type stream struct {
	kind runtimes.Kind
	buf  []byte
}

func newOutput(host runtimes.Host, limit int64, tap func(frames.Kind, []byte), mark string) *output {
	return &output{host: host, limit: limit, tap: tap, mark: []byte(mark), streams: [2]stream{{kind: runtimes.KindStdout}, {kind: runtimes.KindStderr}}}
}

// write appends bytes to a stream and reports whether the output is within its limit. Bytes over the limit are dropped and
// counted.
func (o *output) write(kind frames.Kind, p []byte) (within bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	within = true
	if room := o.limit - o.taken; int64(len(p)) > room {
		o.dropped += int64(len(p)) - room
		p, within = p[:room], false
	}
	o.taken += int64(len(p))
	if o.tap != nil && len(p) > 0 {
		o.tap(kind, p)
	}
	if kind == frames.Stderr && len(o.mark) > 0 {
		p = o.hold(p)
	}
	if len(p) > 0 {
		o.put(kind, p)
	}
	return within
}

// maxHeld is the maximum size of an interpreter's abort message. An interpreter that prints more has not aborted.
const maxHeld = 32 << 10

// hold returns the part of stderr that may be shown. It retains everything from the mark on. If the retained text
// exceeds maxHeld, it is not an abort message, and hold returns all of it.
func (o *output) hold(p []byte) (shown []byte) {
	if o.held == nil {
		at := bytes.Index(p, o.mark)
		if at < 0 {
			return p
		}
		p, shown = p[at:], p[:at]
	}
	o.held = append(o.held, p...)
	if len(o.held) > maxHeld {
		shown, o.held, o.mark = append(bytes.Clone(shown), o.held...), nil, nil
	}
	return shown
}

// put adds bytes to the buffer of their stream. If the order must be preserved, it first emits the other stream's
// output.
func (o *output) put(kind frames.Kind, p []byte) {
	turn := 0
	if kind == frames.Stderr {
		turn = 1
	}
	if o.current != turn && o.turns < maxTurns {
		o.turns++
		o.flushAll(false)
	}
	o.current = turn
	s := &o.streams[turn]
	s.buf = append(s.buf, p...)
	if len(s.buf) >= runtimes.MaxChunk || time.Since(o.last) >= window {
		o.flushAll(false)
	} else {
		o.arm()
	}
}

// drop adds n to the number of dropped bytes. It is for bytes that were not passed to write.
func (o *output) drop(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.dropped += int64(n)
}

// sync emits all buffered output. An event that the caller emits afterwards thus follows all earlier output.
func (o *output) sync() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.flushAll(false)
}

// close emits the remaining output and an event with the number of dropped bytes. Later output is ignored. If the
// interpreter died, its abort message is not emitted, because the outcome contains it.
func (o *output) close(died bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.held) > 0 && !died {
		o.put(frames.Stderr, o.held)
	}
	o.flushAll(true)
	if o.dropped > 0 {
		o.host.Emit(runtimes.Event{Kind: runtimes.KindDropped, Data: encode(runtimes.DroppedData{Bytes: o.dropped})})
	}
	o.closed = true
	if o.timer != nil {
		o.timer.Stop()
	}
}

// arm starts the timer that emits the buffered output at the end of the window.
func (o *output) arm() {
	wait := window - time.Since(o.last)
	if o.timer == nil {
		o.timer = time.AfterFunc(wait, func() {
			o.mu.Lock()
			defer o.mu.Unlock()
			if !o.closed {
				o.flushAll(false)
			}
		})
		return
	}
	o.timer.Reset(wait)
}

// flushAll emits the buffered output of both streams. The stream that was written last comes last.
func (o *output) flushAll(final bool) {
	o.flush(&o.streams[1-o.current], final)
	o.flush(&o.streams[o.current], final)
}

// flush emits the buffered bytes of a stream. If final is false, an incomplete character at the end stays buffered.
func (o *output) flush(s *stream, final bool) {
	end := len(s.buf)
	if !final {
		end -= unfinished(s.buf)
	}
	if end == 0 {
		return
	}
	text := bytes.ToValidUTF8(s.buf[:end], []byte("\uFFFD"))
	for len(text) > 0 {
		n := chunk(text)
		o.host.Emit(runtimes.Text(s.kind, string(text[:n])))
		text = text[n:]
	}
	s.buf = append(s.buf[:0], s.buf[end:]...)
	o.last = time.Now()
}

// chunk returns the number of bytes of text for one event: at most runtimes.MaxChunk, without splitting a character.
func chunk(text []byte) int {
	if len(text) <= runtimes.MaxChunk {
		return len(text)
	}
	n := runtimes.MaxChunk
	for !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}

// unfinished returns the number of bytes at the end of p that form an incomplete character.
func unfinished(p []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(p); n++ {
		if tail := p[len(p)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}
