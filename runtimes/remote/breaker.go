package remote

import (
	"sync"
	"time"
)

// The breaker opens after breakAfter consecutive failures and stays open for breakFor. It stores at most mostKnown
// services.
const (
	breakAfter = 5
	breakFor   = 30 * time.Second
	mostKnown  = 1000
)

// breaker is a circuit breaker. It stops calls to a service that does not answer. Its state is separate for each
// workspace and host. After breakFor it allows one call as a test.
type breaker struct {
	now func() time.Time

	mu       sync.Mutex
	services map[string]*broken
}

type broken struct {
	failures int
	until    time.Time
}

// allow reports whether a service may be called now. If not, until is the time of the next test call.
func (b *breaker) allow(key string) (until time.Time, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.services[key]
	if s == nil || s.failures < breakAfter {
		return time.Time{}, true
	}
	now := b.now()
	if now.Before(s.until) {
		return s.until, false
	}
	s.until = now.Add(breakFor) // only this call may test the service; other calls are refused until it has ended
	return time.Time{}, true
}

// report records whether a service answered. If it did, the breaker closes.
func (b *breaker) report(key string, answered bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if answered {
		delete(b.services, key)
		return
	}
	s := b.services[key]
	if s == nil {
		if len(b.services) >= mostKnown {
			clear(b.services)
		}
		s = &broken{}
		b.services[key] = s
	}
	if s.failures++; s.failures >= breakAfter {
		s.until = b.now().Add(breakFor)
	}
}
