package runs_test

import (
	"context"
	"testing"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// found returns its keys one after the other, then nil.
type found []*registry.IdempotencyKey

func (f *found) FindKey(context.Context, string, string) (*registry.IdempotencyKey, error) {
	if len(*f) == 0 {
		return nil, nil //nolint:nilnil // nil means that the key is free
	}
	next := (*f)[0]
	*f = (*f)[1:]
	return next, nil
}

// A key without a run, as an earlier version of the server could store it, must make Once wait for the run. If the run
// was deleted before its key, the error must name the run.
func TestOnce_KeyWithoutRun(t *testing.T) {
	t.Parallel()
	k := newKit(t, 1, 1)
	key := registry.IdempotencyKey{Workspace: k.actor.Workspace, Owner: "o", Key: "k", BodyHash: "b"}
	reserved, deleted := key, key
	deleted.Made = registry.Made{Kind: registry.MadeRun, ID: "gone"}
	run, err := k.Once(t.Context(), k.actor, &found{&reserved, &reserved}, key, program("output 1"))
	if err != nil || run.Status != registry.Succeeded {
		t.Errorf("after an unfinished request: %s, %v", run.Status, err)
	}
	if _, err := k.Once(t.Context(), k.actor, &found{&deleted}, key, program("output 1")); !fault.Is(err, fault.Conflict) {
		t.Errorf("after a deleted run: %v", err)
	}
}
