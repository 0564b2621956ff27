package quotas_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/registry/store/storetest"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/quotas"
)

const ws = registry.DefaultWorkspace

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// clock is a clock that tests advance.
type clock struct{ at atomic.Int64 }

func (c *clock) now() time.Time        { return noon.Add(time.Duration(c.at.Load())) }
func (c *clock) turn(by time.Duration) { c.at.Add(int64(by)) }

func open(s *store.Store, c *clock, defaults registry.Quota) *quotas.Service {
	return quotas.New(quotas.Options{Store: s, Ledger: s, Workspaces: s, Defaults: defaults, Now: c.now})
}

func finish(t *testing.T, s *store.Store, workspace string, at time.Time, cpuMs float64) {
	t.Helper()
	err := s.FinishRun(t.Context(), registry.Run{
		ID: uuid.Must(uuid.NewV7()).String(), Workspace: workspace, Language: runtimes.Bash, Status: registry.Succeeded, Input: json.RawMessage(`"0123456789"`),
		Stdout: strings.Repeat("x", 1000), Metrics: registry.Metrics{CPUMs: cpuMs}, CreatedAt: at, FinishedAt: &at,
	}, []runtimes.Event{{Seq: 1, At: at, Kind: runtimes.KindStdout, Data: json.RawMessage(`"y"`)}})
	if err != nil {
		t.Fatal(err)
	}
}

func refused(t *testing.T, err error, code fault.Code, quota string) *fault.Error {
	t.Helper()
	f, ok := err.(*fault.Error)
	if !ok || f.Code != code || f.Extra["quota"] != quota {
		t.Fatalf("%v, want %s of %s", err, code, quota)
	}
	return f
}

func TestSimultaneousRunsNeverExceed(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		service := open(s, &clock{}, registry.Quota{ConcurrentRuns: 3, RunsPerDay: 50})
		var live, most, began, back atomic.Int64
		var all sync.WaitGroup
		for i := range 200 {
			all.Go(func() {
				place, err := service.Admit(context.Background(), ws)
				if err != nil {
					return
				}
				now := live.Add(1)
				for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
				}
				live.Add(-1)
				if i%10 == 0 { // Return the place of every tenth run, as if the run was not created.
					back.Add(1)
					place.Back()
					return
				}
				began.Add(1)
				place.End(time.Millisecond, 1)
			})
		}
		all.Wait()
		for range 100 { // Admit the remaining runs of the day, one after the other.
			if place, err := service.Admit(t.Context(), ws); err == nil {
				began.Add(1)
				place.End(0, 0)
			}
		}
		if most.Load() > 3 || began.Load() != 50 {
			t.Errorf("%d at once, %d in all, %d given back", most.Load(), began.Load(), back.Load())
		}
		r, err := service.Of(t.Context(), ws)
		if err != nil || r.Used.ConcurrentRuns != 0 || r.Used.RunsPerDay != 50 {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

func TestDaysAndRestarts(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		c := &clock{}
		finish(t, s, ws, noon.Add(-13*time.Hour), 99_000) // This run was recorded yesterday.
		finish(t, s, ws, noon.Add(-time.Hour), 500)
		finish(t, s, "other", noon.Add(-time.Hour), 99_000)
		service := open(s, c, registry.Quota{RunsPerDay: 2})
		place, err := service.Admit(t.Context(), ws)
		if err != nil {
			t.Fatal(err)
		}
		place.End(600*time.Millisecond, 0)
		finish(t, s, ws, noon, 600)
		_, err = service.Admit(t.Context(), ws)
		f := refused(t, err, fault.QuotaExceeded, "runsPerDay")
		if f.RetryAfter != 12*time.Hour || !strings.Contains(f.Message, "2026-11-23T00:00:00Z") {
			t.Errorf("%+v", f)
		}
		again := open(s, c, registry.Quota{RunsPerDay: 2}) // This service has an empty cache, like after a restart.
		_, err = again.Admit(t.Context(), ws)
		refused(t, err, fault.QuotaExceeded, "runsPerDay")
		cpu := open(s, c, registry.Quota{CPUSecondsPerDay: 1})
		_, err = cpu.Admit(t.Context(), ws)
		refused(t, err, fault.QuotaExceeded, "cpuSecondsPerDay")
		c.turn(12 * time.Hour)
		for _, one := range []*quotas.Service{service, cpu} {
			place, err := one.Admit(t.Context(), ws)
			if err != nil {
				t.Fatal("the next day", err)
			}
			c.turn(24 * time.Hour)
			place.Back() // Back must have no effect on another day.
			if r, err := one.Of(t.Context(), ws); err != nil || r.Used.RunsPerDay != 0 && r.Until.After(c.now().Add(24*time.Hour)) {
				t.Errorf("%+v, %v", r, err)
			}
		}
	})
}

