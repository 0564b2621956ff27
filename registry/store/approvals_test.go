package store_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/registry/store/storetest"
)

func request(id string, at time.Time) registry.Approval {
	return registry.Approval{
		ID: id, Workspace: "default", Kind: registry.RunApproval, Status: registry.ApprovalPending, AgentID: "agent", Agent: "weather", Version: "1.0.0", Digest: "sha256:a",
		ContentDigest: "sha256:c", RunID: "run-" + id, RequestID: "client-" + id, Reasons: []string{"Because."}, Verdict: &registry.Verdict{Decision: registry.Escalate},
		Input: []byte(`{"a":1}`), Request: []byte(`{"b":2}`), Requester: registry.Actor{ID: "me", Type: registry.UserActor, Name: "Me", Workspace: "default"},
		CreatedAt: at, ExpiresAt: at.Add(time.Hour),
	}
}

func publication(id, digest string) registry.Approval {
	a := request(id, time.Date(2026, 11, 24, 8, 0, 0, 0, time.UTC))
	a.Kind, a.RunID, a.RequestID, a.Digest, a.Input = registry.PublishApproval, "", "", digest, nil
	return a
}

func TestApprovals(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		begin := time.Date(2026, 11, 24, 8, 0, 0, 0, time.UTC)
		for n := range 5 {
			if _, err := s.InsertApproval(t.Context(), request(fmt.Sprint(n), begin.Add(time.Duration(n)*time.Minute)), nil); err != nil {
				t.Fatal(err)
			}
		}
		got, err := s.Approval(t.Context(), "default", "3")
		if diff := cmp.Diff(request("3", begin.Add(3*time.Minute)), got); diff != "" || err != nil {
			t.Errorf("%s, %v", diff, err)
		}
		for _, read := range []func() (registry.Approval, error){
			func() (registry.Approval, error) { return s.Approval(t.Context(), "other", "3") },
			func() (registry.Approval, error) { return s.ApprovalOfRun(t.Context(), "other", "run-3") },
			func() (registry.Approval, error) {
				return s.ApprovalOfRequest(t.Context(), "default", "you", "client-3")
			},
		} {
			if a, err := read(); !fault.Is(err, fault.NotFound) {
				t.Errorf("found %+v, %v", a, err)
			}
		}
		if a, err := s.ApprovalOfRequest(t.Context(), "default", "me", "client-3"); err != nil || a.ID != "3" {
			t.Errorf("%+v, %v", a, err)
		}
		var seen []string
		filter := registry.ApprovalFilter{Status: registry.ApprovalPending, Limit: 2}
		for {
			page, err := s.ListApprovals(t.Context(), "default", filter)
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range page.Items {
				seen = append(seen, a.ID)
			}
			if filter.Cursor = page.NextCursor; filter.Cursor == "" {
				break
			}
		}
		if diff := cmp.Diff([]string{"4", "3", "2", "1", "0"}, seen); diff != "" {
			t.Error(diff)
		}
		due, last, err := s.DueApprovals(t.Context(), begin.Add(time.Hour+time.Minute), "")
		if err != nil || last != "1" || len(due) != 2 || due[0].ID != "0" {
			t.Errorf("due are %+v, %v", due, err)
		}
	})
}

func TestDecideApproval_ManyAtOnce_OneWins(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		at := time.Date(2026, 11, 24, 8, 0, 0, 0, time.UTC)
		if _, err := s.InsertApproval(t.Context(), request("1", at), nil); err != nil {
			t.Fatal(err)
		}
		var won atomic.Int32
		var group sync.WaitGroup
		for n := range 8 {
			group.Go(func() {
				a := request("1", at)
				by := registry.Actor{ID: fmt.Sprint(n), Type: registry.UserActor, Name: "Boss", Workspace: "default"}
				a.Status, a.Scope, a.Decider, a.DecidedAt = registry.ApprovalApproved, registry.ApproveCaller, &by, &at
				is, err := s.DecideApproval(t.Context(), a, nil)
				switch {
				case err == nil:
					won.Add(1)
				case !fault.Is(err, fault.Conflict) || is.Status != registry.ApprovalApproved || is.Decider == nil:
					t.Errorf("%+v, %v", is, err)
				}
			})
		}
		group.Wait()
		if won.Load() != 1 {
			t.Errorf("%d decisions won", won.Load())
		}
		for caller, want := range map[string]bool{"me": true, "you": false} {
			if stands, err := s.Standing(t.Context(), "default", "agent", "sha256:a", caller); err != nil || stands != want {
				t.Errorf("of %s: %t, %v", caller, stands, err)
			}
		}
		if stands, err := s.Standing(t.Context(), "default", "agent", "sha256:b", "me"); err != nil || stands {
			t.Errorf("of another version: %t, %v", stands, err)
		}
		if due, _, err := s.DueApprovals(t.Context(), at, ""); err != nil || len(due) != 1 {
			t.Errorf("to be carried out: %+v, %v", due, err)
		}
		if err := s.CarriedOut(t.Context(), "default", "1", "Done."); err != nil {
			t.Error(err)
		}
		if due, _, err := s.DueApprovals(t.Context(), at, ""); err != nil || len(due) != 0 {
			t.Errorf("carried out twice: %+v, %v", due, err)
		}
	})
}

