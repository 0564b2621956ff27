package store_test

import (
	"sync"
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/registry/store/storetest"
)

// person stores and returns a user with a name.
func person(t *testing.T, s *store.Store, name string) registry.User {
	t.Helper()
	u := registry.User{ID: newID(), Name: name, Title: "Title of " + name, CreatedAt: start}
	if err := s.CreateUser(t.Context(), u); err != nil {
		t.Fatal(err)
	}
	return u
}

// tenant stores and returns a workspace with an administrator.
func tenant(t *testing.T, s *store.Store, name, administrator string) registry.Workspace {
	t.Helper()
	w := registry.Workspace{ID: newID(), Name: name, Title: "Title of " + name, CreatedAt: start}
	if err := s.CreateWorkspace(t.Context(), w, administrator); err != nil {
		t.Fatal(err)
	}
	return w
}

func TestOneUserHasOneWorkspace(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		memberships, err := s.Memberships(t.Context(), registry.DefaultUser)
		if err != nil || len(memberships) != 1 || memberships[0].Workspace.ID != registry.DefaultWorkspace || memberships[0].Role != registry.Administrator {
			t.Fatalf("%+v, %v", memberships, err)
		}
		members, err := s.Members(t.Context(), registry.DefaultWorkspace)
		if err != nil || len(members) != 1 || members[0].User.ID != registry.DefaultUser || members[0].User.Password != "" {
			t.Fatalf("%+v, %v", members, err)
		}
	})
}

func TestWorkspaces(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		grace := person(t, s, "grace")
		acme := tenant(t, s, "acme", grace.ID)
		for _, by := range []string{acme.ID, "acme"} {
			got, err := s.Workspace(t.Context(), by)
			if err != nil {
				t.Fatal(err)
			}
			same(t, got, acme)
		}
		for _, unknown := range []string{"nobody", "", "\x00"} {
			_, err := s.Workspace(t.Context(), unknown)
			expect(t, err, fault.NoWorkspace)
		}
		again := acme
		again.ID = newID()
		expect(t, s.CreateWorkspace(t.Context(), again, ""), fault.NameTaken)
		again.Name = "other"
		expect(t, s.CreateWorkspace(t.Context(), again, "nobody"), fault.NotFound)
		if err := s.DescribeWorkspace(t.Context(), acme.ID, "Acme Ltd"); err != nil {
			t.Fatal(err)
		}
		acme.Title = "Acme Ltd"
		all, err := s.Workspaces(t.Context())
		if err != nil || len(all) != 2 {
			t.Fatalf("%v, %v", all, err)
		}
		same(t, all[0], acme)

		token := registry.Token{ID: newID(), Workspace: acme.ID, Hash: "t1", User: grace.ID, CreatedAt: start}
		listed := agent("weather")
		listed.Workspace, listed.Listed = acme.ID, true
		create(t, s, listed)
		invitation := registry.Invitation{ID: newID(), Hash: "i1", Workspace: acme.ID, Role: registry.Viewer, CreatedAt: start, ExpiresAt: start.Add(time.Hour)}
		for _, err := range []error{s.PutToken(t.Context(), token), s.PutInvitation(t.Context(), invitation, ""), s.CloseWorkspace(t.Context(), acme.ID, start)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		_, err = s.Workspace(t.Context(), "acme")
		expect(t, err, fault.NoWorkspace)
		expect(t, s.CloseWorkspace(t.Context(), acme.ID, start), fault.NoWorkspace)
		expect(t, s.DescribeWorkspace(t.Context(), acme.ID, "x"), fault.NoWorkspace)
		expect(t, s.PutMember(t.Context(), acme.ID, grace.ID, registry.Viewer, start), fault.NoWorkspace)
		if got, err := s.TokenByHash(t.Context(), "t1"); err != nil || got.RevokedAt == nil {
			t.Errorf("the token is %+v, %v", got, err)
		}
		if got, err := s.Agent(t.Context(), acme.ID, "weather"); err != nil || got.Listed {
			t.Errorf("the agent is %+v, %v", got, err)
		}
		if got, err := s.Memberships(t.Context(), grace.ID); err != nil || len(got) != 0 {
			t.Errorf("memberships %+v, %v", got, err)
		}
		expect(t, s.Accept(t.Context(), "i1", grace, false, start), fault.NotFound)
	})
}

