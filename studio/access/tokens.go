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
	maxAgents  = 200 // maximum number of agents to which a token may be restricted; equals the size of the largest tool set
	maxNameLen = 100
)

// Fixed reports whether a bearer token is the administrator's fixed token. If so, it returns the administrator's
// caller.
func (s *Service) Fixed(secret string) (registry.Caller, bool) {
	if s.admin == "" || subtle.ConstantTimeCompare([]byte(hash(secret)), []byte(s.admin)) != 1 {
		return registry.Caller{}, false
	}
	caller := Host()
	caller.User, caller.Role = registry.DefaultUser, registry.Administrator
	return caller, true
}

// Issued returns the caller of a bearer token that this server issued. Otherwise it returns an Unauthenticated error
// that does not reveal the reason.
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

// bearer returns the caller of a token. The caller has at most the rights of the person for whom the token acts, and no
// rights if that person is no longer a member.
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

// remember returns a credential from the cache, or looks it up and caches it. It returns an error if the credential has
// expired.
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
		if len(found.places) == 0 { // A credential without a workspace has no caller.
			return remembered{}, unauthenticated()
		}
		s.callers.keep(key, found, generation, now)
	}
	if found.expires != nil && !now.Before(*found.expires) {
		return remembered{}, unauthenticated()
	}
	return found, nil
}

// TokenRequest describes a new token. By default it has all scopes except admin, and may use all agents of the
// workspace.
type TokenRequest struct {
	Name      string
	Scopes    []registry.Scope
	Agents    []string // names or IDs of agents
	ExpiresAt *time.Time
}

// CreateToken creates a bearer token for the caller's workspace. The token acts for the caller's user. Only this call
// returns the token's secret.
func (s *Service) CreateToken(ctx context.Context, caller registry.Caller, q TokenRequest) (string, registry.Token, error) {
	if q.Name == "" || len(q.Name) > maxNameLen {
		return "", registry.Token{}, fault.Invalid("/name", "must have 1 to %d bytes.", maxNameLen)
	}
	if q.ExpiresAt != nil && !s.now().Before(*q.ExpiresAt) {
		return "", registry.Token{}, fault.Invalid("/expiresAt", "must be in the future.")
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
		expires := q.ExpiresAt.UTC() // Times are stored in UTC.
		q.ExpiresAt = &expires
	}
	secret := newSecret(prefix)
	t := registry.Token{
		ID: s.newID(), Workspace: caller.Actor.Workspace, Name: q.Name, Hash: hash(secret), User: caller.User, Scopes: scopes, Agents: agents,
		CreatedAt: s.now(), CreatedBy: caller.Actor.ID, Creator: caller.Actor, ExpiresAt: q.ExpiresAt,
	}
	return secret, t, s.tokens.PutToken(ctx, t)
}

// scopesOf returns the requested scopes without duplicates, in a fixed order.
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
		return nil, fault.Invalid("/scopes", "must not contain admin if the token is restricted to agents.")
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
		return nil, fault.Invalid("/agents", "must name at most %d agents.", maxAgents)
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

// RevokeToken revokes a token and ends the sessions opened with it, with immediate effect.
func (s *Service) RevokeToken(ctx context.Context, actor registry.Actor, id string) error {
	defer s.callers.forget() // Clear the cache after the change, even if the change returned an error.
	return s.tokens.RevokeToken(ctx, actor.Workspace, id, s.now())
}
