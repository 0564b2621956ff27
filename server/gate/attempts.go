package gate

import (
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
)

const (
	failuresAllowed = 10          // per source and window
	failureWindow   = time.Minute // after which a source may try again
	sourcesKept     = 10_000
)

// Attempts limits how often one source may fail to log in. Secrets have 256 bits; the limit is for fixed tokens that
// people chose, and for the log.
type Attempts struct {
	mu       sync.Mutex
	failures map[netip.Prefix]failure
	now      func() time.Time
}

type failure struct {
	count int
	until time.Time
}

// NewAttempts returns a limit with nothing counted yet.
func NewAttempts(now func() time.Time) *Attempts {
	return &Attempts{failures: map[netip.Prefix]failure{}, now: now}
}

// Try runs login unless the request's source has failed too often; a failure for want of a right secret is counted.
func (a *Attempts) Try(r *http.Request, login func() error) error {
	from, now := source(r), a.now()
	a.mu.Lock()
	f := a.failures[from]
	a.mu.Unlock()
	if f.count >= failuresAllowed && now.Before(f.until) {
		return &fault.Error{Code: fault.TooManyRequests, Message: "Too many failed logins; try again later.", RetryAfter: f.until.Sub(now)}
	}
	err := login()
	if fault.Is(err, fault.Unauthenticated) {
		a.failed(from, now)
	}
	return err
}

func (a *Attempts) failed(from netip.Prefix, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.failures) >= sourcesKept {
		a.forget(now)
	}
	f := a.failures[from]
	if !now.Before(f.until) {
		f = failure{until: now.Add(failureWindow)}
	}
	f.count++
	a.failures[from] = f
}

// forget drops sources whose time is over, and all of them when that is not enough: memory is bounded first.
func (a *Attempts) forget(now time.Time) {
	for from, f := range a.failures {
		if !now.Before(f.until) {
			delete(a.failures, from)
		}
	}
	if len(a.failures) >= sourcesKept {
		clear(a.failures)
	}
}

// source is the network that a request comes from: an IPv4 address, or the /64 of an IPv6 one. Forwarding headers are
// not looked at, since anybody can write them.
func source(r *http.Request) netip.Prefix {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return netip.Prefix{}
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return netip.Prefix{}
	}
	addr, bits := addr.Unmap().WithZone(""), 64
	if addr.Is4() {
		bits = 32
	}
	prefix, err := addr.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return prefix
}
