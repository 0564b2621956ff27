package telemetry

import (
	"context"
	"log/slog"
	"sync"
)

type requestKey struct{}

// Request collects attributes for the log line of one HTTP request. Code adds attributes while the request is
// processed, and the line is written at the end.
type Request struct {
	ID string

	mu    sync.Mutex
	notes []slog.Attr
}

// WithRequest returns a context that contains r.
func WithRequest(ctx context.Context, r *Request) context.Context {
	return context.WithValue(ctx, requestKey{}, r)
}

// RequestID returns the ID of the request in ctx, or "" if ctx contains no request.
func RequestID(ctx context.Context) string {
	if r, ok := ctx.Value(requestKey{}).(*Request); ok {
		return r.ID
	}
	return ""
}

// Note adds attributes to the log line of the request in ctx. It does nothing if ctx contains no request.
func Note(ctx context.Context, attrs ...slog.Attr) {
	if r, ok := ctx.Value(requestKey{}).(*Request); ok {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.notes = append(r.notes, attrs...)
	}
}

// Notes returns the attributes that Note has added.
func (r *Request) Notes() []slog.Attr {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]slog.Attr(nil), r.notes...)
}
