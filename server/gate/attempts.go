package gate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

const (
	failuresOfName   = 10              // maximum number of failures per name, source and window
	failuresOfSource = 100             // maximum number of failures per source and window, for all names together
	failureWindow    = time.Minute     // time after which a failure no longer counts
	tryEvery         = 2 * time.Second // interval at which one password is still checked after too many failures
	failuresKept     = 10_000
)

// Failures stores the numbers of failed sign-ins, so that a restart of the server does not reset them.
type Failures interface {
	PutSignInFailures(ctx context.Context, f registry.SignInFailures) error
	SignInFailures(ctx context.Context, now time.Time) ([]registry.SignInFailures, error)
}

// Attempts limits how often one source may send a wrong secret for one name. A token is cheap to check. Therefore every
// token is checked, a correct token always passes, and wrong tokens are counted. A password is expensive to check and
// can be guessed. Therefore, after too many failures, only one password is checked every two seconds.
type Attempts struct {
	kept     Failures
	mu       sync.Mutex
	failures map[string]failure // by key
	now      func() time.Time
}

type failure struct {
	count int
	until time.Time
	next  time.Time         // time when the next password may be checked, after too many failures
	last  [sha256.Size]byte // hash of the last wrong secret; sending the same secret again is no guess and is not counted
}

// NewAttempts returns an Attempts that starts with the counts that an earlier server process stored.
func NewAttempts(ctx context.Context, kept Failures, now func() time.Time) (*Attempts, error) {
	a := &Attempts{kept: kept, failures: map[string]failure{}, now: now}
	before, err := kept.SignInFailures(ctx, now())
	if err != nil {
		return nil, err
	}
	for _, f := range before {
		a.failures[f.Source] = failure{count: f.Count, until: f.Until}
	}
	return a, nil
}

// attempt contains the two keys by which a failure is counted: the source, and the source together with the name.
type attempt struct{ source, name string }

// attemptOf returns the keys of a request. A key contains only a hash of the name, because people sometimes type a
// secret into the field of the name.
func attemptOf(r *http.Request, name string) attempt {
	from := source(r).String()
	hash := sha256.Sum256([]byte(from + "\x00" + name))
	return attempt{source: from, name: from + " " + hex.EncodeToString(hash[:8])}
}

// Try calls signIn to check a password for a name. It counts a failure before the check and subtracts it again if the
// password is correct. This way, concurrent attempts are limited like consecutive ones.
func (a *Attempts) Try(r *http.Request, name, secret string, signIn func() error) error {
	try := attemptOf(r, name)
	counted, err := a.admit(try, secret)
	if err != nil {
		return err
	}
	err = signIn()
	if !fault.Is(err, fault.Unauthenticated) {
		if counted {
			a.refund(try)
		}
		return err
	}
	return a.refuse(r.Context(), try, counted, err)
}

// Checked records and returns the result err of a cheap check, such as the check of a token. If err means that the
// secret is wrong, Checked counts a failure. After too many failures it returns TooManyRequests instead.
func (a *Attempts) Checked(r *http.Request, name, secret string, err error) error {
	if !fault.Is(err, fault.Unauthenticated) {
		return err
	}
	try := attemptOf(r, name)
	a.mu.Lock()
	counted := !a.tooMany(try) && a.count(try, secret)
	a.mu.Unlock()
	return a.refuse(r.Context(), try, counted, err)
}

// admit counts an attempt before the check. After too many failures it allows one attempt every two seconds, which it
// does not count, and rejects all other attempts.
func (a *Attempts) admit(try attempt, secret string) (counted bool, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.tooMany(try) {
		return a.count(try, secret), nil
	}
	now, full := a.now(), try.name
	if a.failures[full].count < failuresOfName {
		full = try.source
	}
	f := a.failures[full]
	if now.Before(f.next) {
		return false, tooManyFailures(f.next.Sub(now))
	}
	f.next = now.Add(tryEvery)
	a.failures[full] = f
	return false, nil
}

// tooMany reports whether a name or a source has reached its limit of failures. The caller must hold the lock.
func (a *Attempts) tooMany(try attempt) bool {
	if len(a.failures) == 0 { // Usually there are no failures.
		return false
	}
	now := a.now()
	byName, bySource := a.failures[try.name], a.failures[try.source]
	return byName.count >= failuresOfName && now.Before(byName.until) || bySource.count >= failuresOfSource && now.Before(bySource.until)
}

// count adds a failure. It does nothing if the last wrong secret for this name was the same. The caller must hold the
// lock.
func (a *Attempts) count(try attempt, secret string) bool {
	now, hash := a.now(), sha256.Sum256([]byte(secret))
	if len(a.failures) >= failuresKept {
		a.forget(now)
	}
	if f := a.failures[try.name]; f.count > 0 && f.last == hash && now.Before(f.until) {
		return false
	}
	for _, key := range []string{try.name, try.source} {
		f := a.failures[key]
		if !now.Before(f.until) {
			f = failure{until: now.Add(failureWindow)}
		}
		f.count, f.last = f.count+1, hash
		a.failures[key] = f
	}
	return true
}

// refund subtracts a failure that was counted before the check, because the secret was correct.
func (a *Attempts) refund(try attempt) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, key := range []string{try.name, try.source} {
		f := a.failures[key]
		f.count--
		if a.failures[key] = f; f.count <= 0 {
			delete(a.failures, key)
		}
	}
}

// refuse stores the new counts and returns err. If the counts cannot be stored, refuse returns the storage error, so
// that a client cannot guess secrets without being counted. If the failure was not counted because there were too many,
// refuse returns TooManyRequests.
func (a *Attempts) refuse(ctx context.Context, try attempt, counted bool, err error) error {
	if !counted {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.tooMany(try) {
			return tooManyFailures(tryEvery)
		}
		return err
	}
	for _, key := range []string{try.name, try.source} {
		a.mu.Lock()
		f := a.failures[key]
		a.mu.Unlock()
		stored := a.kept.PutSignInFailures(context.WithoutCancel(ctx), registry.SignInFailures{Source: key, Count: f.count, Until: f.until})
		if stored != nil {
			return stored
		}
	}
	return err
}

func tooManyFailures(wait time.Duration) error {
	return &fault.Error{Code: fault.TooManyRequests, RetryAfter: max(wait, time.Second),
		Message: "Too many wrong credentials for this name from this address. Correct credentials are still accepted. Try again in a moment."}
}

// forget removes expired keys. If there are still too many keys, it removes all of them, because limiting the memory is
// more important.
func (a *Attempts) forget(now time.Time) {
	for key, f := range a.failures {
		if !now.Before(f.until) {
			delete(a.failures, key)
		}
	}
	if len(a.failures) >= failuresKept {
		clear(a.failures)
	}
}

// source returns the network from which a request comes: an IPv4 address, or the /64 prefix of an IPv6 address.
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
