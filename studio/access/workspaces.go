package access

import (
	"context"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// ListWorkspaces returns the workspaces that a caller may access. An administrator of the server gets all workspaces.
func (s *Service) ListWorkspaces(ctx context.Context, caller registry.Caller) ([]registry.Workspace, error) {
	if runsServer(caller) {
		return s.workspaces.Workspaces(ctx)
	}
	memberships, err := s.MembershipsOf(ctx, caller)
	if err != nil {
		return nil, err
	}
	workspaces := make([]registry.Workspace, 0, len(memberships))
	for _, m := range memberships {
		workspaces = append(workspaces, m.Workspace)
	}
	return workspaces, nil
}

// MembershipsOf returns the workspaces that the caller's credential may access. For a person these are all of the
// person's workspaces; for a token it is the token's single workspace.
func (s *Service) MembershipsOf(ctx context.Context, caller registry.Caller) ([]registry.Membership, error) {
	if caller.Actor.Type == registry.UserActor && caller.Session != "" {
		return s.users.Memberships(ctx, caller.User)
	}
	w, err := s.workspaces.Workspace(ctx, caller.Actor.Workspace)
	return []registry.Membership{{Workspace: w, Role: caller.Role}}, err
}

// CreateWorkspace creates a workspace. The caller's user becomes its administrator. If the caller is the server's
// operator, the server's administrator becomes its administrator. Only administrators of the server may call it.
func (s *Service) CreateWorkspace(ctx context.Context, caller registry.Caller, name, title string) (registry.Workspace, error) {
	if err := needServer(caller); err != nil {
		return registry.Workspace{}, err
	}
	if title == "" {
		title = name
	}
	if err := registry.CheckName(name); err != nil {
		return registry.Workspace{}, err
	}
	if err := registry.CheckTitle(title); err != nil {
		return registry.Workspace{}, err
	}
	administrator := caller.User
	if administrator == "" {
		administrator = registry.DefaultUser
	}
	w := registry.Workspace{ID: s.newID(), Name: name, Title: title, CreatedAt: s.now()}
	defer s.callers.forget()
	return w, s.workspaces.CreateWorkspace(ctx, w, administrator)
}

// DescribeWorkspace sets the title of the caller's workspace.
func (s *Service) DescribeWorkspace(ctx context.Context, caller registry.Caller, nameOrID, title string) (registry.Workspace, error) {
	if nameOrID != caller.Workspace.ID && nameOrID != caller.Workspace.Name {
		return registry.Workspace{}, registry.NoWorkspace(nameOrID)
	}
	if err := registry.CheckTitle(title); err != nil {
		return registry.Workspace{}, err
	}
	defer s.callers.forget()
	if err := s.workspaces.DescribeWorkspace(ctx, caller.Workspace.ID, title); err != nil {
		return registry.Workspace{}, err
	}
	return s.workspaces.Workspace(ctx, caller.Workspace.ID)
}

// CloseWorkspace closes a workspace, with immediate effect. Only administrators of the server may call it.
func (s *Service) CloseWorkspace(ctx context.Context, caller registry.Caller, nameOrID string) error {
	if err := needServer(caller); err != nil {
		return err
	}
	w, err := s.workspaces.Workspace(ctx, nameOrID)
	if err != nil {
		return err
	}
	if w.ID == registry.DefaultWorkspace {
		return fault.New(fault.Conflict, "The workspace %s is reserved for the server and cannot be closed.", w.Name)
	}
	defer s.callers.forget()
	return s.workspaces.CloseWorkspace(ctx, w.ID, s.now())
}

// runsServer reports whether a caller is an administrator of the server, which means an administrator of the default
// workspace.
func runsServer(caller registry.Caller) bool {
	return caller.Actor.Workspace == registry.DefaultWorkspace && caller.May(registry.AdminScope)
}

func needServer(caller registry.Caller) error {
	if runsServer(caller) {
		return nil
	}
	return fault.New(fault.Forbidden, "This requires the role administrator in the workspace %s.", registry.DefaultWorkspace)
}
