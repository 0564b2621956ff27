package access

import (
	"context"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// Session returns the caller of a session cookie. A session that a token opened may do what the token may.
func (s *Service) Session(ctx context.Context, cookie string) (registry.Caller, error) {
	h := hash(cookie)
	found, err := s.remember("session "+h, func() (remembered, error) {
		session, err := s.sessions.SessionByHash(ctx, h)
		if err != nil {
			return remembered{}, err
		}
		r := remembered{caller: administrator(), expires: &session.ExpiresAt}
		r.caller.Actor, r.caller.Session = session.Actor, session.ID()
		if session.Actor.Type != registry.TokenActor {
			return r, nil
		}
		t, err := s.tokens.Token(ctx, session.Actor.Workspace, session.Actor.ID)
		if err == nil && t.RevokedAt != nil { // while the session was being opened
			err = unauthenticated()
		}
		r.caller.Scopes, r.caller.Agents = t.Scopes, t.Agents
		return r, err
	})
	if err != nil {
		return registry.Caller{}, err
	}
	s.visits.note(h, s.now())
	if found.caller.Actor.Type == registry.TokenActor {
		s.uses.note(found.caller.Actor.ID, s.now())
	}
	return found.caller, nil
}

// LoginLink returns the secret of a new link that logs one browser in as the administrator, once, within 15 minutes.
func (s *Service) LoginLink(ctx context.Context) (string, error) {
	secret := newSecret("")
	return secret, s.sessions.PutLoginLink(ctx, hash(secret), s.now().Add(linkFor))
}

// Redeem spends a login link and returns a session cookie with its expiry.
func (s *Service) Redeem(ctx context.Context, link string, from registry.Device) (string, time.Time, error) {
	ok, err := s.sessions.TakeLoginLink(ctx, hash(link), s.now())
	if err != nil {
		return "", time.Time{}, err
	}
	if !ok {
		return "", time.Time{}, fault.New(fault.Unauthenticated, "This login link was used or has expired; restart the server for a new one, or paste a token.")
	}
	return s.open(ctx, Administrator(), from, nil)
}

// Login trades a bearer token for a session cookie with its expiry, which is not after that of the token.
func (s *Service) Login(ctx context.Context, token string, from registry.Device) (string, time.Time, error) {
	if caller, ok := s.Fixed(token); ok {
		return s.open(ctx, caller.Actor, from, nil)
	}
	found, err := s.issued(ctx, token)
	if err != nil {
		return "", time.Time{}, err
	}
	return s.open(ctx, found.caller.Actor, from, found.expires)
}

// open stores a session that ends at latest, if that is not nil.
func (s *Service) open(ctx context.Context, actor registry.Actor, from registry.Device, latest *time.Time) (string, time.Time, error) {
	cookie, now := newSecret(""), s.now()
	session := registry.Session{Hash: hash(cookie), Actor: actor, Device: from, CreatedAt: now, ExpiresAt: now.Add(sessionFor)}
	if latest != nil && latest.Before(session.ExpiresAt) {
		session.ExpiresAt = *latest
	}
	return cookie, session.ExpiresAt, s.sessions.PutSession(ctx, session)
}

// Logout ends a session. An unknown one is no error.
func (s *Service) Logout(ctx context.Context, cookie string) error {
	defer s.callers.forget()
	return s.sessions.DeleteSession(ctx, hash(cookie))
}

// ListSessions returns the sessions of the actor's workspace that have not expired.
func (s *Service) ListSessions(ctx context.Context, actor registry.Actor) ([]registry.Session, error) {
	sessions, err := s.sessions.Sessions(ctx, actor.Workspace, s.now())
	if err != nil {
		return nil, err
	}
	for i, session := range sessions {
		if at, ok := s.visits.of(session.Hash); ok {
			sessions[i].LastUsed = &at
		}
	}
	return sessions, nil
}

// EndSession logs a browser of the actor's workspace out, at once.
func (s *Service) EndSession(ctx context.Context, actor registry.Actor, id string) error {
	defer s.callers.forget()
	return s.sessions.EndSession(ctx, actor.Workspace, id)
}
