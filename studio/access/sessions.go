package access

import (
	"context"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// Session returns the caller of a session cookie in a workspace. If workspace is "", it uses the caller's first
// workspace. A session that was opened with a token has only the token's rights.
func (s *Service) Session(ctx context.Context, cookie, workspace string) (registry.Caller, error) {
	h := hash(cookie)
	found, err := s.remember("session "+h, func() (remembered, error) {
		session, err := s.sessions.SessionByHash(ctx, h)
		if err != nil {
			return remembered{}, err
		}
		r := remembered{expires: &session.ExpiresAt}
		if r.places, err = s.placesOf(ctx, session); err != nil {
			return remembered{}, err
		}
		for i := range r.places {
			r.places[i].Session = session.ID()
		}
		return r, nil
	})
	if err != nil {
		return registry.Caller{}, err
	}
	caller, err := found.in(workspace)
	if err != nil {
		return registry.Caller{}, err
	}
	s.visits.note(h, s.now())
	if caller.Actor.Type == registry.TokenActor {
		s.uses.note(caller.Actor.ID, s.now())
	}
	return caller, nil
}

// placesOf returns one caller for each workspace of the session's user or token.
func (s *Service) placesOf(ctx context.Context, session registry.Session) ([]registry.Caller, error) {
	if session.Actor.Type != registry.TokenActor {
		return s.person(ctx, session.Actor.ID)
	}
	t, err := s.tokens.Token(ctx, session.Actor.Workspace, session.Actor.ID)
	if err != nil {
		return nil, err
	}
	return s.bearer(ctx, t)
}

// person returns one caller for each workspace of the user.
func (s *Service) person(ctx context.Context, id string) ([]registry.Caller, error) {
	user, err := s.users.User(ctx, id)
	if err != nil {
		return nil, err
	}
	memberships, err := s.users.Memberships(ctx, id)
	if err != nil {
		return nil, err
	}
	callers := make([]registry.Caller, 0, len(memberships))
	for _, m := range memberships {
		callers = append(callers, registry.Caller{
			Actor: user.Actor(m.Workspace.ID), Workspace: m.Workspace, User: user.ID, Role: m.Role, Scopes: m.Role.Scopes(),
		})
	}
	return callers, nil
}

// SignInLink creates a link with which one browser can sign in as a user, once, within 15 minutes. It returns the
// secret of the link.
func (s *Service) SignInLink(ctx context.Context, user string) (string, error) {
	secret := newSecret("")
	return secret, s.sessions.PutSignInLink(ctx, hash(secret), user, s.now().Add(linkFor))
}

// Redeem uses up a sign-in link and returns a session cookie with its expiry.
func (s *Service) Redeem(ctx context.Context, link string, from registry.Device) (string, time.Time, error) {
	user, err := s.sessions.ConsumeSignInLink(ctx, hash(link), s.now())
	if fault.Is(err, fault.NotFound) {
		err = fault.New(fault.Unauthenticated, "This sign-in link was used or has expired. Restart the server for a new one, or paste a token.")
	}
	if err != nil {
		return "", time.Time{}, err
	}
	return s.OpenSession(ctx, user, from)
}

// SignIn opens a session for a bearer token, and returns the session cookie with its expiry. The session ends no later
// than the token expires.
func (s *Service) SignIn(ctx context.Context, token string, from registry.Device) (string, time.Time, error) {
	if _, ok := s.Fixed(token); ok {
		return s.OpenSession(ctx, registry.DefaultUser, from)
	}
	found, err := s.issued(ctx, token)
	if err != nil {
		return "", time.Time{}, err
	}
	return s.open(ctx, found.places[0].Actor, from, found.expires)
}

// OpenSession opens a session for a user who is already authenticated, and returns the session cookie with its expiry.
func (s *Service) OpenSession(ctx context.Context, user string, from registry.Device) (string, time.Time, error) {
	places, err := s.person(ctx, user)
	if err != nil {
		return "", time.Time{}, err
	}
	if len(places) == 0 {
		return "", time.Time{}, fault.New(fault.Unauthenticated, "You are not a member of any workspace. Ask an administrator for an invitation.")
	}
	return s.open(ctx, places[0].Actor, from, nil)
}

// open stores a new session. If until is set, the session ends no later than that time.
func (s *Service) open(ctx context.Context, actor registry.Actor, from registry.Device, latest *time.Time) (string, time.Time, error) {
	cookie, now := newSecret(""), s.now()
	session := registry.Session{Hash: hash(cookie), Actor: actor, Device: from, CreatedAt: now, ExpiresAt: now.Add(sessionFor)}
	if latest != nil && latest.Before(session.ExpiresAt) {
		session.ExpiresAt = *latest
	}
	ended, err := s.sessions.PutSession(ctx, session, mostSessions)
	if ended > 0 {
		s.callers.forget()
	}
	return cookie, session.ExpiresAt, err
}

// Logout ends a session. An unknown session is not an error.
func (s *Service) Logout(ctx context.Context, cookie string) error {
	defer s.callers.forget()
	return s.sessions.DeleteSession(ctx, hash(cookie))
}

// ListSessions returns the sessions of the actor's workspace that have not expired.
func (s *Service) ListSessions(ctx context.Context, actor registry.Actor) ([]registry.Session, error) {
	sessions, err := s.sessions.Sessions(ctx, actor.Workspace, s.now())
	return s.visited(sessions), err
}

// visited sets the time of last use in the given sessions, including uses that are not stored yet.
func (s *Service) visited(sessions []registry.Session) []registry.Session {
	for i, session := range sessions {
		if at, ok := s.visits.of(session.Hash); ok {
			sessions[i].LastUsed = &at
		}
	}
	return sessions
}

// EndSession ends a browser session of the actor's workspace, with immediate effect.
func (s *Service) EndSession(ctx context.Context, actor registry.Actor, id string) error {
	defer s.callers.forget()
	return s.sessions.EndSession(ctx, actor.Workspace, id)
}