func TestUsers(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		grace := person(t, s, "grace")
		for _, got := range []func() (registry.User, error){
			func() (registry.User, error) { return s.User(t.Context(), grace.ID) },
			func() (registry.User, error) { return s.UserByName(t.Context(), "grace") },
		} {
			u, err := got()
			if err != nil {
				t.Fatal(err)
			}
			same(t, u, grace)
		}
		_, err := s.UserByName(t.Context(), "nobody\x00")
		expect(t, err, fault.NotFound)
		expect(t, s.CreateUser(t.Context(), registry.User{ID: newID(), Name: "grace", CreatedAt: start}), fault.NameTaken)

		for _, hash := range []string{"s1", "s2"} {
			session := registry.Session{Hash: hash, Actor: grace.Actor(ws), CreatedAt: start, ExpiresAt: start.Add(time.Hour)}
			if _, err := s.PutSession(t.Context(), session, 100); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.SetPassword(t.Context(), grace.ID, "secret", registry.SessionID("s1")); err != nil {
			t.Fatal(err)
		}
		if u, err := s.User(t.Context(), grace.ID); err != nil || u.Password != "secret" {
			t.Errorf("%+v, %v", u, err)
		}
		if _, err := s.SessionByHash(t.Context(), "s1"); err != nil {
			t.Error(err)
		}
		_, err = s.SessionByHash(t.Context(), "s2")
		expect(t, err, fault.NotFound)
		expect(t, s.SetPassword(t.Context(), "nobody", "x", ""), fault.NotFound)
	})
}

// TestMembers checks that members can be added and removed. Removing a member also removes the tokens that act for that
// user in the workspace, but not in other workspaces.
func TestMembers(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		grace, alan := person(t, s, "grace"), person(t, s, "alan")
		acme, other := tenant(t, s, "acme", grace.ID), tenant(t, s, "other", alan.ID)
		if err := s.PutMember(t.Context(), acme.ID, alan.ID, registry.Viewer, start.Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		if err := s.SetRole(t.Context(), acme.ID, alan.ID, registry.Developer); err != nil {
			t.Fatal(err)
		}
		members, err := s.Members(t.Context(), acme.ID)
		if err != nil {
			t.Fatal(err)
		}
		same(t, members, []registry.Member{{User: alan, Role: registry.Developer, Since: start.Add(time.Second)}, {User: grace, Role: registry.Administrator, Since: start}})
		expect(t, s.PutMember(t.Context(), acme.ID, "nobody", registry.Viewer, start), fault.NotFound)
		for _, user := range []string{"nobody", "", "\x00", registry.DefaultUser} {
			expect(t, s.SetRole(t.Context(), acme.ID, user, registry.Viewer), fault.NotFound)
			expect(t, s.RemoveMember(t.Context(), acme.ID, user, start), fault.NotFound)
		}
		expect(t, s.RemoveMember(t.Context(), "nowhere", alan.ID, start), fault.NoWorkspace)

		for _, token := range []registry.Token{{ID: "t1", Workspace: acme.ID, User: alan.ID}, {ID: "t2", Workspace: other.ID, User: alan.ID}, {ID: "t3", Workspace: acme.ID, User: grace.ID}} {
			token.Hash, token.CreatedAt = token.ID, start
			session := registry.Session{Hash: "s" + token.ID, Actor: registry.Actor{ID: token.ID, Type: registry.TokenActor, Workspace: token.Workspace}, CreatedAt: start, ExpiresAt: start.Add(time.Hour)}
			if err := s.PutToken(t.Context(), token); err != nil {
				t.Fatal(err)
			}
			if _, err := s.PutSession(t.Context(), session, 100); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.RemoveMember(t.Context(), acme.ID, alan.ID, start); err != nil {
			t.Fatal(err)
		}
		for id, gone := range map[string]bool{"t1": true, "t2": false, "t3": false} {
			token, err := s.TokenByHash(t.Context(), id)
			_, sessionErr := s.SessionByHash(t.Context(), "s"+id)
			if err != nil || (token.RevokedAt != nil) != gone || fault.Is(sessionErr, fault.NotFound) != gone {
				t.Errorf("%s: %+v, %v, %v", id, token, err, sessionErr)
			}
		}
		if got, err := s.Memberships(t.Context(), alan.ID); err != nil || len(got) != 1 || got[0].Workspace.ID != other.ID {
			t.Errorf("memberships %+v, %v", got, err)
		}
	})
}

