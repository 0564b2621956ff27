package access_test

import (
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store/storetest"
	"github.com/atelier-run/atelier/studio/access"
)

func TestGroupsAreRoles(t *testing.T) {
	t.Parallel()
	db, ids := storetest.Open(t, storetest.SQLite), make(chan string, 100)
	for i := range cap(ids) {
		ids <- "id-" + string(rune('a'+i%26)) + string(rune('a'+i/26))
	}
	s := access.New(access.Options{
		Tokens: db, Sessions: db, Agents: db, Users: db, Members: db, Workspaces: db, Identities: db, Now: time.Now, NewID: func() string { return <-ids },
		Groups: []access.GroupRole{
			{Group: "engineers", Workspace: "default", Role: registry.Developer}, {Group: "ops", Workspace: "default", Role: registry.Administrator},
			{Group: "ops", Workspace: "nowhere", Role: registry.Viewer},
		},
	})
	who := registry.Identity{Issuer: "https://login.example", Subject: "1", Names: []string{"Not A Name", "admin"}, Title: "\u202eAda"}
	signIn := func(groups ...string) (registry.Caller, string, error) {
		who.Groups = groups
		cookie, expires, err := s.Federate(t.Context(), who, registry.Device{})
		if err != nil {
			return registry.Caller{}, "", err
		}
		if left := time.Until(expires); left > 24*time.Hour || left < 23*time.Hour {
			t.Errorf("the session lasts %v", left)
		}
		caller, err := s.Session(t.Context(), cookie, "")
		return caller, cookie, err
	}
	if _, _, err := signIn("strangers", "*"); !fault.Is(err, fault.Forbidden) {
		t.Errorf("no group of theirs is named, and the group * is everybody only where the configuration says so: %v", err)
	}
	caller, first, err := signIn("engineers")
	if err != nil || caller.Role != registry.Developer || caller.Actor.ID == registry.DefaultUser {
		t.Fatalf("%+v, %v", caller, err)
	}
	if u, err := db.User(t.Context(), caller.User); err != nil || registry.CheckUserName(u.Name) != nil || u.Name == "admin" || registry.CheckTitle(u.Title) != nil {
		t.Errorf("%+v, %v", u, err)
	}
	if caller, _, err := signIn("engineers", "ops"); err != nil || caller.Role != registry.Administrator {
		t.Errorf("the highest role counts: %+v, %v", caller, err)
	}
	if caller, err := s.Session(t.Context(), first, ""); err != nil || caller.Role != registry.Administrator {
		t.Errorf("an open session has the new role at once: %+v, %v", caller, err)
	}
	if _, _, err := signIn(); !fault.Is(err, fault.Forbidden) {
		t.Errorf("%v", err)
	}
	if _, err := s.Session(t.Context(), first, ""); err == nil {
		t.Error("an open session outlives the role")
	}
}

func TestEverybodyMayHaveARole(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, storetest.SQLite)
	s := access.New(access.Options{
		Tokens: db, Sessions: db, Users: db, Workspaces: db, Identities: db, Now: time.Now, NewID: func() string { return "u" },
		Groups: []access.GroupRole{{Group: access.Everybody, Workspace: "default", Role: registry.Viewer}},
	})
	cookie, _, err := s.Federate(t.Context(), registry.Identity{Issuer: "i", Subject: "s"}, registry.Device{})
	if err != nil {
		t.Fatal(err)
	}
	if caller, err := s.Session(t.Context(), cookie, ""); err != nil || caller.Role != registry.Viewer {
		t.Errorf("%+v, %v", caller, err)
	}
}
