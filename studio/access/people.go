package access

import (
	"context"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// LoginByPassword trades a login name and its password for a session cookie with its expiry. It says nothing about which of
// the two is wrong, and takes as long for a name that nobody has.
func (s *Service) LoginByPassword(ctx context.Context, name, password string, from registry.Device) (string, time.Time, error) {
	user, err := s.users.UserByName(ctx, name)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return "", time.Time{}, err
	}
	ok, err := s.fits(ctx, user.Password, password)
	if err != nil {
		return "", time.Time{}, err
	}
	if !ok {
		return "", time.Time{}, fault.New(fault.Unauthenticated, "The name or password is incorrect.")
	}
	return s.OpenSession(ctx, user.ID, from)
}

// ChangePassword gives the person of a session another password, and ends all their other sessions. Who has none yet need
// not say it.
func (s *Service) ChangePassword(ctx context.Context, caller registry.Caller, current, next string) error {
	user, err := s.personOf(ctx, caller)
	if err != nil {
		return err
	}
	if user.Password != "" {
		ok, err := s.fits(ctx, user.Password, current)
		if err != nil {
			return err
		}
		if !ok {
			return fault.New(fault.Unauthenticated, "The current password is incorrect.")
		}
	}
	if err := checkPassword("/new", user.Name, next); err != nil {
		return err
	}
	hashed, err := s.hashPassword(ctx, next)
	if err != nil {
		return err
	}
	defer s.callers.forget()
	return s.users.SetPassword(ctx, user.ID, hashed, caller.Session)
}

// OwnSessions returns the sessions of the person of a session.
func (s *Service) OwnSessions(ctx context.Context, caller registry.Caller) ([]registry.Session, error) {
	if err := needPerson(caller); err != nil {
		return nil, err
	}
	sessions, err := s.sessions.SessionsOf(ctx, caller.User, s.now())
	return s.visited(sessions), err
}

// EndOwnSession ends a session of the person of a session, at once.
func (s *Service) EndOwnSession(ctx context.Context, caller registry.Caller, id string) error {
	if err := needPerson(caller); err != nil {
		return err
	}
	defer s.callers.forget()
	return s.sessions.EndSessionOf(ctx, caller.User, id)
}

// personOf is the user whose session a caller shows.
func (s *Service) personOf(ctx context.Context, caller registry.Caller) (registry.User, error) {
	if err := needPerson(caller); err != nil {
		return registry.User{}, err
	}
	return s.users.User(ctx, caller.User)
}

func needPerson(caller registry.Caller) error {
	if caller.Actor.Type == registry.UserActor && caller.Session != "" {
		return nil
	}
	return fault.New(fault.Forbidden, "This requires a signed-in person. Tokens cannot use it.")
}
