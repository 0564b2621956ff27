package app

import (
	"sync/atomic"

	"github.com/atelier-run/atelier/runtimes"
)

// traffic counts the network requests of programs. It implements egress.Meter.
type traffic struct {
	allowed, denied, failed, bytes atomic.Int64
}

// Egress implements egress.Meter.
func (t *traffic) Egress(decision runtimes.Decision, bytes int64) {
	t.bytes.Add(bytes)
	t.of(decision).Add(1)
}

func (t *traffic) of(decision runtimes.Decision) *atomic.Int64 {
	switch decision {
	case runtimes.EgressAllowed:
		return &t.allowed
	case runtimes.EgressDenied:
		return &t.denied
	default:
		return &t.failed
	}
}

// showTraffic registers the counts as metrics.
func (a *App) showTraffic(t *traffic) {
	for _, decision := range []runtimes.Decision{runtimes.EgressAllowed, runtimes.EgressDenied, runtimes.EgressFailed} {
		count := t.of(decision)
		a.metrics.Counter("atelier_egress_total", "Number of network requests of programs.", map[string]string{"decision": string(decision)}, func() float64 { return float64(count.Load()) })
	}
	a.metrics.Counter("atelier_egress_bytes_total", "Number of bytes that programs sent and received over the network.", nil, func() float64 { return float64(t.bytes.Load()) })
}
