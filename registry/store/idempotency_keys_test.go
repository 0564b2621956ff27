package store_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/registry/store/storetest"
)

func reserve(t *testing.T, s *store.Store, k registry.IdempotencyKey) *registry.IdempotencyKey {
	t.Helper()
	existing, err := s.ReserveKey(t.Context(), k)
	if err != nil {
		t.Fatal(err)
	}
	if existing != nil {
		existing.Server, existing.Ended = "", false // TestReserveRun tests them
	}
	return existing
}

// settle starts a new epoch of the server.
func settle(t *testing.T, s *store.Store) {
	t.Helper()
	if _, err := s.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestKeyLeadsToItsAnswer(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		expires := time.Now().UTC().Truncate(time.Microsecond).Add(time.Hour)
		k := registry.IdempotencyKey{Workspace: ws, Owner: "default/u1", Key: "k", BodyHash: "b", ExpiresAt: expires}
		if reserve(t, s, k) != nil {
			t.Fatal("a free key was taken")
		}
		same(t, reserve(t, s, k), &k) // in progress: no status, no body
		other := k
		other.Owner = "default/u2"
		if reserve(t, s, other) != nil {
			t.Error("different callers share a key")
		}

		if err := s.CompleteKey(t.Context(), k.Owner, k.Key, 204, nil); err != nil {
			t.Fatal(err)
		}
		if err := s.ReleaseKey(t.Context(), k.Owner, k.Key); err != nil { // has no effect: the key is completed
			t.Fatal(err)
		}
		want := k
		want.Status, want.Body = 204, []byte{}
		same(t, reserve(t, s, k), &want)
		if err := s.CompleteKey(t.Context(), k.Owner, k.Key, 201, []byte("{\x00}")); err != nil {
			t.Fatal(err)
		}
		want.Status, want.Body = 201, []byte("{\x00}")
		same(t, reserve(t, s, k), &want)

		if err := s.ReleaseKey(t.Context(), other.Owner, other.Key); err != nil {
			t.Fatal(err)
		}
		if reserve(t, s, other) != nil {
			t.Error("a released key was taken")
		}
		if n, err := s.ReleaseKeys(t.Context()); n != 1 || err != nil {
			t.Errorf("released %d, %v", n, err)
		}
		expect(t, s.CompleteKey(t.Context(), other.Owner, other.Key, 200, nil), fault.NotFound)
		if n, err := s.SweepKeys(t.Context(), expires); n != 1 || err != nil {
			t.Errorf("swept %d, %v", n, err)
		}
	})
}

func TestExpiredKeyIsFree(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		old := registry.IdempotencyKey{Owner: "o", Key: "k", BodyHash: "old", ExpiresAt: time.Now().Add(-time.Second)}
		reserve(t, s, old)
		if err := s.CompleteKey(t.Context(), "o", "k", 200, []byte("old")); err != nil {
			t.Fatal(err)
		}
		fresh := old
		fresh.BodyHash, fresh.ExpiresAt = "new", time.Now().Add(time.Hour)
		if reserve(t, s, fresh) != nil {
			t.Fatal("an expired key was taken")
		}
		if got := reserve(t, s, fresh); got == nil || got.BodyHash != "new" || got.Status != 0 || got.Body != nil {
			t.Errorf("%+v", got)
		}
	})
}

func TestOneOfManyReservesAKey(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		for _, expires := range []time.Duration{-time.Second, time.Hour} { // the second round reuses an expired key
			k := registry.IdempotencyKey{Owner: "o", Key: "k", ExpiresAt: time.Now().Add(time.Hour)}
			if expires < 0 {
				expired := k
				expired.ExpiresAt = time.Now().Add(expires)
				reserve(t, s, expired)
			} else if err := s.ReleaseKey(t.Context(), "o", "k"); err != nil {
				t.Fatal(err)
			}
			var got atomic.Int64
			var group sync.WaitGroup
			for range 20 {
				group.Go(func() {
					existing, err := s.ReserveKey(t.Context(), k)
					if err != nil {
						t.Error(err)
					}
					if existing == nil {
						got.Add(1)
					}
				})
			}
			group.Wait()
			if got.Load() != 1 {
				t.Errorf("%d callers reserved the key", got.Load())
			}
		}
	})
}

