package gate

import (
	"bufio"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/atelier-run/atelier/internal/telemetry"
)

// RequestIDHeader holds the request ID that the log and internal errors contain.
const RequestIDHeader = "X-Request-Id"

// observe gives a request its ID and its span. At the end it writes the request's single log line.
func (g *Gate) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		awaitBody(w, r)
		about := &telemetry.Request{ID: g.NewID()}
		ctx := telemetry.WithRequest(r.Context(), about)
		ctx = g.Propagate.Extract(ctx, propagation.HeaderCarrier(r.Header))
		ctx, span := g.Tracer.Start(ctx, r.Method, trace.WithSpanKind(trace.SpanKindServer))
		defer span.End()
		routes := chi.NewRouteContext() // The router stores the matched route in this context, and conclude reads the route's pattern from it.
		w.Header().Set(RequestIDHeader, about.ID)
		g.Propagate.Inject(ctx, propagation.HeaderCarrier(w.Header()))
		answer := &answer{ResponseWriter: w, control: http.NewResponseController(w), writeTimeout: g.WriteTimeout}
		answer.wait()
		r = r.WithContext(withRoutes(ctx, routes))
		defer func() { g.conclude(r, began, about, routes, answer, span) }() // This also runs if an answer is aborted.
		next.ServeHTTP(answer, r)
	})
}

// conclude records the outcome of a request in the request's span, in the metrics and in one log line.
func (g *Gate) conclude(r *http.Request, began time.Time, about *telemetry.Request, routes *chi.Context, answer *answer, span trace.Span) {
	route, took := routes.RoutePattern(), time.Since(began)
	if route == "" {
		route = "none"
	}
	span.SetName(r.Method + " " + route)
	span.SetAttributes(attribute.String("http.request.method", r.Method), attribute.String("http.route", route),
		attribute.Int("http.response.status_code", answer.code()))
	g.Meter.Request(method(r.Method), route, answer.code(), took)
	g.Log.LogAttrs(r.Context(), levelOf(r), "request", append([]slog.Attr{
		slog.String("request_id", about.ID), slog.String("method", r.Method), slog.String("path", masked(r.URL.Path)),
		slog.Int("status", answer.code()), slog.Int64("bytes", answer.bytes), slog.Duration("took", took),
		slog.String("from", r.RemoteAddr),
	}, about.Notes()...)...)
}

// levelOf returns a lower log level for page assets and for requests of monitoring systems.
func levelOf(r *http.Request) slog.Level {
	switch {
	case strings.HasPrefix(r.URL.Path, "/studio/"), r.URL.Path == "/health", r.URL.Path == "/ready", r.URL.Path == "/metrics":
		return slog.LevelDebug
	}
	return slog.LevelInfo
}

// method replaces unknown methods by a fixed text, so that they do not become labels of metrics.
func method(m string) string {
	switch m {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return m
	}
	return "other"
}

// answer records the status and the size of a response. It disconnects a client that does not read the response. The
// server has no write timeout for whole responses, because a run may take minutes.
type answer struct {
	http.ResponseWriter
	control      *http.ResponseController
	writeTimeout time.Duration
	status       int
	bytes        int64
	hijacked     bool
}

func (a *answer) WriteHeader(status int) {
	if a.status == 0 && status >= 200 {
		a.status = status
	}
	a.wait()
	a.ResponseWriter.WriteHeader(status)
}

// wait sets a new deadline until which the client must read the next bytes. It is also called at the start of a
// request, because the deadline of the previous request on the connection may have expired.
func (a *answer) wait() {
	_ = a.control.SetWriteDeadline(time.Now().Add(a.writeTimeout)) // Ignore the error: the writer of a test has no connection.
}

func (a *answer) Write(p []byte) (int, error) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	written := 0
	for first := true; first || len(p) > 0; first = false {
		part := p[:min(len(p), writeBytes)]
		a.wait()
		n, err := a.ResponseWriter.Write(part)
		written += n
		a.bytes += int64(n)
		if err != nil {
			return written, err
		}
		p = p[len(part):]
	}
	return written, nil
}

// writeBytes is the number of bytes that a client must read within one deadline.
const writeBytes = 64 << 10

// Flush sends the buffered data of the wrapped writer.
func (a *answer) Flush() {
	_ = http.NewResponseController(a.ResponseWriter).Flush() // Ignore the error: a writer that cannot flush has no buffered data.
}

// Hijack returns the connection. WebSockets need it.
func (a *answer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	a.hijacked = true
	return http.NewResponseController(a.ResponseWriter).Hijack()
}

// Unwrap returns the wrapped writer.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

func (a *answer) code() int {
	switch {
	case a.status != 0:
		return a.status
	case a.hijacked:
		return http.StatusSwitchingProtocols
	}
	return http.StatusOK
}
