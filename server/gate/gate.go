// Package gate checks every request before the request reaches an API. A request must use an allowed host name and come
// from an allowed origin. The gate gives each request an ID, a trace and a log line. Under /api it also identifies the
// caller and checks that the caller may use the route. The package defines which permission each route requires, but
// does not depend on the handlers.
package gate

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/go-chi/chi/v5"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/atelier-run/atelier/internal/budget"
	"github.com/atelier-run/atelier/internal/telemetry"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/server/problem"
)

// Access finds the caller to whom a credential belongs.
type Access interface {
	Fixed(bearer string) (registry.Caller, bool)
	Issued(ctx context.Context, bearer string) (registry.Caller, error)
	Session(ctx context.Context, cookie, workspace string) (registry.Caller, error)
}

// Rights reports changes of access rights by closing a channel. Long-lived requests then check again whether their
// caller has access.
type Rights interface {
	Changed() <-chan struct{}
}

// Delegations identifies the caller of an access token from the OpenID provider.
type Delegations interface {
	Delegated(ctx context.Context, token, resource, workspace string) (registry.Caller, error)
}

// Options configures a Gate.
type Options struct {
	Names     []string       // host names by which clients may reach the server, in addition to loopback names
	Anonymous []netip.Prefix // networks whose clients may call skills without a credential
	PublicURL string         // public URL; its origin is allowed too, for servers behind a proxy that terminates TLS
	BasePath  string         // path under which a proxy offers the server; "" means the root
	Proxies   []netip.Prefix // addresses of proxies whose X-Forwarded-For is trusted
	// ProxyCount is the number of reverse proxies through which every request passes. 0 means unknown.
	ProxyCount int
	Access     Access
	Rights     Rights
	// Delegations accepts access tokens of the OpenID provider at MCP addresses. If it is nil, such tokens are refused.
	Delegations  Delegations
	Attempts     *Attempts
	Budget       *budget.Budget // memory budget for request bodies; nil means no limit
	Routes       chi.Routes     // routes behind the gate, to which requests are matched
	Lookup       Lookup
	Refuse       problem.Writer
	Meter        *telemetry.Metrics
	Tracer       trace.Tracer
	Propagate    propagation.TextMapPropagator
	Log          *slog.Logger
	NewID        func() string
	WriteTimeout time.Duration // maximum time to wait for a client that does not read its answer; 0 means 20 seconds
	Recheck      time.Duration // interval at which the access of a stream's reader is checked, even if Rights reports no change; 0 means a minute
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
	if o.WriteTimeout == 0 {
		o.WriteTimeout = 20 * time.Second
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

// Guard returns a handler that passes permitted requests to next. The order of the checks matters: the ID and the log line
// come first, so that rejected requests have them too. Host name and origin are checked before the credential.
func (g *Gate) Guard(next http.Handler) http.Handler {
	next = compress(next)
	next = g.reserve(next)
	next = g.identify(next)
	next = g.checkAddress(next)
	next = g.checkOrigin(next)
	next = g.checkHost(next)
	next = g.checkForm(next)
	next = g.checkMethod(next)
	next = secure(next)
	next = g.recover(next)
	return beneath(g.BasePath, g.forwarded(g.observe(next)))
}
