package runtimetest

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/atelier-run/atelier/runtimes"
)

// Host records the events of a program. Calls of log and progress become events, as on the server. It denies all other
// host functions.
type Host struct {
	mu      sync.Mutex
	events  []runtimes.Event
	changed chan struct{} // closed and replaced after every event
}

// NewHost returns an empty host.
func NewHost() *Host { return &Host{changed: make(chan struct{})} }

// Emit implements runtimes.Host.
func (h *Host) Emit(e runtimes.Event) {
	e.Data = bytes.Clone(e.Data)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, e)
	close(h.changed)
	h.changed = make(chan struct{})
}

// Call implements runtimes.Host.
func (h *Host) Call(_ context.Context, name string, args json.RawMessage) (json.RawMessage, error) {
	switch name {
	case "log":
		h.Emit(runtimes.Event{Kind: runtimes.KindLog, Data: args})
	case "progress":
		h.Emit(runtimes.Event{Kind: runtimes.KindProgress, Data: args})
	default:
		return nil, &runtimes.CallError{Code: "denied", Message: "The host function " + name + " is not granted."}
	}
	return nil, nil
}

// Events returns the events so far.
func (h *Host) Events() []runtimes.Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]runtimes.Event(nil), h.events...)
}

// Stdout returns the text on stdout so far.
func (h *Host) Stdout(tb testing.TB) string { return h.text(tb, runtimes.KindStdout) }

// Stderr returns the text on stderr so far.
func (h *Host) Stderr(tb testing.TB) string { return h.text(tb, runtimes.KindStderr) }

func (h *Host) text(tb testing.TB, kind runtimes.Kind) string {
	tb.Helper()
	var b strings.Builder
	for _, e := range h.Events() {
		if e.Kind == kind {
			b.WriteString(chunk(tb, e))
		}
	}
	return b.String()
}

// chunk returns the text of a stdout or stderr event.
func chunk(tb testing.TB, e runtimes.Event) string {
	tb.Helper()
	var s string
	if err := json.Unmarshal(e.Data, &s); err != nil {
		tb.Errorf("%s event with data %.100s: %v", e.Kind, e.Data, err)
	}
	if len(s) > runtimes.MaxChunk {
		tb.Errorf("%s event of %d bytes", e.Kind, len(s))
	}
	return s
}

// Wait waits until stdout contains the text or ctx ends.
func (h *Host) Wait(ctx context.Context, tb testing.TB, text string) error {
	for {
		h.mu.Lock()
		changed := h.changed
		h.mu.Unlock()
		if strings.Contains(h.Stdout(tb), text) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Dropped returns the number of bytes of output that were dropped because they exceeded the limit.
func (h *Host) Dropped(tb testing.TB) int64 {
	tb.Helper()
	var sum int64
	for _, e := range h.Events() {
		if e.Kind == runtimes.KindDropped {
			var d runtimes.DroppedData
			if err := json.Unmarshal(e.Data, &d); err != nil {
				tb.Error(err)
			}
			sum += d.Bytes
		}
	}
	return sum
}