// TestReleaseKey_Failed_OneRepetitionGetsTheKey checks that one repeated request gets the key if the database did not
// answer when the first request released it. The other repeated requests see a key in progress.
func TestReleaseKey_Failed_OneRepetitionGetsTheKey(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		k := registry.IdempotencyKey{Owner: "o", Key: "k", BodyHash: "b", ExpiresAt: time.Now().Add(time.Hour)}
		reserve(t, s, k)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := s.ReleaseKey(ctx, "o", "k"); err == nil {
			t.Fatal("the key was released")
		}
		if got := reserve(t, s, k); got != nil {
			t.Errorf("a repetition waits for %+v", got)
		}
		if reserve(t, s, k) == nil {
			t.Error("two repetitions got the key")
		}
	})
}

// TestReleaseKeys_RequestMadeSomething_KeyNamesIt checks that a key still names the resource that its request created
// if the server ends before it responds. Otherwise a retry would create the resource again, or fail because it exists.
func TestReleaseKeys_RequestMadeSomething_KeyNamesIt(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		made := map[registry.MadeKind]func(ctx context.Context) (string, error){
			registry.MadeRun:   func(ctx context.Context) (string, error) { run := queued(); return run.ID, s.BeginRun(ctx, run) },
			registry.MadeAgent: func(ctx context.Context) (string, error) { a := agent("made"); return a.ID, s.CreateAgent(ctx, a) },
			registry.MadeVersion: func(ctx context.Context) (string, error) {
				of := create(t, s, agent("published"))
				return of.ID + "/1.0.0", s.InsertVersion(ctx, ws, version(of, "1.0.0"))
			},
		}
		for kind, make := range made {
			key := registry.IdempotencyKey{Workspace: ws, Owner: "o", Key: string(kind), BodyHash: "h", ExpiresAt: time.Now().Add(time.Hour)}
			if reserve(t, s, key) != nil {
				t.Fatal("the key is not free")
			}
			id, err := make(registry.WithKey(t.Context(), registry.KeyRef{Owner: "o", Key: string(kind)}))
			if err != nil {
				t.Fatal(err)
			}
			if err := s.ReleaseKey(t.Context(), "o", string(kind)); err != nil {
				t.Fatal(err)
			}
			if _, err := s.ReleaseKeys(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := reserve(t, s, key); got == nil || got.Made != (registry.Made{Kind: kind, ID: id}) {
				t.Errorf("the key of the %s %s is %+v", kind, id, got)
			}
		}
		// A server whose key was released by another server must not create the resource too.
		lost := registry.WithKey(t.Context(), registry.KeyRef{Owner: "o", Key: "released"})
		again := queued()
		expect(t, s.BeginRun(lost, again), fault.StorageUnavailable)
		_, err := s.Run(t.Context(), ws, again.ID)
		expect(t, err, fault.NotFound)
		expect(t, s.CreateAgent(lost, agent("lost")), fault.StorageUnavailable)
	})
}

// TestBeginRun_WithReservation_OneRunHasTheKey checks that a run and its key are stored together, and that only one of
// several runs with the same key is stored.
func TestBeginRun_WithReservation_OneRunHasTheKey(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		k := registry.IdempotencyKey{Workspace: ws, Owner: "o", Key: "k", BodyHash: "b", ExpiresAt: time.Now().Add(time.Hour)}
		if existing, err := s.FindKey(t.Context(), "o", "k"); existing != nil || err != nil {
			t.Fatal(existing, err)
		}
		ctx := registry.WithReservation(t.Context(), k)
		all := make([]registry.Run, 20)
		errs := make([]error, len(all))
		var group sync.WaitGroup
		for n := range all {
			all[n] = queued()
			group.Go(func() { errs[n] = s.BeginRun(ctx, all[n]) })
			group.Go(func() { begin(t, s, queued()) }) // other runs share the transactions
		}
		group.Wait()
		existing, err := s.FindKey(t.Context(), "o", "k")
		if err != nil || existing == nil || existing.BodyHash != "b" || existing.Made.Kind != registry.MadeRun {
			t.Fatalf("the key is %+v, %v", existing, err)
		}
		for n, run := range all {
			_, err := s.Run(t.Context(), ws, run.ID)
			if run.ID == existing.Made.ID {
				if errs[n] != nil || err != nil {
					t.Errorf("the run with the key: %v, %v", errs[n], err)
				}
			} else if !errors.Is(errs[n], registry.ErrKeyReserved) || !fault.Is(err, fault.NotFound) {
				t.Errorf("a run without the key: %v, %v", errs[n], err)
			}
		}
	})
}

