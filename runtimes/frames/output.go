package frames

import (
	"sync"
	"time"
)

const (
	chunkBytes = 32 << 10               // maximum size of stdout or stderr in one frame
	chunkDelay = 500 * time.Microsecond // maximum time for which printed text waits to be sent together with later text
)

// Output sends a program's output. It sends a single line at once, so that the line is not lost if the process dies
// immediately afterwards. Lines that follow in quick succession share a frame. No line waits longer than chunkDelay.
// The order of stdout and stderr is preserved.
type Output struct {
	frames *Writer

	mu      sync.Mutex
	kind    Kind
	pending []byte
	alarm   *time.Timer
	sent    time.Time // time of the last write
	closed  bool
}

// NewOutput returns an output over w. It is safe for concurrent use.
func NewOutput(w *Writer) *Output { return &Output{frames: w} }

// Write sends text at once, or within chunkDelay together with later text.
func (o *Output) Write(kind Kind, text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if kind != o.kind {
		o.send()
		o.kind = kind
	}
	alone := len(o.pending) == 0 && time.Since(o.sent) > chunkDelay
	for len(text) > 0 {
		if len(o.pending) == 0 && !alone {
			o.arm()
		}
		n := min(len(text), chunkBytes-len(o.pending))
		o.pending = append(o.pending, text[:n]...)
		text = text[n:]
		if len(o.pending) == chunkBytes {
			o.send()
		}
	}
	if alone {
		o.send()
	}
}

// arm starts the timer that sends pending text, even if the program prints nothing more.
func (o *Output) arm() {
	if o.alarm == nil {
		o.alarm = time.AfterFunc(chunkDelay, o.Flush)
		return
	}
	o.alarm.Reset(chunkDelay)
}

// Flush sends the pending text.
func (o *Output) Flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.send()
}

// send sends the pending text. The caller must hold o.mu. It ignores write errors, because the goroutine that reads
// from the connection detects a failed connection.
func (o *Output) send() {
	if len(o.pending) == 0 || o.closed {
		return
	}
	_ = o.frames.Write(o.kind, o.pending)
	o.pending, o.sent = o.pending[:0], time.Now()
}

// Close sends the pending text. Later writes are dropped.
func (o *Output) Close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.alarm != nil {
		o.alarm.Stop()
	}
	o.send()
	o.closed = true
}