// TestDueApprovals_EveryDecision_UntilCarriedOut checks that each kind of decision is due until it is carried out, and
// that a request that was carried out has no input.
func TestDueApprovals_EveryDecision_UntilCarriedOut(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		at := time.Date(2026, 11, 24, 8, 0, 0, 0, time.UTC)
		decisions := []registry.ApprovalStatus{registry.ApprovalApproved, registry.ApprovalDenied, registry.ApprovalExpired, registry.ApprovalWithdrawn}
		for n, status := range decisions {
			a := request(fmt.Sprint(n), at)
			if _, err := s.InsertApproval(t.Context(), a, nil); err != nil {
				t.Fatal(err)
			}
			a.Status, a.DecidedAt = status, &at
			if _, err := s.DecideApproval(t.Context(), a, nil); err != nil {
				t.Fatal(err)
			}
		}
		due, _, err := s.DueApprovals(t.Context(), at, "")
		if err != nil || len(due) != len(decisions) {
			t.Fatalf("due are %+v, %v", due, err)
		}
		if after, _, err := s.DueApprovals(t.Context(), at, due[1].ID); err != nil || len(after) != 2 || after[0].ID != due[2].ID {
			t.Errorf("after the second request: %+v, %v", after, err)
		}
		for _, a := range due {
			if len(a.Input) == 0 || len(a.Request) == 0 {
				t.Errorf("%s is not carried out and has no input", a.Status)
			}
			if err := s.CarriedOut(t.Context(), "default", a.ID, "Done."); err != nil {
				t.Fatal(err)
			}
			if got, err := s.Approval(t.Context(), "default", a.ID); err != nil || got.Input != nil || got.Request != nil || got.Outcome != "Done." {
				t.Errorf("afterwards %+v, %v", got, err)
			}
		}
		if due, _, err := s.DueApprovals(t.Context(), at, ""); err != nil || len(due) != 0 {
			t.Errorf("carried out twice: %+v, %v", due, err)
		}
	})
}

func TestInsertApproval_Publication_OneWaits(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		var group sync.WaitGroup
		ids := make([]string, 8)
		for n := range ids {
			group.Go(func() {
				a, err := s.InsertApproval(t.Context(), publication(fmt.Sprint("same-", n), "sha256:a"), nil)
				if err != nil {
					t.Error(err)
				}
				ids[n] = a.ID
			})
		}
		group.Wait()
		for _, id := range ids {
			if id != ids[0] {
				t.Fatalf("the same publication is pending as %v", ids)
			}
		}
		other := publication("other-version", "sha256:b")
		other.Version = "2.0.0"
		for _, a := range []registry.Approval{publication("changed", "sha256:c"), other} {
			if got, err := s.InsertApproval(t.Context(), a, nil); err != nil || got.ID != a.ID {
				t.Errorf("%s is recorded as %+v, %v", a.ID, got, err)
			}
		}
		if a, err := s.Approval(t.Context(), "default", ids[0]); err != nil || a.Status != registry.ApprovalWithdrawn || a.Outcome != "Replaced by request changed." || a.Request != nil {
			t.Errorf("the replaced request is %+v, %v", a, err)
		}
		if n, err := s.CountPending(t.Context(), "default"); err != nil || n != 2 {
			t.Errorf("%d wait, %v", n, err)
		}
	})
}