// TestTheLastAdministratorStays checks that one administrator remains if two demote or remove each other concurrently.
func TestTheLastAdministratorStays(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		grace, alan := person(t, s, "grace"), person(t, s, "alan")
		acme := tenant(t, s, "acme", grace.ID)
		expect(t, s.SetRole(t.Context(), acme.ID, grace.ID, registry.Approver), fault.Conflict)
		expect(t, s.PutMember(t.Context(), acme.ID, grace.ID, registry.Approver, start), fault.Conflict)
		expect(t, s.RemoveMember(t.Context(), acme.ID, grace.ID, start), fault.Conflict)
		for round := range 20 {
			for _, u := range []registry.User{grace, alan} {
				if err := s.PutMember(t.Context(), acme.ID, u.ID, registry.Administrator, start); err != nil {
					t.Fatal(err)
				}
			}
			var group sync.WaitGroup
			refused := make([]error, 2)
			for i, u := range []registry.User{grace, alan} {
				group.Go(func() {
					if round%2 == 0 {
						refused[i] = s.SetRole(t.Context(), acme.ID, u.ID, registry.Viewer)
					} else {
						refused[i] = s.RemoveMember(t.Context(), acme.ID, u.ID, start)
					}
				})
			}
			group.Wait()
			if (refused[0] == nil) == (refused[1] == nil) {
				t.Fatalf("round %d: %v and %v", round, refused[0], refused[1])
			}
			for _, err := range refused {
				if err != nil {
					expect(t, err, fault.Conflict)
				}
			}
		}
	})
}

func TestInvitationsAreSpentOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		grace := person(t, s, "grace")
		acme := tenant(t, s, "acme", grace.ID)
		invite := func(role registry.Role, expires time.Time) registry.Invitation {
			i := registry.Invitation{ID: newID(), Hash: newID(), Workspace: acme.ID, Role: role, Note: "for Alan", Creator: grace.Actor(acme.ID), CreatedAt: start, ExpiresAt: expires}
			if err := s.PutInvitation(t.Context(), i, ""); err != nil {
				t.Fatal(err)
			}
			return i
		}
		later := start.Add(time.Hour)
		open, late := invite(registry.Developer, later), invite(registry.Developer, start)
		if got, err := s.Invitations(t.Context(), acme.ID, start); err != nil || len(got) != 1 {
			t.Errorf("invitations %+v, %v", got, err)
		} else {
			same(t, got[0], open)
		}
		if got, err := s.Invitations(t.Context(), "other", start); err != nil || len(got) != 0 {
			t.Errorf("another workspace has %+v, %v", got, err)
		}
		alan := registry.User{ID: newID(), Name: "alan", Title: "Alan", CreatedAt: start}
		expect(t, s.Accept(t.Context(), late.Hash, alan, true, start), fault.NotFound)
		taken := alan
		taken.Name = "grace"
		expect(t, s.Accept(t.Context(), open.Hash, taken, true, start), fault.NameTaken) // and the link is still valid

		var group sync.WaitGroup
		errs := make([]error, 8)
		for i := range errs {
			group.Go(func() {
				u := registry.User{ID: newID(), Name: "alan" + newID(), Title: "Alan", CreatedAt: start}
				errs[i] = s.Accept(t.Context(), open.Hash, u, true, start)
			})
		}
		group.Wait()
		accepted := 0
		for _, err := range errs {
			if err == nil {
				accepted++
			} else {
				expect(t, err, fault.NotFound)
			}
		}
		if members, err := s.Members(t.Context(), acme.ID); accepted != 1 || err != nil || len(members) != 2 {
			t.Errorf("accepted %d times: %+v, %v", accepted, members, err)
		}

		if err := s.Accept(t.Context(), invite(registry.Viewer, later).Hash, grace, false, start); err != nil {
			t.Fatal(err)
		}
		if m, err := s.Memberships(t.Context(), grace.ID); err != nil || m[0].Role != registry.Administrator {
			t.Errorf("accepting an invitation lowered a role: %+v, %v", m, err)
		}
		again := invite(registry.Viewer, later)
		expect(t, s.RevokeInvitation(t.Context(), "other", again.ID), fault.NotFound)
		if err := s.RevokeInvitation(t.Context(), acme.ID, again.ID); err != nil {
			t.Fatal(err)
		}
		_, err := s.InvitationByHash(t.Context(), again.Hash)
		expect(t, err, fault.NotFound)
		if err := s.SweepSessions(t.Context(), start); err != nil {
			t.Fatal(err)
		}
		_, err = s.InvitationByHash(t.Context(), late.Hash)
		expect(t, err, fault.NotFound)
	})
}

