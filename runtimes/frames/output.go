package frames

import (
	"sync"
	"time"
)

const (
	chunkBytes = 32 << 10               // of stdout or stderr in one frame
	chunkDelay = 500 * time.Microsecond // that a printed line may wait for others
)

// Output sends what a program prints. A line that comes alone goes at once, so that it is not lost when the process dies
// with the next instruction; lines that come in a burst share a frame. None waits longer than chunkDelay, and stdout and
// stderr keep their order.
type Output struct {
	frames *Writer

	mu      sync.Mutex
	kind    Kind
	pending []byte
	alarm   *time.Timer
	sent    time.Time // when something was sent last
	closed  bool
}

// NewOutput returns an output over w. It is safe for concurrent use.
func NewOutput(w *Writer) *Output { return &Output{frames: w} }

// Write sends text, or keeps it for a moment.
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

// arm sees to it that what is pending is sent soon, even if the program computes for long.
func (o *Output) arm() {
	if o.alarm == nil {
		o.alarm = time.AfterFunc(chunkDelay, o.Flush)
		return
	}
	o.alarm.Reset(chunkDelay)
}

// Flush sends what was kept.
func (o *Output) Flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.send()
}

// send needs the lock. A connection that failed is noticed by whoever reads from it.
func (o *Output) send() {
	if len(o.pending) == 0 || o.closed {
		return
	}
	_ = o.frames.Write(o.kind, o.pending)
	o.pending, o.sent = o.pending[:0], time.Now()
}

// Close sends what was kept; what is written afterwards is lost.
func (o *Output) Close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.alarm != nil {
		o.alarm.Stop()
	}
	o.send()
	o.closed = true
}
