package telemetry_test

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/atelier-run/atelier/internal/telemetry"
)

func TestLogLinesCannotBeForged(t *testing.T) {
	t.Parallel()
	const hostile = "a\nlevel=ERROR\x1b[2J\u009b31m\u202etxt\u2028end"
	for _, format := range []string{"text", "json"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			telemetry.NewLog(&out, format, slog.LevelInfo).Info("said", slog.String("name", hostile), slog.Any("error", errors.New(hostile)))
			line := strings.TrimSuffix(out.String(), "\n")
			if strings.ContainsAny(line, "\n\x1b\u009b\u202e\u2028") {
				t.Errorf("hostile characters arrive as they are: %q", line)
			}
			if !strings.Contains(line, "end") {
				t.Errorf("the rest is lost: %q", line)
			}
		})
	}
}

func TestSpansHaveIDsWithoutAnExport(t *testing.T) {
	t.Parallel()
	traces, err := telemetry.NewTraces(t.Context(), "test", false)
	if err != nil {
		t.Fatal(err)
	}
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	ctx := traces.Propagator().Extract(t.Context(), propagation.MapCarrier{"traceparent": parent})
	ctx, span := traces.Tracer("test").Start(ctx, "work")
	out := propagation.MapCarrier{}
	traces.Propagator().Inject(ctx, out)
	span.End()
	if !strings.HasPrefix(out["traceparent"], "00-0af7651916cd43dd8448eb211c80319c-") || out["traceparent"] == parent {
		t.Errorf("traceparent out is %q", out["traceparent"])
	}
	if err := traces.Close(); err != nil {
		t.Error(err)
	}
}

func TestSpansReachAnExporter(t *testing.T) {
	t.Parallel()
	seen := tracetest.NewInMemoryExporter()
	traces := telemetry.NewTracesTo(seen)
	_, span := traces.Tracer("test").Start(t.Context(), "work")
	span.End()
	if spans := seen.GetSpans(); len(spans) != 1 || spans[0].Name != "work" {
		t.Errorf("got %v", spans)
	}
}

func TestMetricsShowRequestsAndRuns(t *testing.T) {
	t.Parallel()
	m := telemetry.NewMetrics("1.2.3")
	m.Request("GET", "/api/v1/runs/{run}", 200, time.Millisecond)
	m.Run("goja", "succeeded", 0, time.Millisecond)
	m.Gauge("atelier_test", "A number.", map[string]string{"kind": "x"}, func() float64 { return 7 })
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for _, want := range []string{
		`atelier_http_requests_total{method="GET",route="/api/v1/runs/{run}",status="200"} 1`,
		`atelier_runs_total{runtime="goja",status="succeeded"} 1`,
		`atelier_test{kind="x"} 7`, `atelier_build_info{version="1.2.3"} 1`,
	} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("no %s", want)
		}
	}
}
