package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/registry/store/storetest"
)

// members returns the options of two servers that share a database.
func members(t *testing.T) (first, second store.Options) {
	t.Helper()
	first = exclusively(t)
	second = first
	first.Member, second.Member = &store.Member{ID: newID(), Address: "first"}, &store.Member{ID: newID(), Address: "second"}
	return first, second
}

// expireLease sets the end of a server's lease to a time in the past.
func expireLease(t *testing.T, s *store.Store) {
	t.Helper()
	if err := s.Exec(t.Context(), "UPDATE servers SET lease_until = clock_timestamp() - interval '1 second' WHERE id = ?", s.ServerID()); err != nil {
		t.Fatal(err)
	}
}

func attend(t *testing.T, s *store.Store) {
	t.Helper()
	if err := s.Attend(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestOpen_MemberAndServerThatIsAlone_InUse(t *testing.T) {
	t.Parallel()
	one, two := members(t)
	alone := one
	alone.Member = nil
	first, second := settled(t, one), settled(t, two)
	if _, err := store.Open(t.Context(), alone); !errors.Is(err, store.ErrInUse) {
		t.Errorf("a server that is alone: %v", err)
	}
	for _, s := range []*store.Store{first, second} {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	settled(t, alone)
	if _, err := store.Open(t.Context(), one); !errors.Is(err, store.ErrInUse) {
		t.Errorf("a member: %v", err)
	}
}

func TestOpen_MemberOnSQLite_Refused(t *testing.T) {
	t.Parallel()
	o := storetest.Options(t, storetest.SQLite)
	o.Exclusive, o.Member = true, &store.Member{ID: newID()}
	if _, err := store.Open(t.Context(), o); err == nil {
		t.Error("opened")
	}
}

func TestMembers_LeaseExpired_RunsInterrupted(t *testing.T) {
	t.Parallel()
	one, two := members(t)
	two.Now = func() time.Time { return start.Add(time.Hour) } // must have no effect: only the clock of the database counts
	first, second := settled(t, one), settled(t, two)
	run, other := queued(), queued()
	begin(t, first, run)
	begin(t, second, other)
	second.AgeMembership()
	attend(t, second)
	if got := read(t, second, run.ID); got.Status != run.Status || got.Server != first.ServerID() {
		t.Fatalf("with a lease the run is %s of %s", got.Status, got.Server)
	}
	if got := *second.Membership(); got != (store.Membership{Others: 1}) {
		t.Errorf("the second server sees %+v", got)
	}
	expireLease(t, first)
	attend(t, second)
	if got := read(t, second, run.ID); got.Status != registry.StatusInterrupted {
		t.Errorf("without a lease the run is %s", got.Status)
	}
	if got := read(t, second, other.ID); got.Status != other.Status {
		t.Errorf("the run of the second server is %s", got.Status)
	}
	if got := *second.Membership(); got != (store.Membership{Leads: true, Expired: 1}) {
		t.Errorf("the second server sees %+v", got)
	}
	run.Status = registry.Succeeded
	expect(t, first.FinishRun(t.Context(), run, nil), fault.RunInterrupted)
	first.LetProbeBeDue()
	first.Check(t.Context()) // the first server joins again
	if err := first.Ready(); err != nil || first.Membership().Displaced != 1 {
		t.Errorf("the first server: %v, %+v", err, first.Membership())
	}
	again := queued()
	begin(t, first, again)
	attend(t, second)
	if got := read(t, second, again.ID); got.Status != again.Status {
		t.Errorf("a run after the server joined again is %s", got.Status)
	}
}

// TestMembers_OwnRenewalsLate_OthersAreKept checks that a server whose own renewals were late does not remove others.
// After an outage of the database all leases have expired, and another server may only be a moment slower to renew.
func TestMembers_OwnRenewalsLate_OthersAreKept(t *testing.T) {
	t.Parallel()
	one, two := members(t)
	first, second := settled(t, one), settled(t, two)
	run := queued()
	begin(t, first, run)
	expireLease(t, first)
	attend(t, second)
	if got := read(t, second, run.ID); got.Status != run.Status {
		t.Errorf("the run is %s", got.Status)
	}
	first.LetProbeBeDue()
	first.Check(t.Context())
	second.AgeMembership()
	attend(t, second)
	run.Status = registry.Succeeded
	finish(t, first, run)
}

// TestMembers_OwnRenewalLateByLessThanALease_OthersAreKept checks the same for an outage that is shorter than a lease.
// It can make the lease of a server expire that had renewed it earlier than this one.
func TestMembers_OwnRenewalLateByLessThanALease_OthersAreKept(t *testing.T) {
	t.Parallel()
	one, two := members(t)
	first, second := settled(t, one), settled(t, two)
	run := queued()
	begin(t, first, run)
	second.AgeMembership()
	second.AgeRenewal(12 * time.Second)
	expireLease(t, first)
	second.LetProbeBeDue()
	second.Check(t.Context())
	attend(t, second)
	if got := read(t, second, run.ID); got.Status != run.Status {
		t.Errorf("the run is %s", got.Status)
	}
}

// TestMembers_ProbeIsBusy_LeaseIsRenewed checks that a server renews its lease while its probe is busy, for example
// because it stores many records after an outage.
func TestMembers_ProbeIsBusy_LeaseIsRenewed(t *testing.T) {
	t.Parallel()
	one, two := members(t)
	first, second := settled(t, one), settled(t, two)
	run := queued()
	begin(t, first, run)
	end := first.BusyProbe()
	defer end()
	expireLease(t, first)
	first.AgeRenewal(7 * time.Second)
	first.KeepLease(t.Context())
	second.AgeMembership()
	attend(t, second)
	if got := read(t, second, run.ID); got.Status != run.Status {
		t.Errorf("the run is %s", got.Status)
	}
}

// TestMembers_SameDataDirectoryStartsAgain_SharesRemoved checks that a server that starts again removes the counts of
// its killed process, so that other servers do not include them in quotas.
func TestMembers_SameDataDirectoryStartsAgain_SharesRemoved(t *testing.T) {
	t.Parallel()
	one, two := members(t)
	first, second := settled(t, one), settled(t, two)
	if err := first.ShareUse(t.Context(), []registry.ServerUse{{Workspace: ws, Day: start, Live: 5}}); err != nil {
		t.Fatal(err)
	}
	settled(t, one) // the earlier process was killed
	if all, err := second.OthersUse(t.Context()); err != nil || len(all) > 0 {
		t.Errorf("others use %+v, %v", all, err)
	}
}

func TestMembers_SameDataDirectoryStartsAgain_OwnRunsInterruptedAtOnce(t *testing.T) {
	t.Parallel()
	one, two := members(t)
	first, second := settled(t, one), settled(t, two)
	run, other := queued(), queued()
	begin(t, first, run)
	begin(t, second, other)
	settled(t, one) // the earlier process was killed
	if got := read(t, second, run.ID); got.Status != registry.StatusInterrupted {
		t.Errorf("the run of the killed process is %s", got.Status)
	}
	if got := read(t, second, other.ID); got.Status != other.Status {
		t.Errorf("the run of the other server is %s", got.Status)
	}
}

// TestMembers_LeaseExpired_KeyOfAnotherServerStays checks that a server whose lease has expired can neither release nor
// complete a key that another server has reserved since. Otherwise a third request would be executed too, or get the
// wrong response.
func TestMembers_LeaseExpired_KeyOfAnotherServerStays(t *testing.T) {
	t.Parallel()
	one, two := members(t)
	first, second := settled(t, one), settled(t, two)
	k := registry.IdempotencyKey{Workspace: ws, Owner: "o", Key: "k", BodyHash: "b", ExpiresAt: time.Now().Add(24 * time.Hour)}
	if reserve(t, first, k) != nil {
		t.Fatal("the key is not free")
	}
	expireLease(t, first)
	second.AgeMembership()
	attend(t, second)
	if reserve(t, second, k) != nil {
		t.Fatal("the key was not released")
	}
	if err := first.ReleaseKey(t.Context(), k.Owner, k.Key); err != nil {
		t.Fatal(err)
	}
	expect(t, first.CompleteKey(t.Context(), k.Owner, k.Key, 200, []byte("old")), fault.StorageUnavailable)
	if got := reserve(t, second, k); got == nil || got.Status != 0 {
		t.Errorf("the key of the second server is %+v", got)
	}
	if err := second.CompleteKey(t.Context(), k.Owner, k.Key, 200, []byte("new")); err != nil {
		t.Fatal(err)
	}
}

func TestAskToCancel(t *testing.T) {
	t.Parallel()
	one, two := members(t)
	first, second := settled(t, one), settled(t, two)
	run, done := queued(), finished()
	begin(t, first, run)
	finish(t, first, done)
	for _, id := range []string{run.ID, run.ID, done.ID, newID()} {
		if err := second.AskToCancel(t.Context(), ws, id); err != nil {
			t.Fatal(err)
		}
	}
	if err := second.AskToCancel(t.Context(), "another", run.ID); err != nil {
		t.Fatal(err)
	}
	for s, want := range map[*store.Store]int{second: 0, first: 1} {
		ids, err := s.TakeCancellations(t.Context())
		if err != nil || len(ids) != want || want == 1 && ids[0] != run.ID {
			t.Errorf("requests %v, %v", ids, err)
		}
	}
	if ids, err := first.TakeCancellations(t.Context()); err != nil || len(ids) != 0 {
		t.Errorf("repeated requests %v, %v", ids, err)
	}
}