// TestReserveRun checks that one of several runs gets a key, that it keeps the key if the key is reserved again, and that the
// key tells when its server has ended.
func TestReserveRun(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		settle(t, s)
		k := registry.IdempotencyKey{Workspace: ws, Owner: "o", Key: "k", BodyHash: "b", ExpiresAt: time.Now().Add(time.Hour)}
		var errs [20]error
		var group sync.WaitGroup
		for n := range errs {
			group.Go(func() { errs[n] = s.ReserveRun(t.Context(), fmt.Sprint("run-", n), k) })
			group.Go(func() { begin(t, s, queued()) }) // other runs share the transactions
		}
		group.Wait()
		existing, err := s.FindKey(t.Context(), "o", "k")
		if err != nil || existing == nil || existing.BodyHash != "b" || existing.Made.Kind != registry.MadeRun || existing.Ended {
			t.Fatalf("the key is %+v, %v", existing, err)
		}
		for range 2 {
			for n, err := range errs {
				if own := fmt.Sprint("run-", n) == existing.Made.ID; own && err != nil || !own && !errors.Is(err, registry.ErrKeyReserved) {
					t.Errorf("run %d, key of run %s: %v", n, existing.Made.ID, err)
				}
				errs[n] = s.ReserveRun(t.Context(), fmt.Sprint("run-", n), k)
			}
		}
		settle(t, s) // as after a restart
		if existing, err = s.FindKey(t.Context(), "o", "k"); err != nil || existing == nil || !existing.Ended {
			t.Errorf("after the end of the server: %+v, %v", existing, err)
		}
		if err := s.ReserveRun(t.Context(), existing.Made.ID, k); !errors.Is(err, registry.ErrKeyReserved) { // another server may have recorded the run
			t.Errorf("the same run in another epoch: %v", err)
		}
		k.Key = "a\u0007"
		if err := s.ReserveRun(t.Context(), "run", k); !fault.Is(err, fault.InvalidInput) {
			t.Errorf("a key with a control character: %v", err)
		}
	})
}

// TestBeginRun_WithReservationAgain_KeepsTheKey checks that a run can be stored again with its key, and that other runs
// still cannot use the key. A server does this if it does not know whether the first write succeeded.
func TestBeginRun_WithReservationAgain_KeepsTheKey(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ctx := registry.WithReservation(t.Context(), registry.IdempotencyKey{Workspace: ws, Owner: "o", Key: "k", BodyHash: "b", ExpiresAt: time.Now().Add(time.Hour)})
		run := queued()
		for range 2 {
			if err := s.BeginRun(ctx, run); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.BeginRun(ctx, queued()); !errors.Is(err, registry.ErrKeyReserved) {
			t.Errorf("another run with the key: %v", err)
		}
		if existing, err := s.FindKey(t.Context(), "o", "k"); err != nil || existing == nil || existing.Made.ID != run.ID {
			t.Errorf("the key is %+v, %v", existing, err)
		}
	})
}

// TestBeginAsked_WithReservation_OnePersonIsAsked checks that of several runs that have the same key and need an
// approval, one is stored, with one request for approval.
func TestBeginAsked_WithReservation_OnePersonIsAsked(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ctx := registry.WithReservation(t.Context(), registry.IdempotencyKey{Workspace: ws, Owner: "o", Key: "k", BodyHash: "b", ExpiresAt: time.Now().Add(time.Hour)})
		at := time.Date(2026, 11, 24, 8, 0, 0, 0, time.UTC)
		all := make([]registry.Run, 10)
		errs := make([]error, len(all))
		var group sync.WaitGroup
		for n := range all {
			all[n] = queued()
			all[n].Status = registry.AwaitingApproval
			asks := request(fmt.Sprint(n), at)
			asks.Workspace, asks.RunID = ws, all[n].ID
			group.Go(func() { errs[n] = s.BeginAsked(ctx, all[n], asks, deliveryOf) })
		}
		group.Wait()
		stored := 0
		for n, run := range all {
			_, err := s.Run(t.Context(), ws, run.ID)
			_, unasked := s.ApprovalOfRun(t.Context(), ws, run.ID)
			switch {
			case errs[n] == nil && err == nil && unasked == nil:
				stored++
			case !errors.Is(errs[n], registry.ErrKeyReserved) || !fault.Is(err, fault.NotFound) || !fault.Is(unasked, fault.NotFound):
				t.Errorf("run %d: %v, %v, %v", n, errs[n], err, unasked)
			}
		}
		page, err := s.ListDeliveries(t.Context(), ws, registry.DeliveryFilter{Limit: 9})
		if stored != 1 || len(page.Items) != 1 || err != nil {
			t.Errorf("%d runs are stored, and %+v are sent, %v", stored, page.Items, err)
		}
	})
}
