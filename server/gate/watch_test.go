package gate_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/atelier-run/atelier/internal/telemetry"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/server/gate"
	"github.com/atelier-run/atelier/server/problem"
)

// shaky is an implementation of Access. Its look-ups return the listed results in order, and then repeat the last one.
type shaky struct {
	keys
	answers []error
	looks   atomic.Int32
}

func (s *shaky) Session(ctx context.Context, cookie, workspace string) (registry.Caller, error) {
	look := int(s.looks.Add(1)) - 1
	if err := s.answers[min(look, len(s.answers)-1)]; err != nil {
		return registry.Caller{}, err
	}
	return s.keys.Session(ctx, cookie, workspace)
}

// A stream continues after a failed look-up and ends with the session.
func TestOnlyAnEndEndsAStream(t *testing.T) {
	t.Parallel()
	busy := errors.New("the database is locked")
	_, gone := known("", "right-cookie", registry.UserActor)
	access := &shaky{answers: []error{nil, busy, busy, nil, busy, gone}}
	traces, err := telemetry.NewTraces(t.Context(), "test", false)
	if err != nil {
		t.Fatal(err)
	}
	log, routes := slog.New(slog.DiscardHandler), chi.NewRouter()
	routes.Get("/api/v1/events", func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		if cause, looks := context.Cause(r.Context()), access.looks.Load(); !errors.Is(cause, gate.ErrEnded) || int(looks) != len(access.answers) {
			t.Errorf("the stream ended after %d looks, want %d: %v", looks, len(access.answers), cause)
		}
	})
	g := gate.New(gate.Options{
		Access: access, Rights: keys{}, Attempts: newAttempts(t, nowhere{}, time.Now), Routes: routes, Refuse: problem.Writer{Log: log}, Meter: telemetry.NewMetrics("test"),
		Tracer: traces.Tracer("gate"), Propagate: traces.Propagator(), Log: log, NewID: func() string { return "id" }, Recheck: time.Millisecond,
	})
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/api/v1/events", http.NoBody)
	r.Header.Set("Accept", "text/event-stream")
	r.AddCookie(&http.Cookie{Name: gate.Cookie, Value: "right-cookie"})
	w := httptest.NewRecorder()
	g.Guard(routes).ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
}
