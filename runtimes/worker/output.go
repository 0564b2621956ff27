package worker

import (
	"bytes"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/frames"
)

// window is the time that output may wait for more of its kind. The first bytes after a pause never wait.
const window = 4 * time.Millisecond

// maxTurns is the number of switches between stdout and stderr within a window that keep their exact order.
const maxTurns = 4096

// output turns a worker's bytes into events: bounded, coalesced, and cut at the ends of characters. A program that
// writes byte by byte makes at most one event per window and kind, plus maxTurns to keep the order. So time and bytes
// bound the number of events.
type output struct {
	host  runtimes.Host
	limit int64
	tap   func(frames.Kind, []byte)
	mark  []byte // start of the last words of an interpreter

	mu      sync.Mutex // the timer flushes from its own goroutine
	held    []byte     // stderr from the last words on, nil before
	taken   int64
	dropped int64
	streams [2]stream
	current int // index of the stream that was written last
	turns   int // events made early because the other stream was written
	last    time.Time
	timer   *time.Timer
	closed  bool
}

// stream is stdout or stderr. It holds bytes that are not yet an event, at least those of an unfinished character.
type stream struct {
	kind runtimes.Kind
	buf  []byte
}

func newOutput(host runtimes.Host, limit int64, tap func(frames.Kind, []byte), mark string) *output {
	return &output{host: host, limit: limit, tap: tap, mark: []byte(mark), streams: [2]stream{{kind: runtimes.KindStdout}, {kind: runtimes.KindStderr}}}
}

// write accepts bytes of one stream and reports whether they are within the limit. Bytes over the limit are counted and
// dropped.
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

// maxHeld bounds the last words. An interpreter that prints more is alive.
const maxHeld = 32 << 10

// hold keeps the last words back and returns the bytes before them. If they were no last words, it returns all of them.
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

// put adds bytes to their stream.
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

// drop counts bytes that exceed a limit of another kind.
func (o *output) drop(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.dropped += int64(n)
}

// sync makes events of all output so far, so that the next event of another kind keeps its place.
func (o *output) sync() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.flushAll(false)
}

// close makes events of the remaining output, reports the number of dropped bytes, and ignores all later output. The
// outcome holds the last words of an interpreter that died.
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

// arm starts the timer that flushes at the end of the window. A late timer has no effect.
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

// flushAll emits all waiting output, with the most recently written stream last.
func (o *output) flushAll(final bool) {
	o.flush(&o.streams[1-o.current], final)
	o.flush(&o.streams[o.current], final)
}

// flush emits the bytes of a stream. It keeps those of an unfinished character at the end, unless final is set.
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

// chunk returns how many bytes of valid UTF-8 fit into one event.
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
