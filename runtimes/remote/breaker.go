package remote

import (
	"sync"
	"time"
)

// The breaker opens after a number of failures in a row and stays open for a while. It knows a limited number of
// services.
const (
	breakAfter = 5
	breakFor   = 30 * time.Second
	mostKnown  = 1000
)

// breaker stops calls of services that do not answer, for each workspace and host. After a while one call may try again.
type breaker struct {
	now func() time.Time

	mu       sync.Mutex
	services map[string]*broken
}

type broken struct {
	failures int
	until    time.Time
}

// allow reports whether a service may be called, and if not, when it may be.
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
	s.until = now.Add(breakFor) // this call tries; others wait for its result
	return time.Time{}, true
}

// report records whether a service answered.
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
