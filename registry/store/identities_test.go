package store_test

import (
	"sync"
	"testing"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/registry/store/storetest"
)

// federate signs a user in through an identity provider.
func federate(t *testing.T, s *store.Store, subject string, grants ...registry.Grant) string {
	t.Helper()
	who := registry.Identity{Issuer: "https://login.example", Subject: subject, Names: []string{"ada", "oidc-" + subject}}
	user, err := s.Federate(t.Context(), who, registry.User{ID: newID(), Title: "Ada", CreatedAt: start}, grants)
	if err != nil {
		t.Fatal(err)
	}
	return user
}

// roleIn returns the role of a user in a workspace, "" for none.
func roleIn(t *testing.T, s *store.Store, user, workspace string) registry.Role {
	t.Helper()
	memberships, err := s.Memberships(t.Context(), user)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range memberships {
		if m.Workspace.ID == workspace {
			return m.Role
		}
	}
	return ""
}

func TestAnIdentityIsOneUser(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		first := federate(t, s, "1")
		if again := federate(t, s, "1"); again != first {
			t.Errorf("the second sign-in is user %s, the first %s", again, first)
		}
		other := federate(t, s, "2")
		if other == first {
			t.Error("two identities are one user")
		}
		for id, name := range map[string]string{first: "ada", other: "oidc-2"} {
			if u, err := s.User(t.Context(), id); err != nil || u.Name != name || u.Password != "" {
				t.Errorf("%+v, %v, want the name %s", u, err, name)
			}
			// with a password, people could still sign in after the provider has removed them
			expect(t, s.SetPassword(t.Context(), id, "secret", ""), fault.Conflict)
		}
	})
}

func TestFirstSignInsAtOnceMakeOneUser(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		var all sync.WaitGroup
		users := make([]string, 8)
		for i := range users {
			all.Go(func() {
				who := registry.Identity{Issuer: "https://login.example", Subject: "1", Names: []string{"ada"}}
				user, err := s.Federate(t.Context(), who, registry.User{ID: newID(), Title: "Ada", CreatedAt: start}, nil)
				if err != nil {
					t.Error(err)
				}
				users[i] = user
			})
		}
		all.Wait()
		for _, user := range users {
			if user != users[0] {
				t.Fatalf("%v", users)
			}
		}
	})
}

func TestAProviderGrantsAndTakesRoles(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		grace := person(t, s, "grace")
		acme, other := tenant(t, s, "acme", grace.ID), tenant(t, s, "other", grace.ID)
		in := func(role registry.Role) registry.Grant { return registry.Grant{Workspace: acme.ID, Role: role} }
		ada := federate(t, s, "1", in(registry.Developer))
		if role := roleIn(t, s, ada, acme.ID); role != registry.Developer {
			t.Fatalf("role %q", role)
		}
		if err := s.PutMember(t.Context(), other.ID, ada, registry.Viewer, start); err != nil {
			t.Fatal(err)
		}
		token := registry.Token{ID: newID(), Workspace: acme.ID, Name: "t", Hash: "h", User: ada, CreatedAt: start, CreatedBy: ada, Creator: registry.Actor{ID: ada, Type: registry.UserActor, Workspace: acme.ID}, Scopes: []registry.Scope{registry.ReadScope}}
		if err := s.PutToken(t.Context(), token); err != nil {
			t.Fatal(err)
		}
		federate(t, s, "1", in(registry.Administrator))
		if role := roleIn(t, s, ada, acme.ID); role != registry.Administrator {
			t.Errorf("raised: %q", role)
		}
		federate(t, s, "1", in(""))
		if role := roleIn(t, s, ada, acme.ID); role != "" {
			t.Errorf("taken away: %q", role)
		}
		if role := roleIn(t, s, ada, other.ID); role != registry.Viewer {
			t.Errorf("a workspace that no grant names: %q", role)
		}
		if kept, err := s.Token(t.Context(), acme.ID, token.ID); err != nil || kept.RevokedAt == nil {
			t.Errorf("the token of a removed member: %+v, %v", kept, err)
		}
	})
}

func TestAProviderLeavesTheLastAdministrator(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ada := federate(t, s, "1")
		acme := tenant(t, s, "acme", ada)
		for _, role := range []registry.Role{registry.Viewer, ""} {
			federate(t, s, "1", registry.Grant{Workspace: acme.ID, Role: role})
			if got := roleIn(t, s, ada, acme.ID); got != registry.Administrator {
				t.Errorf("granted %q, the last administrator became %q", role, got)
			}
		}
		if err := s.CloseWorkspace(t.Context(), acme.ID, start); err != nil {
			t.Fatal(err)
		}
		federate(t, s, "1", registry.Grant{Workspace: acme.ID, Role: registry.Viewer}) // a closed workspace is not an error
	})
}
