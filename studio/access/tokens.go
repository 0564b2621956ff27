package access

import (
	"context"
	"crypto/subtle"
	"fmt"
	"slices"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

const (
	prefix     = "atl_"
	maxAgents  = 100 // that one token may be restricted to
	maxNameLen = 100
)

// Fixed reports whether a bearer token is the administrator's fixed one, and returns its caller.
func (s *Service) Fixed(secret string) (registry.Caller, bool) {
	if s.admin == "" || subtle.ConstantTimeCompare([]byte(hash(secret)), []byte(s.admin)) != 1 {
		return registry.Caller{}, false
	}
	caller := Host()
	caller.User, caller.Role = registry.DefaultUser, registry.Administrator
	return caller, true
}

// Issued returns the caller of a bearer token that was made here, or an Unauthenticated error that says nothing about why.
func (s *Service) Issued(ctx context.Context, secret string) (registry.Caller, error) {
	found, err := s.issued(ctx, secret)
	if err != nil {
		return registry.Caller{}, err
	}
	return found.places[0], nil
}

func (s *Service) issued(ctx context.Context, secret string) (remembered, error) {
	h := hash(secret)
	found, err := s.remember("token "+h, func() (remembered, error) {
		t, err := s.tokens.TokenByHash(ctx, h)
		if err != nil {
			return remembered{}, err
		}
		places, err := s.bearer(ctx, t)
		return remembered{places: places, expires: t.ExpiresAt}, err
	})
	if err == nil {
		s.uses.note(found.places[0].Actor.ID, s.now())
	}
	return found, err
}

// bearer is a token as the one caller that it makes. It may do no more than the person for whom it acts, and nothing where
// that person is no member any more.
func (s *Service) bearer(ctx context.Context, t registry.Token) ([]registry.Caller, error) {
	if t.RevokedAt != nil {
		return nil, unauthenticated()
	}
	caller := registry.Caller{
		Actor: registry.Actor{ID: t.ID, Type: registry.TokenActor, Name: t.Name, Workspace: t.Workspace}, User: t.User, Scopes: t.Scopes, Agents: t.Agents,
	}
	if t.User == "" {
		w, err := s.workspaces.Workspace(ctx, t.Workspace)
		if fault.Is(err, fault.NoWorkspace) {
			err = unauthenticated()
		}
		caller.Workspace = w
		return []registry.Caller{caller}, err
	}
	memberships, err := s.users.Memberships(ctx, t.User)
	if err != nil {
		return nil, err
	}
	for _, m := range memberships {
		if m.Workspace.ID == t.Workspace {
			caller.Workspace, caller.Role, caller.Scopes = m.Workspace, m.Role, registry.Common(t.Scopes, m.Role.Scopes())
			return []registry.Caller{caller}, nil
		}
	}
	return nil, unauthenticated()
}

// remember answers from memory, or looks and remembers what it found. What has expired is nobody's.
func (s *Service) remember(key string, look func() (remembered, error)) (remembered, error) {
	now := s.now()
	found, ok, generation := s.callers.find(key, now)
	if !ok {
		var err error
		if found, err = look(); fault.Is(err, fault.NotFound) {
			return remembered{}, unauthenticated()
		} else if err != nil {
			return remembered{}, err
		}
		if len(found.places) == 0 { // a member of nothing
			return remembered{}, unauthenticated()
		}
		s.callers.keep(key, found, generation, now)
	}
	if found.expires != nil && !now.Before(*found.expires) {
		return remembered{}, unauthenticated()
	}
	return found, nil
}

// TokenRequest says what a new token is for and what it may do. Without scopes it may do what whoever writes agents does,
// which is all but admin; without agents it may touch all of the workspace.
type TokenRequest struct {
	Name      string
	Scopes    []registry.Scope
	Agents    []string // names or IDs
	ExpiresAt *time.Time
}

// CreateToken makes a bearer token for the caller's workspace, which acts for the caller's person. The secret is returned
// this once.
func (s *Service) CreateToken(ctx context.Context, caller registry.Caller, q TokenRequest) (string, registry.Token, error) {
	if q.Name == "" || len(q.Name) > maxNameLen {
		return "", registry.Token{}, fault.Invalid("/name", "The name of a token must have 1 to %d bytes.", maxNameLen)
	}
	if q.ExpiresAt != nil && !s.now().Before(*q.ExpiresAt) {
		return "", registry.Token{}, fault.Invalid("/expiresAt", "The expiry must be in the future.")
	}
	scopes, err := scopesOf(q)
	if err != nil {
		return "", registry.Token{}, err
	}
	agents, err := s.agentsOf(ctx, caller.Actor, q.Agents)
	if err != nil {
		return "", registry.Token{}, err
	}
	if q.ExpiresAt != nil {
		expires := q.ExpiresAt.UTC() // as lists say it
		q.ExpiresAt = &expires
	}
	secret := newSecret(prefix)
	t := registry.Token{
		ID: s.newID(), Workspace: caller.Actor.Workspace, Name: q.Name, Hash: hash(secret), User: caller.User, Scopes: scopes, Agents: agents,
		CreatedAt: s.now(), CreatedBy: caller.Actor.ID, Creator: caller.Actor, ExpiresAt: q.ExpiresAt,
	}
	return secret, t, s.tokens.PutToken(ctx, t)
}

// scopesOf are the scopes that are asked for, each once and in their order.
func scopesOf(q TokenRequest) ([]registry.Scope, error) {
	if len(q.Scopes) == 0 {
		return []registry.Scope{registry.ReadScope, registry.RunScope, registry.WriteScope, registry.ApproveScope}, nil
	}
	for i, scope := range q.Scopes {
		if !slices.Contains(registry.Scopes(), scope) {
			return nil, fault.Invalid(fmt.Sprintf("/scopes/%d", i), "Scopes must be read, run, write, approve or admin.")
		}
	}
	if len(q.Agents) > 0 && slices.Contains(q.Scopes, registry.AdminScope) {
		return nil, fault.Invalid("/scopes", "A token that is restricted to agents cannot have the scope admin.")
	}
	var scopes []registry.Scope
	for _, scope := range registry.Scopes() {
		if slices.Contains(q.Scopes, scope) {
			scopes = append(scopes, scope)
		}
	}
	return scopes, nil
}

func (s *Service) agentsOf(ctx context.Context, actor registry.Actor, asked []string) ([]registry.TokenAgent, error) {
	if len(asked) > maxAgents {
		return nil, fault.Invalid("/agents", "A token can be restricted to at most %d agents.", maxAgents)
	}
	agents := []registry.TokenAgent{}
	for i, nameOrID := range asked {
		a, err := s.agents.Agent(ctx, actor.Workspace, nameOrID)
		if fault.Is(err, fault.NotFound) {
			return nil, fault.Invalid(fmt.Sprintf("/agents/%d", i), "Agent not found.")
		}
		if err != nil {
			return nil, err
		}
		if one := (registry.TokenAgent{ID: a.ID, Name: a.Name}); !slices.Contains(agents, one) {
			agents = append(agents, one)
		}
	}
	return agents, nil
}

// ListTokens returns the tokens of the actor's workspace, without secrets.
func (s *Service) ListTokens(ctx context.Context, actor registry.Actor) ([]registry.Token, error) {
	tokens, err := s.tokens.Tokens(ctx, actor.Workspace)
	if err != nil {
		return nil, err
	}
	for i, t := range tokens {
		if at, ok := s.uses.of(t.ID); ok {
			tokens[i].LastUsed = &at
		}
	}
	return tokens, nil
}

// RevokeToken makes a token useless at once, and the sessions that it opened.
func (s *Service) RevokeToken(ctx context.Context, actor registry.Actor, id string) error {
	defer s.callers.forget() // after the change, and also when it is not known whether there was one
	return s.tokens.RevokeToken(ctx, actor.Workspace, id, s.now())
}
