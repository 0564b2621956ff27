package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/uptrace/bun"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// PutInvitation stores an invitation. by is the ID of the user who invites, or "" for the server's operator. Errors:
// NoWorkspace; Forbidden if the user is no longer an administrator of the workspace.
func (s *Store) PutInvitation(ctx context.Context, i registry.Invitation, by string) error {
	if err := registry.CheckText("/note", i.Note); err != nil {
		return err
	}
	row := invitationRow{
		ID: i.ID, WorkspaceID: i.Workspace, Hash: i.Hash, Role: string(i.Role), Note: i.Note,
		CreatedByID: i.Creator.ID, CreatedByType: string(i.Creator.Type), CreatedByName: i.Creator.Name, CreatedAt: instant(i.CreatedAt), ExpiresAt: instant(i.ExpiresAt),
	}
	return s.change(ctx, "store invitation", func(ctx context.Context, tx bun.Tx) error {
		if err := s.holdWorkspace(ctx, tx, i.Workspace); err != nil {
			return err
		}
		if by != "" { // the user may have been demoted after the permission check; revokeProviderRoles has then run too early to find this invitation
			ok, err := tx.NewSelect().Model((*membershipRow)(nil)).Where("m.workspace_id = ?", i.Workspace).Where("m.user_id = ?", by).
				Where("m.role = ?", string(registry.Administrator)).Exists(ctx)
			if err != nil {
				return err
			}
			if !ok {
				return fault.New(fault.Forbidden, "Only administrators can create invitations, and you are no longer one.")
			}
		}
		_, err := tx.NewInsert().Model(&row).Exec(ctx)
		return err
	})
}

// Invitations returns the invitations of a workspace that have not expired, newest first.
func (s *Store) Invitations(ctx context.Context, workspace string, now time.Time) ([]registry.Invitation, error) {
	var rows []invitationRow
	err := s.read.NewSelect().Model(&rows).Where("i.workspace_id = ?", workspace).Where("i.expires_at > ?", instant(now)).
		OrderExpr("i.created_at DESC, i.id DESC").Scan(ctx)
	if err != nil {
		return nil, wrap("list invitations", err)
	}
	invitations := make([]registry.Invitation, 0, len(rows))
	for _, row := range rows {
		invitations = append(invitations, row.invitation())
	}
	return invitations, nil
}

// InvitationByHash returns the invitation with the hash of a secret, even if it has expired. Error: NotFound.
func (s *Store) InvitationByHash(ctx context.Context, hash string) (registry.Invitation, error) {
	var row invitationRow
	err := s.read.NewSelect().Model(&row).Where("i.hash = ?", hash).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return registry.Invitation{}, noInvitation()
	}
	return row.invitation(), wrap("read invitation", err)
}

// RevokeInvitation revokes an invitation. Error: NotFound.
func (s *Store) RevokeInvitation(ctx context.Context, workspace, id string) error {
	if impossible(id) {
		return noInvitation()
	}
	result, err := s.write.NewDelete().Model((*invitationRow)(nil)).Where("i.workspace_id = ?", workspace).Where("i.id = ?", id).Exec(ctx)
	if err != nil {
		return wrap("revoke invitation", err)
	}
	return wrap("revoke invitation", expectRow(result, noInvitation()))
}

// revokeProviderRoles revokes the invitations that a former administrator has made, also with tokens. Otherwise this
// user could accept one of these invitations and so get the role again.
func revokeProviderRoles(ctx context.Context, tx bun.Tx, workspace, user string) error {
	_, err := tx.NewDelete().Model((*invitationRow)(nil)).Where("i.workspace_id = ?", workspace).
		Where("(i.created_by_type = ? AND i.created_by_id = ? OR i.created_by_type = ? AND i.created_by_id IN (SELECT t.id FROM tokens AS t WHERE t.workspace_id = ? AND t.user_id = ?))",
			string(registry.UserActor), user, string(registry.TokenActor), workspace, user).Exec(ctx)
	return err
}

// Accept removes an invitation that has not expired, and makes the user a member of the workspace. If isNew is true, it
// also stores the user. A member with a higher role keeps that role. Errors: NotFound for an invitation that was used
// or has expired; NameTaken.
func (s *Store) Accept(ctx context.Context, hash string, user registry.User, isNew bool, now time.Time) error {
	return s.change(ctx, "accept invitation", func(ctx context.Context, tx bun.Tx) error {
		var row invitationRow
		err := tx.NewSelect().Model(&row).Where("i.hash = ?", hash).Where("i.expires_at > ?", instant(now)).Scan(ctx)
		if errors.Is(err, sql.ErrNoRows) {
			return noInvitation()
		}
		if err != nil {
			return err
		}
		if err := s.holdWorkspace(ctx, tx, row.WorkspaceID); err != nil {
			return err
		}
		result, err := tx.NewDelete().Model((*invitationRow)(nil)).Where("i.id = ?", row.ID).Exec(ctx)
		if err != nil {
			return err
		}
		if err := expectRow(result, noInvitation()); err != nil { // a concurrent request has used the invitation
			return err
		}
		if isNew {
			if err := createUser(ctx, tx, user); err != nil {
				return err
			}
		}
		return joinAtLeast(ctx, tx, membershipRow{WorkspaceID: row.WorkspaceID, UserID: user.ID, Role: row.Role, CreatedAt: instant(now)})
	})
}

// joinAtLeast makes a user a member with a role. If the user is already a member with a lower role, it raises the role.
func joinAtLeast(ctx context.Context, tx bun.Tx, row membershipRow) error {
	var has membershipRow
	err := tx.NewSelect().Model(&has).Where("m.workspace_id = ?", row.WorkspaceID).Where("m.user_id = ?", row.UserID).Scan(ctx)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if err == nil && registry.Role(has.Role).Covers(registry.Role(row.Role)) {
		return nil
	}
	return join(ctx, tx, row)
}

func noInvitation() error {
	return fault.New(fault.NotFound, "Invitation not found.")
}

type invitationRow struct {
	bun.BaseModel `bun:"table:invitations,alias:i"`

	ID            string    `bun:"id,pk"`
	WorkspaceID   string    `bun:"workspace_id"`
	Hash          string    `bun:"hash"`
	Role          string    `bun:"role"`
	Note          string    `bun:"note"`
	CreatedByID   string    `bun:"created_by_id"`
	CreatedByType string    `bun:"created_by_type"`
	CreatedByName string    `bun:"created_by_name"`
	CreatedAt     time.Time `bun:"created_at"`
	ExpiresAt     time.Time `bun:"expires_at"`
}

func (row invitationRow) invitation() registry.Invitation {
	return registry.Invitation{
		ID: row.ID, Hash: row.Hash, Workspace: row.WorkspaceID, Role: registry.Role(row.Role), Note: row.Note,
		Creator:   actor(row.WorkspaceID, row.CreatedByID, row.CreatedByType, row.CreatedByName),
		CreatedAt: row.CreatedAt.UTC(), ExpiresAt: row.ExpiresAt.UTC(),
	}
}
