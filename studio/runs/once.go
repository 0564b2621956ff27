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
	for {
		existing, err := keys.FindKey(ctx, key.Owner, key.Key)
		switch {
		case err != nil:
			return registry.Run{}, err
		case existing == nil:
			req.once = &key
			result, err := s.Execute(ctx, actor, req)
			if !errors.Is(err, registry.ErrKeyReserved) {
				return result.Run, err
			}
		case existing.BodyHash != key.BodyHash:
			return registry.Run{}, fault.New(fault.IdempotencyMismatch, "This ID was used for a different request. Choose a new one.")
		case existing.Made.ID == "": // An earlier version of the server stored the key before it created the run.
		default:
			run, err := s.Get(ctx, actor, existing.Made.ID)
			if fault.Is(err, fault.NotFound) {
				return run, fault.New(fault.Conflict, "This ID was used for the run %s, which is not stored any more. Choose a new one.", existing.Made.ID)
			}
			if err != nil || run.Status.Final() || run.Status == registry.AwaitingApproval {
				return run, err
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return registry.Run{}, context.Cause(ctx)
		}
	}
}
