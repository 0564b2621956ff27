package frames

import (
	"sync"
	"time"
)

const (
	chunkBytes = 32 << 10               // largest part of stdout or stderr in one frame
	chunkDelay = 500 * time.Microsecond // time that a printed line may wait for others
)

// Output sends a program's output. A single line is sent at once, so that it is not lost if the process dies at the
// next instruction. Lines in a burst share a frame. No line waits longer than chunkDelay, and stdout and stderr keep
// their order.
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

// Write sends text, or keeps it for a short time.
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

// arm ensures that pending text is sent soon, even if the program computes for long.
func (o *Output) arm() {
	if o.alarm == nil {
		o.alarm = time.AfterFunc(chunkDelay, o.Flush)
		return
	}
	o.alarm.Reset(chunkDelay)
}

// Flush sends the kept text.
func (o *Output) Flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.send()
}

// send sends the kept text. The caller holds the lock. The reader of a failed connection notices the failure.
func (o *Output) send() {
	if len(o.pending) == 0 || o.closed {
		return
	}
	_ = o.frames.Write(o.kind, o.pending)
	o.pending, o.sent = o.pending[:0], time.Now()
}

// Close sends the kept text; later writes are dropped.
func (o *Output) Close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.alarm != nil {
		o.alarm.Stop()
	}
	o.send()
	o.closed = true
}
