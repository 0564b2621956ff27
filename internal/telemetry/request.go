package telemetry

import (
	"context"
	"log/slog"
	"sync"
)

type requestKey struct{}

// Request collects attributes for the log line of one request. Code adds notes while the request is served, and the line is
// written at the end.
type Request struct {
	ID string

	mu    sync.Mutex
	notes []slog.Attr
}

// WithRequest returns a context that carries r.
func WithRequest(ctx context.Context, r *Request) context.Context {
	return context.WithValue(ctx, requestKey{}, r)
}

// RequestID returns the ID of the request of ctx, or "" if there is none.
func RequestID(ctx context.Context) string {
	if r, ok := ctx.Value(requestKey{}).(*Request); ok {
		return r.ID
	}
	return ""
}

// Note adds attributes to the log line of the request of ctx. Without a request it does nothing.
func Note(ctx context.Context, attrs ...slog.Attr) {
	if r, ok := ctx.Value(requestKey{}).(*Request); ok {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.notes = append(r.notes, attrs...)
	}
}

// Notes returns the collected notes.
func (r *Request) Notes() []slog.Attr {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]slog.Attr(nil), r.notes...)
}