// TestSettle_ApprovalWithoutRun_Withdrawn checks that a request without a run is withdrawn. A server leaves one if it
// is killed between recording the request and recording the run.
func TestSettle_ApprovalWithoutRun_Withdrawn(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		waiting := queued()
		waiting.Status = registry.AwaitingApproval
		begin(t, s, waiting)
		kept, orphan, decided, publication := request("kept", start), request("orphan", start), request("decided", start), request("publication", start)
		kept.RunID, publication.RunID, publication.Kind = waiting.ID, "", registry.PublishApproval
		for _, a := range []registry.Approval{kept, orphan, decided, publication} {
			if _, err := s.InsertApproval(t.Context(), a, nil); err != nil {
				t.Fatal(err)
			}
		}
		decided.Status, decided.Scope, decided.DecidedAt = registry.ApprovalApproved, registry.ApproveVersion, &start
		if _, err := s.DecideApproval(t.Context(), decided, nil); err != nil {
			t.Fatal(err)
		}
		s.SetNotice(deliveryOf)
		done, err := s.Settle(t.Context())
		if err != nil || done.Approvals != 1 {
			t.Errorf("%+v, %v", done, err)
		}
		for id, want := range map[string]registry.ApprovalStatus{
			"kept": registry.ApprovalPending, "publication": registry.ApprovalPending, "orphan": registry.ApprovalWithdrawn, "decided": registry.ApprovalApproved,
		} {
			a, err := s.Approval(t.Context(), ws, id)
			if err != nil || a.Status != want || (want == registry.ApprovalWithdrawn) != (a.Input == nil && a.Outcome != "") {
				t.Errorf("request %s is %+v, %v", id, a, err)
			}
		}
		if a, err := s.Approval(t.Context(), ws, "decided"); err != nil || !a.DecidedAt.Equal(start) || a.Input == nil {
			t.Errorf("the decided request is %+v, %v", a, err)
		}
		if due, _, err := s.DueApprovals(t.Context(), start, ""); err != nil || len(due) != 1 || due[0].ID != "decided" {
			t.Errorf("due are %+v, %v", due, err)
		}
		sent, err := s.ListDeliveries(t.Context(), ws, registry.DeliveryFilter{})
		if err != nil || len(sent.Items) != 1 || sent.Items[0].ID != "0-orphan-withdrawn" {
			t.Errorf("webhooks are %+v, %v", sent, err)
		}
		if again, err := s.Settle(t.Context()); err != nil || again.Approvals != 0 {
			t.Errorf("%+v, %v", again, err)
		}
	})
}

// deliveryOf returns a webhook about a request. Its ID consists of the ID and the state of the request.
func deliveryOf(a registry.Approval) registry.Delivery {
	return registry.Delivery{
		ID: "0-" + a.ID + "-" + string(a.Status), Workspace: a.Workspace, ApprovalID: a.ID, Event: "approval." + string(a.Status), State: registry.DeliveryPending,
		CreatedAt: a.CreatedAt, NextAt: &a.CreatedAt, Payload: []byte(`{"a":1}`),
	}
}

func TestDeliveries(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		at := time.Date(2026, 11, 24, 8, 0, 0, 0, time.UTC)
		first := request("1", at)
		blocked := request("2", at)
		blocked.Kind = registry.BlockedRequest
		replaced, by := publication("3", "sha256:a"), publication("4", "sha256:b")
		for _, a := range []registry.Approval{first, blocked, replaced, by} {
			if _, err := s.InsertApproval(t.Context(), a, deliveryOf); err != nil {
				t.Fatal(err)
			}
		}
		end := first
		end.Status, end.DecidedAt = registry.ApprovalDenied, &at
		if _, err := s.DecideApproval(t.Context(), end, deliveryOf); err != nil {
			t.Fatal(err)
		}
		if _, err := s.DecideApproval(t.Context(), end, deliveryOf); !fault.Is(err, fault.Conflict) {
			t.Errorf("decided twice: %v", err)
		}
		page, err := s.ListDeliveries(t.Context(), "default", registry.DeliveryFilter{Limit: 3})
		var got []string
		for page.NextCursor != "" || len(page.Items) > 0 {
			for _, d := range page.Items {
				got = append(got, d.ID)
			}
			if page.NextCursor == "" {
				break
			}
			if page, err = s.ListDeliveries(t.Context(), "default", registry.DeliveryFilter{Limit: 3, Cursor: page.NextCursor}); err != nil {
				break
			}
		}
		if diff := cmp.Diff([]string{"0-4-pending", "0-3-withdrawn", "0-3-pending", "0-1-pending", "0-1-denied"}, got); diff != "" || err != nil {
			t.Errorf("%s %v", diff, err)
		}
		if page, err := s.ListDeliveries(t.Context(), "other", registry.DeliveryFilter{}); len(page.Items) != 0 || err != nil {
			t.Errorf("another workspace reads %+v, %v", page, err)
		}
		due, err := s.DueDeliveries(t.Context(), at, 10)
		if err != nil || len(due) != 5 || string(due[0].Payload) != `{"a":1}` {
			t.Fatalf("due are %+v, %v", due, err)
		}
		next, done := at.Add(time.Minute), at.Add(time.Second)
		for _, d := range due {
			d.Attempts, d.NextAt, d.LastError = 1, &next, "The receiver answered with status 500."
			if d.ID == "0-1-denied" {
				d.State, d.NextAt, d.LastError, d.DeliveredAt = registry.DeliveryDelivered, nil, "", &done
			}
			if err := s.SaveDelivery(t.Context(), d); err != nil {
				t.Fatal(err)
			}
		}
		if due, err := s.DueDeliveries(t.Context(), at, 10); len(due) != 0 || err != nil {
			t.Errorf("due are %+v, %v", due, err)
		}
		of, err := s.ListDeliveries(t.Context(), "default", registry.DeliveryFilter{ApprovalID: "1", State: registry.DeliveryDelivered})
		if err != nil || len(of.Items) != 1 || !of.Items[0].DeliveredAt.Equal(done) || of.Items[0].NextAt != nil {
			t.Errorf("they are %+v, %v", of, err)
		}
		if n, err := s.SweepDeliveries(t.Context(), time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC), 10); n != 1 || err != nil {
			t.Errorf("swept %d, %v", n, err)
		}
	})
}