func TestStorage(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		c := &clock{}
		service := open(s, c, registry.Quota{StorageBytes: 1500})
		if err := service.CheckAgentLimit(t.Context(), ws); err != nil {
			t.Fatal(err)
		}
		finish(t, s, ws, noon, 1)
		place, err := service.Admit(t.Context(), ws)
		if err != nil {
			t.Fatal("what was not told is not known", err)
		}
		place.End(0, 1500)
		_, err = service.Admit(t.Context(), ws)
		refused(t, err, fault.StorageFull, "storageBytes")
		c.turn(11 * time.Second) // The storage is measured again, and contains one run with a thousand bytes.
		place, err = service.Admit(t.Context(), ws)
		if err != nil {
			t.Fatal(err)
		}
		place.End(0, 0)
		r, err := service.Of(t.Context(), ws)
		if err != nil || r.Used.StorageBytes < 1000 || r.Used.StorageBytes > 1400 || r.Used.MeasuredAt == nil {
			t.Errorf("%+v, %v", r.Used, err)
		}
		// Stored answers to repeated requests count as stored bytes.
		if _, err := s.ReserveKey(t.Context(), registry.IdempotencyKey{Workspace: ws, Owner: "ada", Key: "k", ExpiresAt: c.now().Add(time.Hour)}); err != nil {
			t.Fatal(err)
		}
		answer := make([]byte, 3000)
		rand.Read(answer) // The data is random, so that the database cannot compress it.
		if err := s.CompleteKey(t.Context(), "ada", "k", 200, answer); err != nil {
			t.Fatal(err)
		}
		if stored, err := s.Stored(t.Context(), ws); err != nil || stored < r.Used.StorageBytes+3000 || stored > r.Used.StorageBytes+3010 {
			t.Errorf("%d, %v", stored, err)
		}
		if other, err := service.Of(t.Context(), "other"); err != nil || other.Used.StorageBytes != 0 {
			t.Errorf("%+v, %v", other, err)
		}
	})
}

func TestOwnQuotas(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		service := open(s, &clock{}, registry.Quota{ConcurrentRuns: 1, RunsPerDay: 7})
		operator := registry.Actor{ID: "admin", Type: registry.UserActor, Workspace: ws}
		none := int64(0)
		_, err := service.Set(t.Context(), registry.Actor{ID: "bo", Workspace: "other"}, ws, registry.OwnQuota{ConcurrentRuns: &none})
		if !fault.Is(err, fault.Forbidden) {
			t.Error(err)
		}
		if _, err := service.For(t.Context(), registry.Actor{ID: "bo", Workspace: "other"}, "other"); !fault.Is(err, fault.Forbidden) {
			t.Error(err)
		}
		if _, err := service.Set(t.Context(), operator, "nowhere", registry.OwnQuota{}); !fault.Is(err, fault.NoWorkspace) {
			t.Error(err)
		}
		if r, err := service.For(t.Context(), operator, ws); err != nil || r.Quota.RunsPerDay != 7 {
			t.Errorf("%+v, %v", r, err)
		}
		if _, err := service.Set(t.Context(), operator, ws, registry.OwnQuota{ConcurrentRuns: &none}); err != nil {
			t.Fatal(err)
		}
		for _, one := range []*quotas.Service{service, open(s, &clock{}, registry.Quota{ConcurrentRuns: 1, RunsPerDay: 7})} {
			r, err := one.Of(t.Context(), ws)
			if err != nil || r.Quota.ConcurrentRuns != 0 || r.Quota.RunsPerDay != 7 {
				t.Errorf("%+v, %v", r, err)
			}
			for range 2 {
				if _, err := one.Admit(t.Context(), ws); err != nil {
					t.Error(err)
				}
			}
		}
	})
}

// Check must return the errors of Admit, but reserve nothing.
func TestCheck_NothingReserved(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		service := open(s, &clock{}, registry.Quota{ConcurrentRuns: 1, RunsPerDay: 1})
		for range 2 {
			if err := service.Check(t.Context(), ws); err != nil {
				t.Fatal(err)
			}
		}
		place, err := service.Admit(t.Context(), ws)
		if err != nil {
			t.Fatal(err)
		}
		refused(t, service.Check(t.Context(), ws), fault.QuotaExceeded, "concurrentRuns")
		place.End(0, 0)
		refused(t, service.Check(t.Context(), ws), fault.QuotaExceeded, "runsPerDay")
	})
}
