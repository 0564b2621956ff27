package access

import (
	"context"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// SignInByPassword checks a sign-in name and its password, and returns a session cookie with its expiry. The error does
// not reveal whether the name or the password is wrong. An unknown name takes the same time as a known one.
func (s *Service) SignInByPassword(ctx context.Context, name, password string, from registry.Device) (string, time.Time, error) {
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

// ChangePassword changes the password of a session's user, and ends all other sessions of the user. A user without a
// password need not send the current password.
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

// OwnSessions returns all sessions of a session's user.
func (s *Service) OwnSessions(ctx context.Context, caller registry.Caller) ([]registry.Session, error) {
	if err := needPerson(caller); err != nil {
		return nil, err
	}
	sessions, err := s.sessions.SessionsOf(ctx, caller.User, s.now())
	return s.visited(sessions), err
}

// EndOwnSession ends a session of the caller's user, with immediate effect.
func (s *Service) EndOwnSession(ctx context.Context, caller registry.Caller, id string) error {
	if err := needPerson(caller); err != nil {
		return err
	}
	defer s.callers.forget()
	return s.sessions.EndSessionOf(ctx, caller.User, id)
}

// personOf returns the user of the caller's session.
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
