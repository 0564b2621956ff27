package access

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"
)

// uses collects times of last use in memory until flush stores them, so that no request waits for a write.
type uses struct {
	writing sync.Mutex // lets only one flush run at a time
	mu      sync.Mutex
	last    map[string]time.Time // time of last use, by token ID or session hash
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

// written removes the times that were just stored, unless a time has changed since.
func (u *uses) written(stored map[string]time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for token, at := range stored {
		if u.last[token].Equal(at) {
			delete(u.last, token)
		}
	}
}

// flush passes the unstored times to write. If write fails, the next call passes them again.
func (u *uses) flush(ctx context.Context, write func(context.Context, map[string]time.Time) error) error {
	u.writing.Lock()
	defer u.writing.Unlock()
	last := u.all()
	if len(last) == 0 {
		return nil
	}
	if err := write(ctx, last); err != nil {
		return err
	}
	u.written(last)
	return nil
}

// Flush stores the times of last use of tokens and sessions.
func (s *Service) Flush(ctx context.Context) error {
	return errors.Join(s.uses.flush(ctx, s.tokens.TouchTokens), s.visits.flush(ctx, s.sessions.TouchSessions))
}
