package gate

import (
	"context"
	"crypto/sha256"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

const (
	failuresAllowed = 10          // per source and window
	failureWindow   = time.Minute // after which a source may try again
	sourcesKept     = 10_000
)

// Failures keeps failed logins, so that a restart does not give another ten.
type Failures interface {
	PutLoginFailures(ctx context.Context, f registry.LoginFailures) error
	LoginFailures(ctx context.Context, now time.Time) ([]registry.LoginFailures, error)
}

// Attempts limits how often one source may show a wrong secret. Those that are made here have 256 bits; the limit is for
// fixed tokens that people chose, and for the log.
type Attempts struct {
	kept     Failures
	mu       sync.RWMutex
	failures map[netip.Prefix]failure
	now      func() time.Time
}

type failure struct {
	count int
	until time.Time
	last  [sha256.Size]byte // what was wrong: a program that shows the same again and again does not guess
}

// NewAttempts returns a limit with what an earlier server counted.
func NewAttempts(ctx context.Context, kept Failures, now func() time.Time) (*Attempts, error) {
	a := &Attempts{kept: kept, failures: map[netip.Prefix]failure{}, now: now}
	before, err := kept.LoginFailures(ctx, now())
	if err != nil {
		return nil, err
	}
	for _, f := range before {
		if from, err := netip.ParsePrefix(f.Source); err == nil {
			a.failures[from] = failure{count: f.Count, until: f.Until}
		}
	}
	return a, nil
}

// Try runs login unless the request's source has failed too often; a failure for want of a right secret is counted. It
// counts before it knows, so that many tries at once are as many as one after the other.
func (a *Attempts) Try(r *http.Request, secret string, login func() error) error {
	from := source(r)
	counted, err := a.count(from, secret)
	if err != nil {
		return err
	}
	err = login()
	if !fault.Is(err, fault.Unauthenticated) {
		a.giveBack(from, counted)
		return err
	}
	return a.keep(r.Context(), from, err)
}

// Wrong counts a wrong secret, and returns what is to be said of it: that it is wrong, or that there were too many.
func (a *Attempts) Wrong(r *http.Request, secret string, wrong error) error {
	from := source(r)
	if _, err := a.count(from, secret); err != nil {
		return err
	}
	return a.keep(r.Context(), from, wrong)
}

// Blocked says whether the request's source has failed too often.
func (a *Attempts) Blocked(r *http.Request) error {
	a.mu.RLock()
	defer a.mu.RUnlock()
	if len(a.failures) == 0 { // as it is nearly always
		return nil
	}
	return a.failures[source(r)].blocked(a.now())
}

func (f failure) blocked(now time.Time) error {
	if f.count < failuresAllowed || !now.Before(f.until) {
		return nil
	}
	return &fault.Error{Code: fault.TooManyRequests, Message: "Too many wrong credentials from this address. Try again later.", RetryAfter: f.until.Sub(now)}
}

// count adds a failure, unless there were too many already or this secret was the last that was wrong.
func (a *Attempts) count(from netip.Prefix, secret string) (counted bool, err error) {
	now := a.now()
	a.mu.Lock()
	defer a.mu.Unlock()
	f := a.failures[from]
	if err := f.blocked(now); err != nil {
		return false, err
	}
	if len(a.failures) >= sourcesKept {
		a.forget(now)
	}
	if !now.Before(f.until) {
		f = failure{until: now.Add(failureWindow)}
	}
	hash := sha256.Sum256([]byte(secret))
	if counted = f.count == 0 || f.last != hash; counted {
		f.count, f.last = f.count+1, hash
	}
	a.failures[from] = f
	return counted, nil
}

// giveBack takes back what was counted for a secret that was right.
func (a *Attempts) giveBack(from netip.Prefix, counted bool) {
	if !counted {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	f := a.failures[from]
	f.count--
	if a.failures[from] = f; f.count <= 0 {
		delete(a.failures, from)
	}
}

// keep stores the count of a source and returns err, or why it could not be stored: nobody guesses while it cannot.
func (a *Attempts) keep(ctx context.Context, from netip.Prefix, err error) error {
	a.mu.RLock()
	f := a.failures[from]
	a.mu.RUnlock()
	stored := a.kept.PutLoginFailures(context.WithoutCancel(ctx), registry.LoginFailures{Source: from.String(), Count: f.count, Until: f.until})
	if stored != nil {
		return stored
	}
	return err
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
