package telemetry

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Traces creates spans. If no collector is configured, spans are not recorded and cost almost nothing. They still have
// IDs, because runs store their trace ID and the server forwards traceparent.
type Traces struct {
	provider *sdktrace.TracerProvider
}

// NewTraces returns the Traces of a process. If export is set, it sends spans by OTLP over HTTP to a collector. The
// OpenTelemetry library reads the collector's address from the standard OTEL_* variables.
func NewTraces(ctx context.Context, version string, export bool) (*Traces, error) {
	if !export {
		return &Traces{provider: sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.NeverSample()))}, nil
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("set up the export of traces: %w", err)
	}
	return exporting(ctx, version, exporter)
}

func exporting(ctx context.Context, version string, exporter sdktrace.SpanExporter) (*Traces, error) {
	about, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "atelier"), attribute.String("service.version", version)),
		resource.WithFromEnv(), resource.WithHost(), resource.WithTelemetrySDK())
	if err != nil {
		return nil, fmt.Errorf("describe this process for traces: %w", err)
	}
	return &Traces{provider: sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about))}, nil
}

// NewTracesTo returns Traces that pass every finished span to the given exporter. Tests use it to inspect spans.
func NewTracesTo(exporter sdktrace.SpanExporter) *Traces {
	return &Traces{provider: sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter))}
}

// Tracer returns the tracer of a package.
func (t *Traces) Tracer(pkg string) trace.Tracer { return t.provider.Tracer(pkg) }

// Propagator returns the propagator that reads and writes traceparent and tracestate.
func (t *Traces) Propagator() propagation.TextMapPropagator { return propagation.TraceContext{} }

// Close sends all spans that were not sent yet.
func (t *Traces) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return t.provider.Shutdown(ctx)
}
