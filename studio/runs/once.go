package runs

import (
	"context"
	"errors"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// Keys reads stored idempotency keys.
type Keys interface {
	FindKey(ctx context.Context, owner, key string) (*registry.IdempotencyKey, error)
}

// onceEvery is the interval at which a repeated request checks whether the first request has ended.
const onceEvery = 20 * time.Millisecond

// Once executes a request at most once for its idempotency key. The key is stored together with the run. A repeated
// request waits for the end of the first run and returns that run, but it does not wait for an approval. If the first
// request created no run, the repeated request is executed. Errors: IdempotencyMismatch if the key belongs to a
// different request; Conflict if the run of the first request was deleted.
func (s *Service) Once(ctx context.Context, actor registry.Actor, keys Keys, key registry.IdempotencyKey, req Request) (registry.Run, error) {
	tick := time.NewTicker(onceEvery)
	defer tick.Stop()
	req.once = &key
	for {
		result, err := s.Execute(ctx, actor, req) // reads no key before, because almost every request is new
		if err == nil || result.ID != "" {
			return result.Run, err
		}
		for { // the request may be a repeated one, which may be refused now for other reasons
			existing, unread := keys.FindKey(ctx, key.Owner, key.Key)
			if unread != nil && !errors.Is(err, registry.ErrKeyReserved) {
				return registry.Run{}, err
			}
			if unread != nil {
				return registry.Run{}, unread
			}
			if existing == nil {
				break
			}
			if run, ended, err := s.first(ctx, actor, *existing, key); ended || err != nil {
				return run, err
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				return registry.Run{}, context.Cause(ctx)
			}
			err = registry.ErrKeyReserved // if the key is free now, the request is executed
		}
		if !errors.Is(err, registry.ErrKeyReserved) {
			return registry.Run{}, err
		}
	}
}

// first returns the run that the first request with a key created. It returns false if a repeated request must wait for
// the run.
func (s *Service) first(ctx context.Context, actor registry.Actor, existing, key registry.IdempotencyKey) (registry.Run, bool, error) {
	if existing.BodyHash != key.BodyHash {
		return registry.Run{}, false, fault.New(fault.IdempotencyMismatch, "This ID was used for a different request. Choose a new one.")
	}
	if existing.Made.ID == "" { // an earlier version of the server stored the key before the run
		return registry.Run{}, false, nil
	}
	run, err := s.Get(ctx, actor, existing.Made.ID)
	if fault.Is(err, fault.NotFound) {
		return run, false, fault.New(fault.Conflict, "This ID was used for the run %s, which is not stored any more. Choose a new one.", existing.Made.ID)
	}
	return run, run.Status.Final() || run.Status == registry.AwaitingApproval, err
}
