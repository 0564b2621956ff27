// Package egress is the way out of a run, and the only one: a proxy that lets a program reach the hosts that its version
// was granted and nothing else. It resolves names itself, looks at every address that comes back, and dials only what it
// has looked at. It knows neither languages nor jails: it is given a listener whose other side is the program.
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

// Resolver looks whole names up, which end in a dot. It is an interface because what a hostile name server answers has to be tried.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Meter counts decisions.
type Meter interface {
	Egress(decision runtimes.Decision, bytes int64)
}

// Limits bound what one run may do on the network.
type Limits struct {
	Requests    int           // in all, those that are denied as well
	Connections int           // at once
	Bytes       int64         // in all, in both directions
	Answer      int64         // bytes of an answer that goes through a host function
	Dial        time.Duration // to resolve a name and connect
	Exchange    time.Duration // of one request with its answer, or one tunnel
}

// DefaultLimits apply where Options names none.
func DefaultLimits() Limits {
	return Limits{Requests: 1000, Connections: 32, Bytes: 256 << 20, Answer: 8 << 20, Dial: 10 * time.Second, Exchange: 5 * time.Minute}
}

// Options of a Proxy; the zero value is a proxy for any workspace.
type Options struct {
	Resolver Resolver
	Own      func() ([]net.Addr, error)                 // addresses of this machine; nil asks the kernel
	Ceiling  func(workspace string) hostpattern.Ceiling // nil caps nothing
	Server   func() []netip.AddrPort                    // listeners of the server itself, which nobody reaches; nil for none
	Meter    Meter
	Limits   Limits
	TLS      *tls.Config // of requests that host functions make; nil trusts what the machine trusts
}

// Proxy opens a door for each run. It is safe for concurrent use.
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

// Open makes the way out of one run. Close it before the run is told to have ended.
func (p *Proxy) Open(job runtimes.Job, host runtimes.Host) *Session {
	return p.OpenBeneath(p.options.Ceiling(job.Workspace), job, host)
}

// OpenBeneath is Open with another ceiling than that of the job's workspace.
func (p *Proxy) OpenBeneath(ceiling hostpattern.Ceiling, job runtimes.Job, host runtimes.Host) *Session {
	ctx, cancel := context.WithCancel(context.Background())
	d := &Session{Host: host, proxy: p, ceiling: ceiling, bound: newBound(job.Bound), ctx: ctx, cancel: cancel}
	for _, text := range job.Capabilities.Hosts {
		// A version that was published under older rules may hold what is no grant today. It grants nothing then.
		if grant, err := hostpattern.ParseGrant(text); err == nil {
			d.grants = append(d.grants, grant)
		}
	}
	return d
}
