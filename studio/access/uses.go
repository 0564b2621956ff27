package access

import (
	"context"
	"maps"
	"sync"
	"time"
)

// uses gathers when tokens were last used until somebody writes it down: no request waits for a write.
type uses struct {
	writing sync.Mutex // one flush at a time
	mu      sync.Mutex
	last    map[string]time.Time // by token
}

func newUses() *uses { return &uses{last: map[string]time.Time{}} }

func (u *uses) note(token string, at time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.last[token] = at
}

func (u *uses) of(token string) (time.Time, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	at, ok := u.last[token]
	return at, ok
}

func (u *uses) all() map[string]time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	return maps.Clone(u.last)
}

// written drops what was stored and has not changed since.
func (u *uses) written(stored map[string]time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for token, at := range stored {
		if u.last[token].Equal(at) {
			delete(u.last, token)
		}
	}
}

// Flush writes down when tokens were last used. What could not be written is kept for the next time.
func (s *Service) Flush(ctx context.Context) error {
	s.uses.writing.Lock()
	defer s.uses.writing.Unlock()
	last := s.uses.all()
	if len(last) == 0 {
		return nil
	}
	if err := s.tokens.TouchTokens(ctx, last); err != nil {
		return err
	}
	s.uses.written(last)
	return nil
}
