package access_test

import (
	"context"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store/storetest"
	"github.com/atelier-run/atelier/studio/access"
)

// issued is an identity provider with a fixed list of tokens.
type issued struct {
	tokens map[string]registry.AccessToken
	read   atomic.Int64
}

func (p *issued) Read(_ context.Context, token string) (registry.AccessToken, error) {
	p.read.Add(1)
	found, ok := p.tokens[token]
	if !ok {
		return found, fault.New(fault.Unauthenticated, "unknown")
	}
	return found, nil
}

func TestDelegated_AccessTokensOfTheProvider(t *testing.T) {
	t.Parallel()
	const mcp = "https://a.example/mcp"
	token := func(subject string, grouped bool, audience string, groups ...string) registry.AccessToken {
		return registry.AccessToken{
			Identity: registry.Identity{Issuer: "https://login.example", Subject: subject, Names: []string{subject}, Groups: groups},
			Grouped:  grouped, Audiences: []string{audience}, Expires: time.Now().Add(time.Hour),
		}
	}
	old := token("ada", true, mcp, "ops")
	old.Expires = time.Now().Add(-time.Second)
	provider := &issued{tokens: map[string]registry.AccessToken{
		"ops": token("ada", true, mcp, "ops"), "set": token("ada", true, mcp+"/sets/daily", "ops"), "silent": token("ada", false, mcp),
		"api": token("ada", true, "api://atelier", "ops"), "other": token("ada", true, "https://b.example/mcp", "ops"), "empty": token("ada", true, "", "ops"),
		"viewer": token("eve", true, mcp, "guests"), "nobody": token("bob", true, mcp, "strangers"), "old": old, "demoted": token("ada", true, mcp, "guests"),
	}}
	db := storetest.Open(t, storetest.SQLite)
	var ids atomic.Int64
	s := access.New(access.Options{
		Tokens: db, Sessions: db, Agents: db, Users: db, Members: db, Workspaces: db, Identities: db, Now: time.Now,
		NewID:    func() string { return "id-" + strconv.FormatInt(ids.Add(1), 10) },
		Provider: provider, Audiences: []string{"api://atelier"},
		Groups: []access.GroupRole{
			{Group: "ops", Workspace: "default", Role: registry.Administrator}, {Group: "guests", Workspace: "default", Role: registry.Viewer},
		},
	})
	both := []registry.Scope{registry.ReadScope, registry.RunScope}
	for _, tt := range []struct {
		token, resource string
		scopes          []registry.Scope
		want            fault.Code
	}{
		{token: "ops", resource: mcp, scopes: both},
		{token: "ops", resource: mcp + "/sets/daily", scopes: both},
		{token: "silent", resource: mcp, scopes: both}, // This token names no groups, so the role of the previous token stays.
		{token: "set", resource: mcp + "/sets/daily", scopes: both},
		{token: "set", resource: mcp, want: fault.Unauthenticated},
		{token: "set", resource: mcp + "/sets/daily-2", want: fault.Unauthenticated},
		{token: "api", resource: mcp, scopes: both},
		{token: "other", resource: mcp, want: fault.Unauthenticated},
		{token: "empty", resource: mcp, want: fault.Unauthenticated},
		{token: "viewer", resource: mcp, scopes: []registry.Scope{registry.ReadScope}},
		{token: "nobody", resource: mcp, want: fault.Forbidden},
		{token: "old", resource: mcp, want: fault.Unauthenticated},
		{token: "unknown", resource: mcp, want: fault.Unauthenticated},
		{token: "demoted", resource: mcp, scopes: []registry.Scope{registry.ReadScope}},
		{token: "ops", resource: mcp, scopes: []registry.Scope{registry.ReadScope}}, // The previous token is newer and has set the role.
	} {
		caller, err := s.Delegated(t.Context(), tt.token, tt.resource, "")
		if tt.want != "" {
			if !fault.Is(err, tt.want) {
				t.Errorf("%s at %s: %+v, %v; want %s", tt.token, tt.resource, caller, err, tt.want)
			}
			continue
		}
		if err != nil || !slices.Equal(caller.Scopes, tt.scopes) {
			t.Errorf("%s at %s: %v, %v; want %v", tt.token, tt.resource, caller.Scopes, err, tt.scopes)
		}
	}
	before := provider.read.Load()
	if _, err := s.Delegated(t.Context(), "ops", mcp, "default"); err != nil || provider.read.Load() != before {
		t.Errorf("a known token was read again: %v", err)
	}
	if _, err := s.Delegated(t.Context(), "ops", mcp, "elsewhere"); !fault.Is(err, fault.NoWorkspace) {
		t.Errorf("another workspace: %v", err)
	}
}

// An access token that was issued before a sign-in with lower roles must not restore the higher roles.
func TestDelegated_TokenOlderThanTheSignIn_RestoresNoRole(t *testing.T) {
	t.Parallel()
	const mcp = "https://a.example/mcp"
	who := func(group string) registry.Identity {
		return registry.Identity{Issuer: "https://login.example", Subject: "ada", Names: []string{"ada"}, Groups: []string{group}}
	}
	token := func(group string, issued time.Time) registry.AccessToken {
		return registry.AccessToken{Identity: who(group), Grouped: true, Audiences: []string{mcp}, Issued: issued, Expires: time.Now().Add(time.Hour)}
	}
	now := time.Now()
	provider := &issued{tokens: map[string]registry.AccessToken{
		"before": token("ops", now.Add(-time.Minute)), "again": token("ops", now.Add(-30*time.Second)), "after": token("ops", now.Add(time.Minute)),
	}}
	db := storetest.Open(t, storetest.SQLite)
	var ids atomic.Int64
	s := access.New(access.Options{
		Tokens: db, Sessions: db, Agents: db, Users: db, Members: db, Workspaces: db, Identities: db, Now: func() time.Time { return now },
		NewID: func() string { return "id-" + strconv.FormatInt(ids.Add(1), 10) }, Provider: provider,
		Groups: []access.GroupRole{
			{Group: "ops", Workspace: "default", Role: registry.Developer}, {Group: "guests", Workspace: "default", Role: registry.Viewer},
		},
	})
	both, reads := []registry.Scope{registry.ReadScope, registry.RunScope}, []registry.Scope{registry.ReadScope}
	scopes := func(token string, want []registry.Scope) {
		t.Helper()
		caller, err := s.Delegated(t.Context(), token, mcp, "")
		if err != nil || !slices.Equal(caller.Scopes, want) {
			t.Errorf("%s: %v, %v; want %v", token, caller.Scopes, err, want)
		}
	}
	scopes("before", both)
	if _, _, err := s.Federate(t.Context(), who("guests"), registry.Device{}); err != nil {
		t.Fatal(err)
	}
	scopes("again", reads)
	scopes("after", both)
}
