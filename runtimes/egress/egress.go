// Package egress gives a run its only network access. Its proxy lets a program reach only the hosts that its version
// was granted. It resolves names itself, checks every resolved address and connects only to checked addresses. The
// package does not depend on languages or sandboxes: the caller passes a listener to which the program connects.
package egress

import (
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"time"

	"github.com/atelier-run/atelier/internal/hostpattern"
	"github.com/atelier-run/atelier/runtimes"
)

// Resolver looks up full names that end in a dot. It is an interface so that tests can return hostile answers.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Meter counts allowed and denied requests.
type Meter interface {
	Egress(decision runtimes.Decision, bytes int64)
}

// Limits bounds the network use of one run.
type Limits struct {
	Requests    int           // maximum number of requests, including denied ones
	Connections int           // maximum number of concurrent connections
	Bytes       int64         // maximum total of bytes in both directions
	Answer      int64         // maximum size of a response to the host function fetch, in bytes
	Dial        time.Duration // maximum time to resolve a name and connect
	Exchange    time.Duration // maximum time of one request with its response, or of one tunnel
}

// DefaultLimits returns the default values of Options.Limits.
func DefaultLimits() Limits {
	return Limits{Requests: 1000, Connections: 32, Bytes: 256 << 20, Answer: 8 << 20, Dial: 10 * time.Second, Exchange: 5 * time.Minute}
}

// Options configures a Proxy. The zero value is a proxy for any workspace.
type Options struct {
	Resolver Resolver
	// Returns the addresses of this machine; nil: read them from the kernel.
	Own     func() ([]net.Addr, error)
	Ceiling func(workspace string) hostpattern.Ceiling // ceiling of a workspace's grants; nil: no ceiling
	// Addresses of this server's listeners, which no run may reach; nil for none.
	Server func() []netip.AddrPort
	Meter  Meter
	Limits Limits
	TLS    *tls.Config // trusted certificates for requests of host functions; nil: those of the machine
}

// Proxy opens a session for each run. It is safe for concurrent use.
type Proxy struct {
	options Options
}

// New returns a proxy.
func New(options Options) *Proxy {
	if options.Resolver == nil {
		options.Resolver = newLookup()
	}
	if options.Own == nil {
		options.Own = net.InterfaceAddrs
	}
	if options.Ceiling == nil {
		options.Ceiling = func(string) hostpattern.Ceiling { return hostpattern.Ceiling{All: true, Private: true} }
	}
	if options.Server == nil {
		options.Server = func() []netip.AddrPort { return nil }
	}
	if options.Meter == nil {
		options.Meter = noMeter{}
	}
	if options.Limits == (Limits{}) {
		options.Limits = DefaultLimits()
	}
	return &Proxy{options: options}
}

type noMeter struct{}

func (noMeter) Egress(runtimes.Decision, int64) {}

// Open opens the session of one run. The caller must close it before it reports the end of the run.
func (p *Proxy) Open(job runtimes.Job, host runtimes.Host) *Session {
	return p.OpenBeneath(p.options.Ceiling(job.Workspace), job, host)
}

// OpenBeneath is like Open, but uses the given ceiling instead of the ceiling of the job's workspace.
func (p *Proxy) OpenBeneath(ceiling hostpattern.Ceiling, job runtimes.Job, host runtimes.Host) *Session {
	ctx, cancel := context.WithCancel(context.Background())
	d := &Session{Host: host, proxy: p, ceiling: ceiling, bound: newBound(job.Bound), ctx: ctx, cancel: cancel}
	for _, text := range job.Capabilities.Hosts {
		// An old version may contain a grant that is no longer valid. Such a grant allows no request.
		if grant, err := hostpattern.ParseGrant(text); err == nil {
			d.grants = append(d.grants, grant)
		}
	}
	return d
}
