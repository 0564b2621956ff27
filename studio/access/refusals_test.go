package access_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/registry/store/storetest"
	"github.com/atelier-run/atelier/studio/access"
)

// The duration of a refused sign-in must not reveal whether a name exists, so the work must be the same for existing
// and unknown names. The test counts database queries and hashed passwords instead of measuring time.
func TestRefusalsTakeTheSameWork(t *testing.T) {
	t.Parallel()
	for _, d := range []storetest.Dialect{storetest.SQLite, storetest.Postgres} {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			refusals(t, d)
		})
	}
}

func refusals(t *testing.T, d storetest.Dialect) {
	var done []string
	options := storetest.Options(t, d)
	options.Asked = func(_ context.Context, operation string) { done = append(done, operation) }
	db, err := store.Open(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	ids := 0
	s := access.New(access.Options{
		Tokens: db, Sessions: db, Agents: db, Users: db, Members: db, Invitations: db, Workspaces: db, Identities: db, Now: time.Now,
		NewID: func() string { ids++; return "id-" + strings.Repeat("x", ids) },
	})
	host := access.Host()
	join := func(name, password string) {
		t.Helper()
		secret, _, err := s.Invite(t.Context(), host, access.InvitationRequest{Role: registry.Viewer})
		if err == nil {
			_, _, err = s.Accept(t.Context(), secret, access.Acceptance{Name: name, Password: password}, registry.Device{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	join("grace", "correct horse battery")
	if err := db.CreateUser(t.Context(), registry.User{ID: "u-none", Name: "nopassword", Title: "n", CreatedAt: time.Now()}); err != nil {
		t.Fatal(err)
	}
	other, err := s.CreateWorkspace(t.Context(), host, "other", "")
	if err != nil {
		t.Fatal(err)
	}
	there := registry.Actor{ID: registry.DefaultUser, Type: registry.UserActor, Workspace: other.ID}
	_, token, err := s.CreateToken(t.Context(), registry.Caller{Actor: there, Workspace: other, User: registry.DefaultUser}, access.TokenRequest{Name: "theirs"})
	if err != nil {
		t.Fatal(err)
	}
	_, invitation, err := s.Invite(t.Context(), registry.Caller{Actor: there}, access.InvitationRequest{Role: registry.Viewer})
	if err != nil {
		t.Fatal(err)
	}
	s.Hashed(func(cost string) { done = append(done, cost) })
	signIn := func(name, password string) func() error {
		return func() error {
			_, _, err := s.SignInByPassword(t.Context(), name, password, registry.Device{})
			return err
		}
	}
	long := strings.Repeat("long", 1000)
	for name, tt := range map[string]struct {
		known, unknown func() error
		hashes         int
	}{
		"a sign-in name":           {signIn("grace", "another password"), signIn("nobody", "another password"), 1},
		"one without a password":   {signIn("nopassword", "another password"), signIn("nobody", "another password"), 1},
		"one with a long password": {signIn("grace", long), signIn("nobody", long), 1},
		"a token of another workspace": {
			func() error { return s.RevokeToken(t.Context(), host.Actor, token.ID) },
			func() error { return s.RevokeToken(t.Context(), host.Actor, "id-none") }, 0,
		},
		"an invitation of another workspace": {
			func() error { return s.RevokeInvitation(t.Context(), host.Actor, invitation.ID) },
			func() error { return s.RevokeInvitation(t.Context(), host.Actor, "id-none") }, 0,
		},
		"a person of another workspace": {
			func() error { return s.SetRole(t.Context(), there, "u-none", registry.Viewer) },
			func() error { return s.SetRole(t.Context(), there, "u-nowhere", registry.Viewer) }, 0,
		},
	} {
		work := func(ask func() error) []string {
			t.Helper()
			done = nil
			if err := ask(); !fault.Is(err, fault.Unauthenticated) && !fault.Is(err, fault.NotFound) {
				t.Errorf("%s: %v", name, err)
			}
			return done
		}
		known, unknown := work(tt.known), work(tt.unknown)
		if !slices.Equal(known, unknown) || len(known) == 0 {
			t.Errorf("%s: %q where it is there, %q where it is not", name, known, unknown)
		}
		if got := strings.Count(strings.Join(known, "\n"), "m=65536,t=3,p=4"); got != tt.hashes {
			t.Errorf("%s: %d passwords hashed", name, got)
		}
	}
}
