package access

import (
	"context"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

const (
	invitationPrefix = "ati_"
	inviteFor        = 7 * 24 * time.Hour
	inviteForAtMost  = 30 * 24 * time.Hour
	maxNoteLen       = 200
)

// InvitationRequest holds the role and the recipient of a new invitation. By default the invitation expires after a
// week.
type InvitationRequest struct {
	Role      registry.Role
	Note      string
	ExpiresAt *time.Time
}

// Invite creates a one-time link to the caller's workspace. Only this call returns the secret of the link.
func (s *Service) Invite(ctx context.Context, caller registry.Caller, q InvitationRequest) (string, registry.Invitation, error) {
	if err := registry.CheckRole(q.Role); err != nil {
		return "", registry.Invitation{}, err
	}
	if len(q.Note) > maxNoteLen {
		return "", registry.Invitation{}, fault.Invalid("/note", "must have at most %d bytes.", maxNoteLen)
	}
	now, secret := s.now(), newSecret(invitationPrefix)
	expires := now.Add(inviteFor)
	if q.ExpiresAt != nil {
		expires = q.ExpiresAt.UTC() // Times are stored in UTC.
	}
	if !now.Before(expires) || expires.After(now.Add(inviteForAtMost)) {
		return "", registry.Invitation{}, fault.Invalid("/expiresAt", "must be within the next 30 days.")
	}
	i := registry.Invitation{
		ID: s.newID(), Hash: hash(secret), Workspace: caller.Actor.Workspace, Role: q.Role, Note: q.Note, Creator: caller.Actor, CreatedAt: now, ExpiresAt: expires,
	}
	return secret, i, s.invitations.PutInvitation(ctx, i, caller.User)
}

// ListInvitations returns the open invitations to the actor's workspace, without secrets.
func (s *Service) ListInvitations(ctx context.Context, actor registry.Actor) ([]registry.Invitation, error) {
	return s.invitations.Invitations(ctx, actor.Workspace, s.now())
}

// RevokeInvitation revokes an invitation to the actor's workspace.
func (s *Service) RevokeInvitation(ctx context.Context, actor registry.Actor, id string) error {
	return s.invitations.RevokeInvitation(ctx, actor.Workspace, id)
}

// Invited returns the invitation to which a secret belongs. The invitation can still be accepted afterwards.
func (s *Service) Invited(ctx context.Context, secret string) (registry.Invitation, registry.Workspace, error) {
	i, err := s.invitations.InvitationByHash(ctx, hash(secret))
	if err == nil && !s.now().Before(i.ExpiresAt) {
		err = spent()
	}
	if err != nil {
		return registry.Invitation{}, registry.Workspace{}, asSpent(err)
	}
	w, err := s.workspaces.Workspace(ctx, i.Workspace)
	return i, w, asSpent(err)
}

// Acceptance identifies the person who accepts an invitation: by a session, or by a sign-in name with its password. A
// new name creates a person.
type Acceptance struct {
	Cookie   string // session cookie; "" if the person signs in with a name and password
	Name     string
	Title    string // title of a new person; the default is the sign-in name
	Password string
}

// Accept uses up an invitation and returns a session cookie with its expiry. If the person already has a session, the
// returned cookie is "".
func (s *Service) Accept(ctx context.Context, secret string, q Acceptance, from registry.Device) (string, time.Time, error) {
	if _, _, err := s.Invited(ctx, secret); err != nil {
		return "", time.Time{}, err
	}
	user, isNew, err := s.accepting(ctx, q)
	if err != nil {
		return "", time.Time{}, err
	}
	defer s.callers.forget()
	if err := s.invitations.Accept(ctx, hash(secret), user, isNew, s.now()); err != nil {
		return "", time.Time{}, asSpent(err)
	}
	if q.Cookie != "" {
		return "", time.Time{}, nil
	}
	return s.OpenSession(ctx, user.ID, from)
}

// accepting returns the user who accepts an invitation, and whether the user is new.
func (s *Service) accepting(ctx context.Context, q Acceptance) (registry.User, bool, error) {
	if q.Cookie != "" {
		user, err := s.userOf(ctx, q.Cookie)
		return user, false, err
	}
	if err := registry.CheckUserName(q.Name); err != nil {
		return registry.User{}, false, err
	}
	user, err := s.users.UserByName(ctx, q.Name)
	if fault.Is(err, fault.NotFound) {
		user, err = s.newPerson(ctx, q)
		return user, true, err
	}
	if err != nil {
		return registry.User{}, false, err
	}
	ok, err := s.fits(ctx, user.Password, q.Password)
	if err == nil && !ok {
		err = fault.New(fault.Unauthenticated, "This name is taken. Choose another name, or give the password of that account.")
	}
	return user, false, err
}

func (s *Service) newPerson(ctx context.Context, q Acceptance) (registry.User, error) {
	title := q.Title
	if title == "" {
		title = q.Name
	}
	if err := registry.CheckTitle(title); err != nil {
		return registry.User{}, err
	}
	if err := checkPassword("/password", q.Name, q.Password); err != nil {
		return registry.User{}, err
	}
	hashed, err := s.hashPassword(ctx, q.Password)
	return registry.User{ID: s.newID(), Name: q.Name, Title: title, Password: hashed, CreatedAt: s.now()}, err
}

// userOf returns the user of a session, even if the user is not a member of any workspace.
func (s *Service) userOf(ctx context.Context, cookie string) (registry.User, error) {
	session, err := s.sessions.SessionByHash(ctx, hash(cookie))
	if fault.Is(err, fault.NotFound) || err == nil && !s.now().Before(session.ExpiresAt) {
		return registry.User{}, unauthenticated()
	}
	if err != nil {
		return registry.User{}, err
	}
	if session.Actor.Type != registry.UserActor {
		return registry.User{}, fault.New(fault.Forbidden, "This session was opened with a token, so it does not belong to a person. Accept the invitation with a name and a password.")
	}
	return s.users.User(ctx, session.Actor.ID)
}

func spent() error {
	return fault.New(fault.Unauthenticated, "This invitation was used or revoked, or it has expired. Ask for a new one.")
}

// asSpent replaces each error about an unusable invitation by the same error, so that the answer does not reveal the
// reason.
func asSpent(err error) error {
	if fault.Is(err, fault.NotFound) || fault.Is(err, fault.NoWorkspace) {
		return spent()
	}
	return err
}
