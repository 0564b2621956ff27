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
	failuresAllowed = 10          // failures per source and window
	failureWindow   = time.Minute // wait until a source may try again
	sourcesKept     = 10_000
)

// Failures stores failed logins, so that a restart does not allow another ten attempts.
type Failures interface {
	PutLoginFailures(ctx context.Context, f registry.LoginFailures) error
	LoginFailures(ctx context.Context, now time.Time) ([]registry.LoginFailures, error)
}

// Attempts limits how often one source may present a wrong secret. Secrets issued by this server have 256 bits. The
// limit protects fixed tokens that people chose, and the log.
type Attempts struct {
	kept     Failures
	mu       sync.RWMutex
	failures map[netip.Prefix]failure
	now      func() time.Time
}

type failure struct {
	count int
	until time.Time
	last  [sha256.Size]byte // hash of the last wrong secret: a program that repeats the same one is not guessing
}

// NewAttempts returns a limit that starts with the counts an earlier server stored.
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

// Try runs login unless the request's source has failed too often, and counts a failure caused by a wrong secret. It
// counts before login returns, so that parallel attempts count as many as sequential ones.
func (a *Attempts) Try(r *http.Request, secret string, login func() error) error {
	from := source(r)
	counted, err := a.count(from, secret)
	if err != nil {
		return err
	}
	err = login()
	if !fault.Is(err, fault.Unauthenticated) {
		a.refund(from, counted)
		return err
	}
	return a.keep(r.Context(), from, err)
}

// Wrong counts a wrong secret. It returns the error for the caller: wrong secret or too many attempts.
func (a *Attempts) Wrong(r *http.Request, secret string, wrong error) error {
	from := source(r)
	if _, err := a.count(from, secret); err != nil {
		return err
	}
	return a.keep(r.Context(), from, wrong)
}

// Blocked returns an error if the request's source has failed too often.
func (a *Attempts) Blocked(r *http.Request) error {
	a.mu.RLock()
	defer a.mu.RUnlock()
	if len(a.failures) == 0 { // the usual case
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

// count adds a failure, unless the limit is reached or the secret equals the last wrong one.
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

// refund removes the failure that was counted for a secret that turned out to be right.
func (a *Attempts) refund(from netip.Prefix, counted bool) {
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

// keep stores the count of a source and returns err. If storing fails it returns that error, so that nobody can guess
// while the count cannot be stored.
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

// forget removes sources whose window has ended. If that is not enough it removes all sources, because memory must stay
// bounded.
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

// source returns the network a request comes from: an IPv4 address, or the /64 of an IPv6 address. It ignores
// forwarding headers, since any client can set them.
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
