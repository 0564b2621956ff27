// Package gate is what every request passes before it reaches a door: it must come by an allowed name and from our own
// pages, and it is given an ID, a trace, a line in the log and, under /api, a caller who may do what the route is for. The
// package knows who may enter which door, not what is behind it.
package gate

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/atelier-run/atelier/internal/budget"
	"github.com/atelier-run/atelier/registry"
)

// Access knows who a credential belongs to.
type Access interface {
	Fixed(bearer string) (registry.Caller, bool)
	Issued(ctx context.Context, bearer string) (registry.Caller, error)
	Session(ctx context.Context, cookie, workspace string) (registry.Caller, error)
}

// Rights tells when somebody's rights have changed, by closing the channel. It is for what lasts longer than a moment.
type Rights interface {
	Changed() <-chan struct{}
}

// Refuser answers with the problem that an error is. It is how the gate speaks HTTP errors without knowing statuses.
type Refuser interface {
	Write(w http.ResponseWriter, r *http.Request, err error)
}

// Meter counts answered requests by the pattern of their route.
type Meter interface {
	Request(method, route string, status int, took time.Duration)
}

// Options configures a Gate.
type Options struct {
	Names     []string // host names by which the server may be reached, beside the loopback ones
	Anonymous bool     // programs on this machine may call skills without a credential
	PublicURL string   // its origin is ours too, for servers behind a proxy that ends TLS
	BasePath  string   // beneath which a proxy shows the server; "" is the root
	Access    Access
	Rights    Rights
	Attempts  *Attempts
	Budget    *budget.Budget // of the memory that bodies take; nil bounds nothing
	Routes    chi.Routes     // those behind the gate, to know what a request is about
	Things    Things
	Refuse    Refuser
	Meter     Meter
	Tracer    trace.Tracer
	Propagate propagation.TextMapPropagator
	Log       *slog.Logger
	NewID     func() string
	Patience  time.Duration // with a client that does not take its answer; 0 is 5 minutes
	Recheck   time.Duration // how often a stream's reader is looked at again without a change; 0 is a minute
}

// Gate guards all routes of a server.
type Gate struct {
	Options
	names   map[string]bool
	origins map[string]bool
	needs   map[string]need
}

// New returns a gate.
func New(o Options) *Gate {
	if o.Patience == 0 {
		o.Patience = 5 * time.Minute
	}
	if o.Recheck == 0 {
		o.Recheck = time.Minute
	}
	g := &Gate{Options: o, names: map[string]bool{"localhost": true, "127.0.0.1": true, "::1": true}, origins: map[string]bool{}, needs: needs()}
	for _, name := range o.Names {
		g.names[canonicalName(name)] = true
	}
	g.allowPublicURL()
	return g
}

// Guard returns the handler that lets through to next what may pass. The order is deliberate: whatever is refused has an
// ID and a log line already, and nothing of a request from a wrong name or page is looked at.
func (g *Gate) Guard(next http.Handler) http.Handler {
	next = g.reserve(next)
	next = g.identify(next)
	next = g.checkAddress(next)
	next = g.checkOrigin(next)
	next = g.checkHost(next)
	next = secure(next)
	next = g.recover(next)
	return beneath(g.BasePath, g.observe(next))
}
