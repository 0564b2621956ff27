package access

import (
	"context"

	"github.com/atelier-run/atelier/registry"
)

// Changed returns a channel that the next change of anybody's rights closes. What depends on them longer than for a moment
// asks again then.
func (s *Service) Changed() <-chan struct{} { return s.callers.next() }

// ListMembers returns the people of the actor's workspace.
func (s *Service) ListMembers(ctx context.Context, actor registry.Actor) ([]registry.Member, error) {
	return s.members.Members(ctx, actor.Workspace)
}

// SetRole gives a member of the actor's workspace another role, which counts at once.
func (s *Service) SetRole(ctx context.Context, actor registry.Actor, user string, role registry.Role) error {
	if err := registry.CheckRole(role); err != nil {
		return err
	}
	defer s.callers.forget()
	return s.members.SetRole(ctx, actor.Workspace, user, role)
}

// RemoveMember ends a membership of the actor's workspace, at once, with the tokens that act for the person there.
func (s *Service) RemoveMember(ctx context.Context, actor registry.Actor, user string) error {
	defer s.callers.forget()
	return s.members.RemoveMember(ctx, actor.Workspace, user, s.now())
}
