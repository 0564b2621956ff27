package runs_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/runs"
)

// found returns its keys one after the other, then nil. While it has keys, none is free.
type found []*registry.IdempotencyKey

func (f *found) FindKey(context.Context, string, string) (*registry.IdempotencyKey, error) {
	if len(*f) == 0 {
		return nil, nil //nolint:nilnil // nil means that the key is free
	}
	next := (*f)[0]
	*f = (*f)[1:]
	return next, nil
}

// laggard lets time pass whenever a key is read.
type laggard struct {
	*found
	pass func()
}

func (s laggard) FindKey(ctx context.Context, owner, key string) (*registry.IdempotencyKey, error) {
	s.pass()
	return s.found.FindKey(ctx, owner, key)
}

func (f *found) ReserveRun(context.Context, string, registry.IdempotencyKey) error {
	if len(*f) > 0 {
		return registry.ErrKeyReserved
	}
	return nil
}

// A repeated request waits while its run has no record, and is executed if the key is free then. If the run was deleted
// before its key, the error names the run. If its server has ended or gave up the run, the run is recorded as
// interrupted.
func TestOnce_RunWithoutRecord(t *testing.T) {
	t.Parallel()
	k := newKit(t, 1, 1)
	key := registry.IdempotencyKey{Workspace: k.actor.Workspace, Owner: "o", Key: "k", BodyHash: "b", ExpiresAt: time.Now().Add(24 * time.Hour)}
	unrecorded := key
	unrecorded.Made, unrecorded.Server = registry.Made{Kind: registry.MadeRun, ID: "gone"}, "another"
	run, err := k.Once(t.Context(), k.actor, &found{&unrecorded, &unrecorded}, key, program("output 1"))
	if err != nil || run.Status != registry.Succeeded {
		t.Errorf("while the run has no record: %s, %v", run.Status, err)
	}
	deleted, ended := unrecorded, unrecorded
	deleted.ExpiresAt = key.ExpiresAt.Add(-2 * time.Hour)
	if _, err := k.Once(t.Context(), k.actor, &found{&deleted}, key, program("output 1")); !fault.Is(err, fault.Conflict) {
		t.Errorf("after a deleted run: %v", err)
	}
	ended.Ended, ended.Made.ID = true, "ended"
	own, other := unrecorded, unrecorded
	own.Server, own.Made.ID = "", "own" // the server of the test
	other.ExpiresAt, other.Made.ID = key.ExpiresAt.Add(-10*time.Minute), "other"
	start, passed := time.Now(), time.Duration(0)
	k.Now = func() time.Time { return start.Add(passed) }
	for _, left := range []registry.IdempotencyKey{ended, own, other, ended} {
		passed = 0
		keys := laggard{&found{&left, &left, &left}, func() { passed += 3 * time.Minute }}
		run, err = k.Once(t.Context(), k.actor, keys, key, program("output 1"))
		if waited := passed > 6*time.Minute; waited != (left.Made.ID == "other") {
			t.Errorf("%s: waited %v", left.Made.ID, passed)
		}
		if err != nil || run.ID != left.Made.ID || run.Status != registry.StatusInterrupted {
			t.Errorf("a run that was given up: %s %s, %v", run.ID, run.Status, err)
		}
	}
}

// The agent of a run without a record may be deleted before the request is repeated. The error must not say that the
// request names an unknown agent, because its program may have run.
func TestOnce_UnrecordedRunOfDeletedAgent_NamesTheRun(t *testing.T) {
	t.Parallel()
	k := newKit(t, 1, 1)
	key := registry.IdempotencyKey{Workspace: k.actor.Workspace, Owner: "o", Key: "k", BodyHash: "b", ExpiresAt: time.Now().Add(time.Hour)}
	left := key
	left.Made, left.Ended = registry.Made{Kind: registry.MadeRun, ID: "left"}, true
	_, err := k.Once(t.Context(), k.actor, &found{&left}, key, runs.Request{Agent: "deleted", Version: registry.Latest, Input: json.RawMessage("{}")})
	if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "left") {
		t.Errorf("got %v", err)
	}
}

// unread is a database that does not answer.
type unread struct{ runs.Keys }

func (unread) FindKey(context.Context, string, string) (*registry.IdempotencyKey, error) {
	return nil, fault.New(fault.StorageUnavailable, "The database does not answer.")
}

// A refusal is final only if the key shows that the first request did not run.
func TestOnce_RefusedAndKeyNotRead_NotFinal(t *testing.T) {
	t.Parallel()
	k := newKit(t, 1, 1)
	refused := program("output 1")
	refused.Input = json.RawMessage("not JSON")
	key := registry.IdempotencyKey{Workspace: k.actor.Workspace, Owner: "o", Key: "k", BodyHash: "b", ExpiresAt: time.Now().Add(time.Hour)}
	if _, err := k.Once(t.Context(), k.actor, unread{k.store}, key, refused); !fault.Is(err, fault.StorageUnavailable) {
		t.Errorf("got %v", err)
	}
}

// A repeated request returns the run of the first one, even if it would be refused now.
func TestOnce_RepeatedAndRefused_FirstRun(t *testing.T) {
	t.Parallel()
	k := newKit(t, 1, 1)
	key := registry.IdempotencyKey{Workspace: k.actor.Workspace, Owner: "o", Key: "k", BodyHash: "b", ExpiresAt: time.Now().Add(time.Hour)}
	first, err := k.Once(t.Context(), k.actor, k.store, key, program("output 1"))
	if err != nil {
		t.Fatal(err)
	}
	refused := program("output 1")
	refused.Input = json.RawMessage("not JSON")
	if _, err := k.Execute(t.Context(), k.actor, refused); err == nil {
		t.Fatal("the changed request is not refused")
	}
	for name, request := range map[string]runs.Request{"allowed": program("output 2"), "refused": refused} {
		again, err := k.Once(t.Context(), k.actor, k.store, key, request)
		if err != nil || again.ID != first.ID {
			t.Errorf("%s: run %s instead of %s, %v", name, again.ID, first.ID, err)
		}
	}
	other := key
	other.Key = "other"
	if _, err := k.Once(t.Context(), k.actor, k.store, other, refused); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("a new request that is refused: %v", err)
	}
	other.Key, other.BodyHash = "k", "c"
	if _, err := k.Once(t.Context(), k.actor, k.store, other, program("output 1")); !fault.Is(err, fault.IdempotencyMismatch) {
		t.Errorf("a different request: %v", err)
	}
}