func TestSweepApprovals_KeepsWhatAllowsSomething(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		at := time.Date(2026, 1, 1, 8, 0, 0, 0, time.UTC)
		put := func(a registry.Approval, status registry.ApprovalStatus, scope registry.ApprovalScope, carriedOut bool) {
			t.Helper()
			if _, err := s.InsertApproval(t.Context(), a, nil); err != nil {
				t.Fatal(err)
			}
			if status == registry.ApprovalPending {
				return
			}
			a.Status, a.Scope, a.DecidedAt = status, scope, &at
			if _, err := s.DecideApproval(t.Context(), a, nil); err != nil {
				t.Fatal(err)
			}
			if carriedOut {
				if err := s.CarriedOut(t.Context(), a.Workspace, a.ID, ""); err != nil {
					t.Fatal(err)
				}
			}
		}
		put(request("0-denied", at), registry.ApprovalDenied, "", true)
		put(request("0-once", at), registry.ApprovalApproved, registry.ApproveOnce, true)
		put(request("0-version", at), registry.ApprovalApproved, registry.ApproveVersion, true)
		put(request("0-caller", at), registry.ApprovalApproved, registry.ApproveCaller, true)
		put(request("0-todo", at), registry.ApprovalApproved, registry.ApproveOnce, false)
		put(request("0-waits", at), registry.ApprovalPending, "", false)
		published := publication("0-published", "sha256:a")
		put(published, registry.ApprovalApproved, registry.ApproveOnce, true)
		if n, err := s.SweepApprovals(t.Context(), at, 10); n != 0 || err != nil {
			t.Errorf("too early: swept %d, %v", n, err)
		}
		if n, err := s.SweepApprovals(t.Context(), at.Add(time.Hour), 10); n != 2 || err != nil {
			t.Errorf("swept %d, %v", n, err)
		}
		for _, id := range []string{"0-version", "0-caller", "0-todo", "0-waits", "0-published"} {
			if _, err := s.Approval(t.Context(), "default", id); err != nil {
				t.Errorf("%s: %v", id, err)
			}
		}
	})
}

// TestDueApprovals_UnreadableRow_LeftOut checks that a row that cannot be read is left out, and that the other requests
// are still due and listed.
func TestDueApprovals_UnreadableRow_LeftOut(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		at := time.Date(2026, 11, 24, 8, 0, 0, 0, time.UTC)
		for n := range 40 { // more than one batch
			if _, err := s.InsertApproval(t.Context(), request(fmt.Sprintf("%02d", n), at), nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Exec(t.Context(), "UPDATE approvals SET verdict = '{' WHERE id < '20'"); err != nil {
			t.Fatal(err)
		}
		found := 0
		for after := ""; ; {
			due, last, err := s.DueApprovals(t.Context(), at.Add(2*time.Hour), after)
			if err != nil {
				t.Fatal(err)
			}
			if last == "" {
				break
			}
			found, after = found+len(due), last
		}
		if found != 20 {
			t.Errorf("%d requests are due", found)
		}
		if page, err := s.ListApprovals(t.Context(), "default", registry.ApprovalFilter{Limit: 100}); err != nil || len(page.Items) != 20 {
			t.Errorf("listed are %d, %v", len(page.Items), err)
		}
	})
}
