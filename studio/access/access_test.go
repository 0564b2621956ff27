package access_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/registry/store/storetest"
	"github.com/atelier-run/atelier/studio/access"
)

// clock returns a time that the test sets.
type clock struct{ now time.Time }

func newService(t *testing.T, admin string) (*access.Service, *clock) {
	t.Helper()
	s, c, ids := storetest.Open(t, storetest.SQLite), &clock{time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)}, 0
	return access.New(access.Options{Tokens: s, Sessions: s, Agents: s, Users: s, Members: s, Invitations: s, Workspaces: s, Admin: admin, Now: func() time.Time { return c.now }, NewID: func() string {
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

func TestSignInLinkWorksOnceAndExpires(t *testing.T) {
	t.Parallel()
	s, clock := newService(t, "")
	link, err := s.SignInLink(t.Context(), registry.DefaultUser)
	if err != nil {
		t.Fatal(err)
	}
	cookie, expires, err := s.Redeem(t.Context(), link, registry.Device{})
	if err != nil || !expires.After(clock.now) {
		t.Fatalf("first use: %v", err)
	}
	_, _, err = s.Redeem(t.Context(), link, registry.Device{})
	wantUnauthenticated(t, "second use", err)
	if caller, err := s.Session(t.Context(), cookie, ""); err != nil || caller.Actor.ID != "admin" || caller.Actor.Workspace != registry.DefaultWorkspace || !caller.May(registry.AdminScope) {
		t.Fatalf("session: %+v, %v", caller, err)
	}

	late, err := s.SignInLink(t.Context(), registry.DefaultUser)
	if err != nil {
		t.Fatal(err)
	}
	clock.now = clock.now.Add(16 * time.Minute)
	_, _, err = s.Redeem(t.Context(), late, registry.Device{})
	wantUnauthenticated(t, "an expired link", err)

	clock.now = expires
	_, err = s.Session(t.Context(), cookie, "")
	wantUnauthenticated(t, "an expired session", err)
}

func TestLogoutEndsTheSession(t *testing.T) {
	t.Parallel()
	s, _ := newService(t, "fixed-token-of-the-administrator")
	cookie, _, err := s.SignIn(t.Context(), "fixed-token-of-the-administrator", registry.Device{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Logout(t.Context(), cookie); err != nil {
		t.Fatal(err)
	}
	_, err = s.Session(t.Context(), cookie, "")
	wantUnauthenticated(t, "after sign-out", err)
}

func TestTokens(t *testing.T) {
	t.Parallel()
	s, clock := newService(t, "")
	admin := access.Administrator()
	expires := clock.now.Add(time.Hour)
	secret, token, err := s.CreateToken(t.Context(), access.Host(), access.TokenRequest{Name: "ci", ExpiresAt: &expires})
	if err != nil {
		t.Fatal(err)
	}
	caller, err := s.Issued(t.Context(), secret)
	if err != nil || caller.Actor.ID != token.ID || caller.Actor.Type != registry.TokenActor {
		t.Fatalf("caller %+v, %v", caller, err)
	}
	for what, wrong := range map[string]string{"no token": "", "another": secret + "x", "its hash": token.Hash} {
		_, err := s.Issued(t.Context(), wrong)
		wantUnauthenticated(t, what, err)
	}
	clock.now = expires
	_, err = s.Issued(t.Context(), secret)
	wantUnauthenticated(t, "expired", err)
	clock.now = expires.Add(-time.Minute)
	if err := s.RevokeToken(t.Context(), admin, token.ID); err != nil {
		t.Fatal(err)
	}
	_, err = s.Issued(t.Context(), secret)
	wantUnauthenticated(t, "revoked", err)

	if _, _, err := s.CreateToken(t.Context(), access.Host(), access.TokenRequest{Name: ""}); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("a token without a name: %v", err)
	}
	if _, _, err := s.CreateToken(t.Context(), access.Host(), access.TokenRequest{Name: "late", ExpiresAt: &clock.now}); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("a token that has expired already: %v", err)
	}
}

func TestASessionDoesNotOutliveItsToken(t *testing.T) {
	t.Parallel()
	s, clock := newService(t, "")
	admin := access.Administrator()
	expires := clock.now.Add(time.Hour)
	short, _, err := s.CreateToken(t.Context(), access.Host(), access.TokenRequest{Name: "short", ExpiresAt: &expires})
	if err != nil {
		t.Fatal(err)
	}
	cookie, until, err := s.SignIn(t.Context(), short, registry.Device{})
	if err != nil || !until.Equal(expires) {
		t.Fatalf("until %v, %v", until, err)
	}
	secret, token, err := s.CreateToken(t.Context(), access.Host(), access.TokenRequest{Name: "revoked"})
	if err != nil {
		t.Fatal(err)
	}
	revoked, _, err := s.SignIn(t.Context(), secret, registry.Device{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.RevokeToken(t.Context(), admin, token.ID); err != nil {
		t.Fatal(err)
	}
	_, err = s.Session(t.Context(), revoked, "")
	wantUnauthenticated(t, "the session of a revoked token", err)
	if _, err := s.Session(t.Context(), cookie, ""); err != nil {
		t.Errorf("the session of another token: %v", err)
	}
	clock.now = expires
	_, err = s.Session(t.Context(), cookie, "")
	wantUnauthenticated(t, "the session of an expired token", err)
}

// counting is a store that counts its queries and writes.
type counting struct {
	*store.Store
	looked, touched int
}

func (c *counting) TokenByHash(ctx context.Context, hash string) (registry.Token, error) {
	c.looked++
	return c.Store.TokenByHash(ctx, hash)
}

func (c *counting) SessionByHash(ctx context.Context, hash string) (registry.Session, error) {
	c.looked++
	return c.Store.SessionByHash(ctx, hash)
}

func (c *counting) TouchTokens(ctx context.Context, uses map[string]time.Time) error {
	c.touched++
	return c.Store.TouchTokens(ctx, uses)
}

// A credential is read from the database at most once a minute, and the time of its use is not written at once. A
// revocation must still take effect immediately.
func TestCredentialsAreRemembered(t *testing.T) {
	t.Parallel()
	db, c := &counting{Store: storetest.Open(t, storetest.SQLite)}, &clock{time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)}
	s := access.New(access.Options{Tokens: db, Sessions: db, Agents: db, Users: db, Members: db, Invitations: db, Workspaces: db, Now: func() time.Time { return c.now }, NewID: func() string { return "t1" }})
	secret, token, err := s.CreateToken(t.Context(), access.Host(), access.TokenRequest{Name: "ci"})
	if err != nil {
		t.Fatal(err)
	}
	cookie, _, err := s.SignIn(t.Context(), secret, registry.Device{})
	if err != nil {
		t.Fatal(err)
	}
	db.looked = 0
	for range 100 {
		_, bearerErr := s.Issued(t.Context(), secret)
		_, sessionErr := s.Session(t.Context(), cookie, "")
		if bearerErr != nil || sessionErr != nil {
			t.Fatal(bearerErr, sessionErr)
		}
	}
	if db.looked != 1 || db.touched != 0 { // There is one query for the session; the token is in the cache since the sign-in.
		t.Errorf("200 requests looked %d times and wrote %d times", db.looked, db.touched)
	}
	c.now = c.now.Add(time.Minute)
	if _, err := s.Issued(t.Context(), secret); err != nil || db.looked != 2 {
		t.Errorf("after a minute it looked %d times: %v", db.looked, err)
	}
	for range 2 {
		if err := s.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if stored, err := db.Token(t.Context(), registry.DefaultWorkspace, token.ID); err != nil || stored.LastUsed == nil || !stored.LastUsed.Equal(c.now) || db.touched != 1 {
		t.Errorf("stored %+v, %v, in %d writes", stored, err, db.touched)
	}
	if err := s.RevokeToken(t.Context(), access.Administrator(), token.ID); err != nil {
		t.Fatal(err)
	}
	_, err = s.Issued(t.Context(), secret)
	wantUnauthenticated(t, "a revoked token", err)
	_, err = s.Session(t.Context(), cookie, "")
	wantUnauthenticated(t, "its session", err)
}

// slow is a store that calls the function meanwhile during the lookup of a token.
type slow struct {
	*store.Store
	meanwhile func()
}

func (s *slow) TokenByHash(ctx context.Context, hash string) (registry.Token, error) {
	t, err := s.Store.TokenByHash(ctx, hash)
	if s.meanwhile != nil {
		s.meanwhile()
	}
	return t, err
}

func TestWhatWasRevokedDuringALookUpIsNotRemembered(t *testing.T) {
	t.Parallel()
	db := &slow{Store: storetest.Open(t, storetest.SQLite)}
	s := access.New(access.Options{Tokens: db, Sessions: db, Agents: db, Users: db, Members: db, Invitations: db, Workspaces: db, Now: time.Now, NewID: func() string { return "t1" }})
	secret, token, err := s.CreateToken(t.Context(), access.Host(), access.TokenRequest{Name: "ci"})
	if err != nil {
		t.Fatal(err)
	}
	db.meanwhile = func() {
		db.meanwhile = nil
		if err := s.RevokeToken(t.Context(), access.Administrator(), token.ID); err != nil {
			t.Error(err)
		}
	}
	if _, _, err := s.SignIn(t.Context(), secret, registry.Device{}); err != nil { // The sign-in started before the revocation, so it succeeds.
		t.Fatal(err)
	}
	_, err = s.Issued(t.Context(), secret)
	wantUnauthenticated(t, "the next request", err)
}

func TestScopes(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		has, wants []registry.Scope
		may        bool
	}{
		"the same":       {[]registry.Scope{registry.ReadScope}, []registry.Scope{registry.ReadScope}, true},
		"one of two":     {[]registry.Scope{registry.RunScope}, []registry.Scope{registry.ReadScope, registry.RunScope}, true},
		"another":        {[]registry.Scope{registry.WriteScope}, []registry.Scope{registry.ReadScope}, false},
		"admin is all":   {[]registry.Scope{registry.AdminScope}, []registry.Scope{registry.ApproveScope}, true},
		"all is no more": {[]registry.Scope{registry.ReadScope, registry.RunScope, registry.WriteScope, registry.ApproveScope}, []registry.Scope{registry.AdminScope}, false},
		"none":           {nil, []registry.Scope{registry.ReadScope}, false},
	} {
		if got := (registry.Caller{Scopes: tt.has}).May(tt.wants...); got != tt.may {
			t.Errorf("%s: %v", name, got)
		}
	}
}
