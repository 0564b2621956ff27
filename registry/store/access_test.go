package store_test

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/registry/store/storetest"
)

func TestTokens(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		later := start.Add(time.Hour)
		want := registry.Token{ID: newID(), Workspace: ws, Name: "ci", Hash: "h1", User: "admin", Scopes: []registry.Scope{registry.RunScope}, Agents: []registry.TokenAgent{{ID: "a1", Name: "weather"}}, CreatedAt: start, CreatedBy: ada.ID, Creator: ada, ExpiresAt: &later}
		if err := s.PutToken(t.Context(), want); err != nil {
			t.Fatal(err)
		}
		got, err := s.TokenByHash(t.Context(), "h1")
		if err != nil {
			t.Fatal(err)
		}
		same(t, got, want)
		_, err = s.TokenByHash(t.Context(), "h2")
		expect(t, err, fault.NotFound)

		byID, err := s.Token(t.Context(), ws, want.ID)
		if err != nil {
			t.Fatal(err)
		}
		same(t, byID, want)
		_, err = s.Token(t.Context(), "other", want.ID)
		expect(t, err, fault.NotFound)

		want.Hash, want.Name, want.Scopes = "h2", "renewed", registry.Scopes()
		if err := s.PutToken(t.Context(), want); err != nil {
			t.Fatal(err)
		}
		_, err = s.TokenByHash(t.Context(), "h1")
		expect(t, err, fault.NotFound)
		foreign := want
		foreign.Workspace, foreign.Hash = "other", "h3"
		expect(t, s.PutToken(t.Context(), foreign), fault.Conflict)

		used := start.Add(30 * time.Second)
		for _, at := range []time.Time{used, start} { // the later time counts
			if err := s.TouchTokens(t.Context(), map[string]time.Time{want.ID: at, "gone": at}); err != nil {
				t.Fatal(err)
			}
		}
		want.LastUsed = &used
		expect(t, s.RevokeToken(t.Context(), "other", want.ID, start), fault.NotFound)
		for _, at := range []time.Time{start, later} {
			if err := s.RevokeToken(t.Context(), ws, want.ID, at); err != nil {
				t.Fatal(err)
			}
		}
		want.RevokedAt = &start
		all, err := s.Tokens(t.Context(), ws)
		if err != nil {
			t.Fatal(err)
		}
		same(t, all, []registry.Token{want})
		if all, err := s.Tokens(t.Context(), "other"); err != nil || len(all) != 0 {
			t.Errorf("another workspace has %v, %v", all, err)
		}
	})
}

func TestSessions(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		want := registry.Session{Hash: "s1", Actor: ada, Device: registry.Device{Address: "192.0.2.1", Browser: "Firefox"}, CreatedAt: start, ExpiresAt: start.Add(time.Hour)}
		expired := registry.Session{Hash: "s2", Actor: ada, CreatedAt: start, ExpiresAt: start}
		for _, session := range []registry.Session{want, expired} {
			if _, err := s.PutSession(t.Context(), session, 100); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.SweepSessions(t.Context(), start); err != nil {
			t.Fatal(err)
		}
		_, err := s.SessionByHash(t.Context(), "s2")
		expect(t, err, fault.NotFound)
		got, err := s.SessionByHash(t.Context(), "s1")
		if err != nil {
			t.Fatal(err)
		}
		same(t, got, want)
		for range 2 {
			if err := s.DeleteSession(t.Context(), "s1"); err != nil {
				t.Fatal(err)
			}
		}
		_, err = s.SessionByHash(t.Context(), "s1")
		expect(t, err, fault.NotFound)
	})
}

// TestSessionsOfOneAreBounded checks that a new session removes the user's oldest and expired sessions, and no others.
func TestSessionsOfOneAreBounded(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		bo := ada
		bo.ID = "bo"
		signIn := func(hash string, who registry.Actor, after time.Duration, lasts time.Duration) int {
			t.Helper()
			at := start.Add(after)
			ended, err := s.PutSession(t.Context(), registry.Session{Hash: hash, Actor: who, CreatedAt: at, ExpiresAt: at.Add(lasts)}, 2)
			if err != nil {
				t.Fatal(err)
			}
			return ended
		}
		signIn("bo's", bo, 0, time.Hour)
		if n := signIn("short", ada, 0, time.Second) + signIn("first", ada, time.Second-time.Millisecond, time.Hour); n != 0 {
			t.Errorf("%d ended", n)
		}
		for i, hash := range []string{"second", "third"} { // short has expired, then first is the oldest of three
			if n := signIn(hash, ada, time.Duration(1+i)*time.Second, time.Hour); n != 1 {
				t.Errorf("%s: %d ended", hash, n)
			}
		}
		same := func(who string, want ...string) {
			t.Helper()
			all, err := s.SessionsOf(t.Context(), who, start)
			var got []string
			for _, one := range all {
				got = append(got, one.Hash)
			}
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s has %q, %v, want %q", who, got, err, want)
			}
		}
		same(ada.ID, "third", "second")
		same(bo.ID, "bo's")
	})
}

func TestSignInLinkIsSpentOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		for _, hash := range []string{"fresh", "late"} {
			if err := s.PutSignInLink(t.Context(), hash, "ada", start); err != nil {
				t.Fatal(err)
			}
		}
		_, err := s.ConsumeSignInLink(t.Context(), "late", start)
		expect(t, err, fault.NotFound)
		var spent atomic.Int64
		var group sync.WaitGroup
		for range 10 {
			group.Go(func() {
				user, err := s.ConsumeSignInLink(t.Context(), "fresh", start.Add(-time.Second))
				switch {
				case err == nil && user == "ada":
					spent.Add(1)
				case !fault.Is(err, fault.NotFound):
					t.Error(user, err)
				}
			})
		}
		group.Wait()
		if spent.Load() != 1 {
			t.Errorf("the link was accepted %d times", spent.Load())
		}
	})
}

func TestSignInFailures(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		soon, later := start.Add(time.Minute), start.Add(2*time.Minute)
		for _, f := range []registry.SignInFailures{
			{Source: "192.0.2.1/32", Count: 2, Until: soon}, {Source: "192.0.2.1/32", Count: 1, Until: soon}, // a write that arrives late
			{Source: "192.0.2.2/32", Count: 9, Until: soon}, {Source: "192.0.2.2/32", Count: 1, Until: later},
			{Source: "192.0.2.3/32", Count: 9, Until: start},
		} {
			if err := s.PutSignInFailures(t.Context(), f); err != nil {
				t.Fatal(err)
			}
		}
		check := func(now time.Time, want ...registry.SignInFailures) {
			t.Helper()
			got, err := s.SignInFailures(t.Context(), now)
			if err != nil {
				t.Fatal(err)
			}
			same(t, got, want)
		}
		last := registry.SignInFailures{Source: "192.0.2.2/32", Count: 1, Until: later}
		check(start, registry.SignInFailures{Source: "192.0.2.1/32", Count: 2, Until: soon}, last)
		if err := s.SweepSessions(t.Context(), soon); err != nil {
			t.Fatal(err)
		}
		check(start, last)
	})
}

func TestSessionsAreListedAndEnded(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		foreigner := ada
		foreigner.Workspace = "other"
		long := strings.Repeat("ab", 32)
		first := registry.Session{Hash: long, Actor: ada, CreatedAt: start, ExpiresAt: start.Add(time.Hour)}
		second := registry.Session{Hash: "cd" + long[2:], Actor: ada, CreatedAt: start.Add(time.Minute), ExpiresAt: start.Add(time.Hour)}
		expired := registry.Session{Hash: "ef" + long[2:], Actor: ada, CreatedAt: start, ExpiresAt: start}
		foreign := registry.Session{Hash: "01" + long[2:], Actor: foreigner, CreatedAt: start, ExpiresAt: start.Add(time.Hour)}
		for _, session := range []registry.Session{first, second, expired, foreign} {
			if _, err := s.PutSession(t.Context(), session, 100); err != nil {
				t.Fatal(err)
			}
		}
		used := start.Add(time.Second)
		if err := s.TouchSessions(t.Context(), map[string]time.Time{first.Hash: used, "gone": used}); err != nil {
			t.Fatal(err)
		}
		first.LastUsed = &used
		list := func(want ...registry.Session) {
			t.Helper()
			got, err := s.Sessions(t.Context(), ws, start)
			if err != nil {
				t.Fatal(err)
			}
			same(t, got, want)
		}
		list(second, first)
		for _, id := range []string{foreign.ID(), second.Hash, "", "\x00"} {
			expect(t, s.EndSession(t.Context(), ws, id), fault.NotFound)
		}
		if err := s.EndSession(t.Context(), ws, second.ID()); err != nil {
			t.Fatal(err)
		}
		list(first)
	})
}
