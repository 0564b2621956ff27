package runs

import (
	"context"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// Keys stores idempotency keys.
type Keys interface {
	ReserveKey(ctx context.Context, k registry.IdempotencyKey) (*registry.IdempotencyKey, error)
	ReleaseKey(ctx context.Context, owner, key string) error
}

// onceEvery is the interval at which a repetition looks for the end of the first request.
const onceEvery = 20 * time.Millisecond

// Once executes a request at most once for its key. A repetition returns the run of the first request, and waits for
// its end, but not for an approval. If the first request made no run, a repetition tries again. Error: IdempotencyMismatch if the key belongs to
// another request.
func (s *Service) Once(ctx context.Context, actor registry.Actor, keys Keys, key registry.IdempotencyKey, req Request) (registry.Run, error) {
	tick := time.NewTicker(onceEvery)
	defer tick.Stop()
	for {
		existing, err := keys.ReserveKey(ctx, key)
		switch {
		case err != nil:
			return registry.Run{}, err
		case existing == nil:
			return s.first(ctx, actor, keys, key, req)
		case existing.BodyHash != key.BodyHash:
			return registry.Run{}, fault.New(fault.IdempotencyMismatch, "This ID was used for a different request. Choose a new one.")
		case existing.Made.ID != "":
			run, err := s.Get(ctx, actor, existing.Made.ID)
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

// first executes the request that has reserved its key. The key stays if there is a run.
func (s *Service) first(ctx context.Context, actor registry.Actor, keys Keys, key registry.IdempotencyKey, req Request) (registry.Run, error) {
	req.Key = &registry.KeyRef{Owner: key.Owner, Key: key.Key}
	result, err := s.Execute(ctx, actor, req)
	if err != nil {
		if released := keys.ReleaseKey(context.WithoutCancel(ctx), key.Owner, key.Key); released != nil {
			return result.Run, released
		}
	}
	return result.Run, err
}
