package access_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store/storetest"
	"github.com/atelier-run/atelier/studio/access"
)

// clock is a time that the test moves.
type clock struct{ now time.Time }

func newService(t *testing.T, admin string) (*access.Service, *clock) {
	t.Helper()
	s, c, ids := storetest.Open(t, storetest.SQLite), &clock{time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)}, 0
	return access.New(access.Options{Tokens: s, Sessions: s, Admin: admin, Now: func() time.Time { return c.now }, NewID: func() string {
		ids++
		return fmt.Sprintf("token-%d", ids)
	}}), c
}

func wantUnauthenticated(t *testing.T, what string, err error) {
	t.Helper()
	if !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("%s: error %v, want unauthenticated", what, err)
	}
}

func TestLoginLinkWorksOnceAndExpires(t *testing.T) {
	t.Parallel()
	s, clock := newService(t, "")
	link, err := s.LoginLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cookie, expires, err := s.Redeem(t.Context(), link)
	if err != nil || !expires.After(clock.now) {
		t.Fatalf("first use: %v", err)
	}
	_, _, err = s.Redeem(t.Context(), link)
	wantUnauthenticated(t, "second use", err)
	if actor, err := s.Session(t.Context(), cookie); err != nil || actor.ID != "admin" || actor.Workspace != registry.DefaultWorkspace {
		t.Fatalf("session: %+v, %v", actor, err)
	}

	late, err := s.LoginLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	clock.now = clock.now.Add(16 * time.Minute)
	_, _, err = s.Redeem(t.Context(), late)
	wantUnauthenticated(t, "an expired link", err)

	clock.now = expires
	_, err = s.Session(t.Context(), cookie)
	wantUnauthenticated(t, "an expired session", err)
}

func TestLogoutEndsTheSession(t *testing.T) {
	t.Parallel()
	s, _ := newService(t, "fixed-token-of-the-administrator")
	cookie, _, err := s.Login(t.Context(), "fixed-token-of-the-administrator")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Logout(t.Context(), cookie); err != nil {
		t.Fatal(err)
	}
	_, err = s.Session(t.Context(), cookie)
	wantUnauthenticated(t, "after logout", err)
}

func TestTokens(t *testing.T) {
	t.Parallel()
	s, clock := newService(t, "")
	admin := access.Administrator()
	expires := clock.now.Add(time.Hour)
	secret, token, err := s.CreateToken(t.Context(), admin, "ci", &expires)
	if err != nil {
		t.Fatal(err)
	}
	actor, err := s.Authenticate(t.Context(), secret)
	if err != nil || actor.ID != token.ID || actor.Type != registry.TokenActor {
		t.Fatalf("actor %+v, %v", actor, err)
	}
	for what, wrong := range map[string]string{"no token": "", "another": secret + "x", "its hash": token.Hash} {
		_, err := s.Authenticate(t.Context(), wrong)
		wantUnauthenticated(t, what, err)
	}
	clock.now = expires
	_, err = s.Authenticate(t.Context(), secret)
	wantUnauthenticated(t, "expired", err)
	clock.now = expires.Add(-time.Minute)
	if err := s.RevokeToken(t.Context(), admin, token.ID); err != nil {
		t.Fatal(err)
	}
	_, err = s.Authenticate(t.Context(), secret)
	wantUnauthenticated(t, "revoked", err)

	if _, _, err := s.CreateToken(t.Context(), admin, "", nil); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("a token without a name: %v", err)
	}
	if _, _, err := s.CreateToken(t.Context(), admin, "late", &clock.now); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("a token that has expired already: %v", err)
	}
}

func TestASessionDoesNotOutliveItsToken(t *testing.T) {
	t.Parallel()
	s, clock := newService(t, "")
	admin := access.Administrator()
	expires := clock.now.Add(time.Hour)
	short, _, err := s.CreateToken(t.Context(), admin, "short", &expires)
	if err != nil {
		t.Fatal(err)
	}
	cookie, until, err := s.Login(t.Context(), short)
	if err != nil || !until.Equal(expires) {
		t.Fatalf("until %v, %v", until, err)
	}
	secret, token, err := s.CreateToken(t.Context(), admin, "revoked", nil)
	if err != nil {
		t.Fatal(err)
	}
	revoked, _, err := s.Login(t.Context(), secret)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.RevokeToken(t.Context(), admin, token.ID); err != nil {
		t.Fatal(err)
	}
	_, err = s.Session(t.Context(), revoked)
	wantUnauthenticated(t, "the session of a revoked token", err)
	if _, err := s.Session(t.Context(), cookie); err != nil {
		t.Errorf("the session of another token: %v", err)
	}
	clock.now = expires
	_, err = s.Session(t.Context(), cookie)
	wantUnauthenticated(t, "the session of an expired token", err)
}
