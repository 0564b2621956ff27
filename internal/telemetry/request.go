package telemetry

import (
	"context"
	"log/slog"
	"sync"
)

type requestKey struct{}

// Request is what is known of one request while it is served. Whoever learns something worth a word in its log line
// notes it; the line is written once, at the end.
type Request struct {
	ID string

	mu    sync.Mutex
	notes []slog.Attr
}

// WithRequest returns a context that carries r.
func WithRequest(ctx context.Context, r *Request) context.Context {
	return context.WithValue(ctx, requestKey{}, r)
}

// RequestID returns the ID of the request that ctx belongs to, "" outside of one.
func RequestID(ctx context.Context) string {
	if r, ok := ctx.Value(requestKey{}).(*Request); ok {
		return r.ID
	}
	return ""
}

// Note adds to the log line of the request that ctx belongs to. Outside of a request it does nothing.
func Note(ctx context.Context, attrs ...slog.Attr) {
	if r, ok := ctx.Value(requestKey{}).(*Request); ok {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.notes = append(r.notes, attrs...)
	}
}

// Notes returns what was noted.
func (r *Request) Notes() []slog.Attr {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]slog.Attr(nil), r.notes...)
}
