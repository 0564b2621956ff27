package telemetry

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics holds the metrics that /metrics returns. Each label must have few values. So the label of a route is its
// pattern and never a path.
type Metrics struct {
	registry   *prometheus.Registry
	requests   *prometheus.CounterVec
	latency    *prometheus.HistogramVec
	runs       *prometheus.CounterVec
	unrecorded *prometheus.CounterVec
	runTime    *prometheus.HistogramVec
	queued     *prometheus.HistogramVec
}

// NewMetrics returns the metrics of a server in a separate Prometheus registry.
func NewMetrics(version string) *Metrics {
	quick := []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10, 60}
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "atelier_http_requests_total", Help: "Number of HTTP requests answered."}, []string{"method", "route", "status"}),
		latency: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "atelier_http_request_seconds", Help: "Time to answer an HTTP request.", Buckets: quick}, []string{"method", "route"}),
		runs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "atelier_runs_total", Help: "Number of finished and recorded runs."}, []string{"runtime", "status"}),
		unrecorded: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "atelier_runs_unrecorded_total", Help: "Number of runs whose end could not be recorded."}, []string{"runtime"}),
		runTime: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "atelier_run_seconds", Help: "Time from the request of a run to its durable record.", Buckets: quick}, []string{"runtime"}),
		queued: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "atelier_run_queued_seconds", Help: "Time that runs waited in the queue.", Buckets: quick}, []string{"runtime"}),
	}
	build := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "atelier_build_info", Help: "Always 1, with the version as a label.", ConstLabels: prometheus.Labels{"version": version}}, func() float64 { return 1 })
	m.registry.MustRegister(m.requests, m.latency, m.runs, m.unrecorded, m.runTime, m.queued, build,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Request counts a request that was answered. route is the pattern of the route, such as /api/v1/runs/{run}.
func (m *Metrics) Request(method, route string, status int, took time.Duration) {
	m.requests.WithLabelValues(method, route, strconv.Itoa(status)).Inc()
	m.latency.WithLabelValues(method, route).Observe(took.Seconds())
}

// Run counts a finished run.
func (m *Metrics) Run(runtime, status string, queued, total time.Duration) {
	m.runs.WithLabelValues(runtime, status).Inc()
	m.runTime.WithLabelValues(runtime).Observe(total.Seconds())
	m.queued.WithLabelValues(runtime).Observe(queued.Seconds())
}

// RunUnrecorded counts a run whose result could not be recorded.
func (m *Metrics) RunUnrecorded(runtime string) { m.unrecorded.WithLabelValues(runtime).Inc() }

// Gauge registers a metric. Its function is called on each request of /metrics.
func (m *Metrics) Gauge(name, help string, labels map[string]string, read func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: labels}, read))
}

// Counter registers a metric that never decreases. Its function is called on each request of /metrics.
func (m *Metrics) Counter(name, help string, labels map[string]string, read func() float64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help, ConstLabels: labels}, read))
}

// Handler returns the handler of /metrics, which writes the metrics as text.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}