// TestInvitationsGoWithTheRightToInvite checks that the invitations of an administrator are revoked with the role.
// Otherwise the person could accept one of them and so regain the role.
func TestInvitationsGoWithTheRightToInvite(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		grace := person(t, s, "grace")
		alan, err := s.User(t.Context(), federate(t, s, "alan"))
		if err != nil {
			t.Fatal(err)
		}
		acme, other := tenant(t, s, "acme", grace.ID), tenant(t, s, "other", alan.ID)
		put := func(workspace string, creator registry.Actor) registry.Invitation {
			i := registry.Invitation{ID: newID(), Hash: newID(), Workspace: workspace, Role: registry.Administrator, Creator: creator, CreatedAt: start, ExpiresAt: start.Add(time.Hour)}
			if err := s.PutInvitation(t.Context(), i, ""); err != nil {
				t.Fatal(err)
			}
			return i
		}
		for what, ends := range map[string]func() error{
			"demoted": func() error { return s.SetRole(t.Context(), acme.ID, alan.ID, registry.Approver) },
			"put":     func() error { return s.PutMember(t.Context(), acme.ID, alan.ID, registry.Viewer, start) },
			"removed": func() error { return s.RemoveMember(t.Context(), acme.ID, alan.ID, start) },
			"granted": func() error {
				federate(t, s, "alan", registry.Grant{Workspace: acme.ID, Role: registry.Viewer})
				return nil
			},
			"ended": func() error {
				federate(t, s, "alan", registry.Grant{Workspace: acme.ID})
				return nil
			},
		} {
			if err := s.PutMember(t.Context(), acme.ID, alan.ID, registry.Administrator, start); err != nil {
				t.Fatal(err)
			}
			token := registry.Token{ID: newID(), Hash: newID(), Workspace: acme.ID, User: alan.ID, CreatedAt: start}
			if err := s.PutToken(t.Context(), token); err != nil {
				t.Fatal(err)
			}
			bearer := registry.Actor{ID: token.ID, Type: registry.TokenActor, Workspace: acme.ID}
			goes := []registry.Invitation{put(acme.ID, alan.Actor(acme.ID)), put(acme.ID, bearer)}
			stays := []registry.Invitation{put(acme.ID, grace.Actor(acme.ID)), put(other.ID, alan.Actor(other.ID))}
			if err := s.SetRole(t.Context(), acme.ID, alan.ID, registry.Administrator); err != nil {
				t.Fatal(err)
			}
			for _, i := range append(goes, stays...) {
				if _, err := s.InvitationByHash(t.Context(), i.Hash); err != nil {
					t.Fatalf("%s, before: %v", what, err)
				}
			}
			if err := ends(); err != nil {
				t.Fatal(err)
			}
			for _, i := range goes {
				if _, err := s.InvitationByHash(t.Context(), i.Hash); !fault.Is(err, fault.NotFound) {
					t.Errorf("%s: an invitation of the user is still valid: %v", what, err)
				}
			}
			late := registry.Invitation{ID: newID(), Hash: newID(), Workspace: acme.ID, Role: registry.Administrator, Creator: alan.Actor(acme.ID), CreatedAt: start, ExpiresAt: start.Add(time.Hour)}
			if err := s.PutInvitation(t.Context(), late, alan.ID); !fault.Is(err, fault.Forbidden) { // a concurrent request
				t.Errorf("%s: the user can still invite: %v", what, err)
			}
			if err := s.PutInvitation(t.Context(), late, grace.ID); err != nil {
				t.Errorf("%s: %v", what, err)
			}
			for _, i := range stays {
				if _, err := s.InvitationByHash(t.Context(), i.Hash); err != nil {
					t.Errorf("%s: %v", what, err)
				}
			}
		}

		token := registry.Token{ID: newID(), Hash: newID(), Workspace: acme.ID, CreatedAt: start}
		if err := s.PutToken(t.Context(), token); err != nil {
			t.Fatal(err)
		}
		of := put(acme.ID, registry.Actor{ID: token.ID, Type: registry.TokenActor, Workspace: acme.ID})
		if err := s.RevokeToken(t.Context(), acme.ID, token.ID, start); err != nil {
			t.Fatal(err)
		}
		_, err = s.InvitationByHash(t.Context(), of.Hash)
		expect(t, err, fault.NotFound)
	})
}
