package store

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// Memberships returns the open workspaces of a user: the default one first, then by age of the membership.
func (s *Store) Memberships(ctx context.Context, user string) ([]registry.Membership, error) {
	var rows []struct {
		membershipRow `bun:",extend"`

		Name    string    `bun:"name"`
		Title   string    `bun:"title"`
		Founded time.Time `bun:"founded"`
	}
	err := s.read.NewSelect().Model(&rows).ColumnExpr("m.*").ColumnExpr("w.name AS name, w.title AS title, w.created_at AS founded").
		Join("JOIN workspaces AS w ON w.id = m.workspace_id AND w.closed_at IS NULL").Where("m.user_id = ?", user).
		OrderExpr("CASE WHEN m.workspace_id = ? THEN 0 ELSE 1 END, m.created_at, m.workspace_id", registry.DefaultWorkspace).Scan(ctx)
	if err != nil {
		return nil, wrap("list memberships", err)
	}
	memberships := make([]registry.Membership, 0, len(rows))
	for _, row := range rows {
		w := registry.Workspace{ID: row.WorkspaceID, Name: row.Name, Title: row.Title, CreatedAt: row.Founded.UTC()}
		memberships = append(memberships, registry.Membership{Workspace: w, Role: registry.Role(row.Role), Since: row.CreatedAt.UTC()})
	}
	return memberships, nil
}

// Members returns the users of a workspace, by title.
func (s *Store) Members(ctx context.Context, workspace string) ([]registry.Member, error) {
	var rows []struct {
		userRow `bun:",extend"`

		Role  string    `bun:"role"`
		Since time.Time `bun:"since"`
	}
	err := s.read.NewSelect().Model(&rows).ColumnExpr("u.*").ColumnExpr("m.role AS role, m.created_at AS since").
		Join("JOIN memberships AS m ON m.user_id = u.id").Where("m.workspace_id = ?", workspace).OrderExpr("u.title, u.id").Scan(ctx)
	if err != nil {
		return nil, wrap("list members", err)
	}
	members := make([]registry.Member, 0, len(rows))
	for _, row := range rows {
		members = append(members, registry.Member{User: row.user(), Role: registry.Role(row.Role), Since: row.Since.UTC()})
	}
	return members, nil
}

// PutMember makes a user a member, or changes a member's role. Errors: NoWorkspace, NotFound for an unknown user,
// Conflict if the workspace would have no administrator.
func (s *Store) PutMember(ctx context.Context, workspace, user string, role registry.Role, at time.Time) error {
	return s.change(ctx, "change member", func(ctx context.Context, tx bun.Tx) error {
		if err := s.holdWorkspace(ctx, tx, workspace); err != nil {
			return err
		}
		if err := join(ctx, tx, membershipRow{WorkspaceID: workspace, UserID: user, Role: string(role), CreatedAt: instant(at)}); err != nil {
			return err
		}
		return changed(ctx, tx, workspace, user, role)
	})
}

// SetRole changes a member's role. Its errors are those of PutMember, and NotFound for a user who is not a member.
func (s *Store) SetRole(ctx context.Context, workspace, user string, role registry.Role) error {
	if impossible(user) {
		return noMember(user)
	}
	return s.change(ctx, "change role", func(ctx context.Context, tx bun.Tx) error {
		if err := s.holdWorkspace(ctx, tx, workspace); err != nil {
			return err
		}
		result, err := tx.NewUpdate().Model((*membershipRow)(nil)).Set("role = ?", string(role)).
			Where("m.workspace_id = ?", workspace).Where("m.user_id = ?", user).Exec(ctx)
		if err != nil {
			return err
		}
		if err := expectRow(result, noMember(user)); err != nil {
			return err
		}
		return changed(ctx, tx, workspace, user, role)
	})
}

// changed revokes the invitations of a user who is no longer an administrator, and checks that the workspace still has
// an administrator.
func changed(ctx context.Context, tx bun.Tx, workspace, user string, role registry.Role) error {
	if role != registry.Administrator {
		if err := revokeProviderRoles(ctx, tx, workspace, user); err != nil {
			return err
		}
	}
	return stillAdministered(ctx, tx, workspace)
}

// RemoveMember removes a membership. It also removes the user's tokens and invitations in the workspace. Errors:
// NoWorkspace, NotFound, Conflict if the workspace would have no administrator.
func (s *Store) RemoveMember(ctx context.Context, workspace, user string, at time.Time) error {
	if impossible(user) {
		return noMember(user)
	}
	return s.change(ctx, "remove member", func(ctx context.Context, tx bun.Tx) error {
		if err := s.holdWorkspace(ctx, tx, workspace); err != nil {
			return err
		}
		if err := leave(ctx, tx, workspace, user, at); err != nil {
			return err
		}
		return stillAdministered(ctx, tx, workspace)
	})
}

// leave removes a membership, and the user's tokens and invitations in the workspace. Error: NotFound.
func leave(ctx context.Context, tx bun.Tx, workspace, user string, at time.Time) error {
	result, err := tx.NewDelete().Model((*membershipRow)(nil)).Where("m.workspace_id = ?", workspace).Where("m.user_id = ?", user).Exec(ctx)
	if err != nil {
		return err
	}
	if err := expectRow(result, noMember(user)); err != nil {
		return err
	}
	if err := revokeProviderRoles(ctx, tx, workspace, user); err != nil {
		return err
	}
	_, err = tx.NewDelete().Model((*sessionRow)(nil)).Where("s.workspace_id = ?", workspace).Where("s.actor_type = ?", string(registry.TokenActor)).
		Where("s.actor_id IN (SELECT t.id FROM tokens AS t WHERE t.workspace_id = ? AND t.user_id = ?)", workspace, user).Exec(ctx)
	if err != nil {
		return err
	}
	_, err = tx.NewUpdate().Model((*tokenRow)(nil)).Set("revoked_at = COALESCE(revoked_at, ?)", instant(at)).
		Where("t.workspace_id = ?", workspace).Where("t.user_id = ?", user).Exec(ctx)
	return err
}

// join makes a user a member with a role, or changes the role of a member.
func join(ctx context.Context, tx bun.Tx, row membershipRow) error {
	_, err := tx.NewInsert().Model(&row).On("CONFLICT (workspace_id, user_id) DO UPDATE").Set("role = excluded.role").Exec(ctx)
	if orphan(err) {
		return noUser()
	}
	return err
}

// stillAdministered returns Conflict if the workspace has no administrator, so that the transaction is rolled back.
func stillAdministered(ctx context.Context, tx bun.Tx, workspace string) error {
	n, err := tx.NewSelect().Model((*membershipRow)(nil)).Where("m.workspace_id = ?", workspace).Where("m.role = ?", string(registry.Administrator)).Count(ctx)
	if err == nil && n == 0 {
		err = fault.New(fault.Conflict, "The last administrator of a workspace cannot be removed or demoted. Make somebody else administrator first.")
	}
	return err
}

func noMember(user string) error { return fault.New(fault.NotFound, "Member %s not found.", user) }

type membershipRow struct {
	bun.BaseModel `bun:"table:memberships,alias:m"`

	WorkspaceID string    `bun:"workspace_id,pk"`
	UserID      string    `bun:"user_id,pk"`
	Role        string    `bun:"role"`
	CreatedAt   time.Time `bun:"created_at"`
}
