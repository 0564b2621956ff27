package httpapi_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/atelier-run/atelier/internal/telemetry"
	"github.com/atelier-run/atelier/server/gate"
	"github.com/atelier-run/atelier/server/problem"
)

// behindGate returns the API behind a gate, because the gate creates the context of the router.
func behindGate(t *testing.T) http.Handler {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	traces, err := telemetry.NewTraces(t.Context(), "test", false)
	if err != nil {
		t.Fatal(err)
	}
	return gate.New(gate.Options{
		Refuse: problem.Writer{Log: log}, Meter: telemetry.NewMetrics("test"), Tracer: traces.Tracer("test"), Propagate: traces.Propagator(),
		Log: log, NewID: func() string { return "1" },
	}).Guard(newAPI().Router())
}

func TestHeadIsGetWithoutABody(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]int{"/docs": 200, "/openapi.json": 200, "/nowhere": 404, "/login?link=x": 405, "/api/v1/runs": 401} {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodHead, path, nil)
		r.Host = "localhost"
		behindGate(t).ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("HEAD %s is answered with %d, want %d", path, w.Code, want)
		}
	}
}
