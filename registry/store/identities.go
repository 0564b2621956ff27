package store

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// Federate returns the ID of the user who belongs to an identity. For a new identity it stores the user newcomer under
// the first free name. In the workspaces of the grants, it gives the user the granted role. If the role is empty, it
// removes the user from the workspace. It never removes or demotes the last administrator of a workspace.
func (s *Store) Federate(ctx context.Context, who registry.Identity, newcomer registry.User, grants []registry.Grant) (user string, err error) {
	err = s.change(ctx, "sign in by a provider", func(ctx context.Context, tx bun.Tx) error {
		row := identityRow{Issuer: who.Issuer, Subject: who.Subject, UserID: newcomer.ID, CreatedAt: instant(newcomer.CreatedAt)}
		if _, err := tx.NewInsert().Model(&row).On("CONFLICT (issuer, subject) DO NOTHING").Exec(ctx); err != nil {
			return err
		}
		if err := tx.NewSelect().Model(&row).WherePK().Scan(ctx); err != nil {
			return err
		}
		if user = row.UserID; user == newcomer.ID {
			if err := createNamed(ctx, tx, newcomer, who.Names); err != nil {
				return err
			}
		}
		for _, grant := range grants {
			if err := s.grant(ctx, tx, user, grant, newcomer.CreatedAt); err != nil {
				return err
			}
		}
		return nil
	})
	return user, err
}

// createNamed stores a user under the first of the possible names that is free.
func createNamed(ctx context.Context, tx bun.Tx, u registry.User, names []string) error {
	for _, name := range names {
		taken, err := tx.NewSelect().Model((*userRow)(nil)).Where("u.name = ?", name).Exists(ctx)
		if err != nil {
			return err
		}
		if !taken {
			u.Name = name
			return createUser(ctx, tx, u)
		}
	}
	return fault.New(fault.NameTaken, "All user names that the identity provider suggests for this person are taken.")
}

// grant gives a user the role that an identity provider assigns in a workspace. If the provider assigns no role, it
// removes the user from the workspace.
func (s *Store) grant(ctx context.Context, tx bun.Tx, user string, g registry.Grant, at time.Time) error {
	err := s.holdWorkspace(ctx, tx, g.Workspace)
	if fault.Is(err, fault.NoWorkspace) {
		return nil // the workspace is closed
	}
	if err != nil {
		return err
	}
	if g.Role != registry.Administrator {
		others, err := tx.NewSelect().Model((*membershipRow)(nil)).Where("m.workspace_id = ?", g.Workspace).
			Where("m.role = ?", string(registry.Administrator)).Where("m.user_id <> ?", user).Exists(ctx)
		if err != nil {
			return err
		}
		admin, err := tx.NewSelect().Model((*membershipRow)(nil)).Where("m.workspace_id = ?", g.Workspace).
			Where("m.role = ?", string(registry.Administrator)).Where("m.user_id = ?", user).Exists(ctx)
		if err != nil || admin && !others {
			return err
		}
	}
	if g.Role == "" {
		err := leave(ctx, tx, g.Workspace, user, at)
		if fault.Is(err, fault.NotFound) {
			return nil
		}
		return err
	}
	if g.Role != registry.Administrator {
		if err := revokeProviderRoles(ctx, tx, g.Workspace, user); err != nil {
			return err
		}
	}
	return join(ctx, tx, membershipRow{WorkspaceID: g.Workspace, UserID: user, Role: string(g.Role), CreatedAt: instant(at)})
}

type identityRow struct {
	bun.BaseModel `bun:"table:identities,alias:id"`

	Issuer    string    `bun:"issuer,pk"`
	Subject   string    `bun:"subject,pk"`
	UserID    string    `bun:"user_id"`
	CreatedAt time.Time `bun:"created_at"`
}
