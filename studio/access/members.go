package access

import (
	"context"

	"github.com/atelier-run/atelier/registry"
)

// Changed returns a channel that is closed when the rights of any caller change. Long-lived operations use it to check
// the rights of their caller again.
func (s *Service) Changed() <-chan struct{} { return s.callers.next() }

// ListMembers returns the people of the actor's workspace.
func (s *Service) ListMembers(ctx context.Context, actor registry.Actor) ([]registry.Member, error) {
	return s.members.Members(ctx, actor.Workspace)
}

// SetRole changes a member's role in the actor's workspace, with immediate effect.
func (s *Service) SetRole(ctx context.Context, actor registry.Actor, user string, role registry.Role) error {
	if err := registry.CheckRole(role); err != nil {
		return err
	}
	defer s.callers.forget()
	return s.members.SetRole(ctx, actor.Workspace, user, role)
}

// RemoveMember removes a member from the actor's workspace. It also removes the tokens that act for this person in the
// workspace. Both take effect immediately.
func (s *Service) RemoveMember(ctx context.Context, actor registry.Actor, user string) error {
	defer s.callers.forget()
	return s.members.RemoveMember(ctx, actor.Workspace, user, s.now())
}

// Forget clears the cache of callers. It is called when another server has changed rights.
func (s *Service) Forget() { s.callers.forget() }
