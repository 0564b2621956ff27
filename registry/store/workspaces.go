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

// CreateWorkspace stores a workspace. administrator is the ID of the user who becomes its first administrator, or ""
// for none. Errors: NameTaken, NotFound for an unknown user.
func (s *Store) CreateWorkspace(ctx context.Context, w registry.Workspace, administrator string) error {
	return s.change(ctx, "create workspace", func(ctx context.Context, tx bun.Tx) error {
		row := workspaceRow{ID: w.ID, Name: w.Name, Title: w.Title, CreatedAt: instant(w.CreatedAt)}
		_, err := tx.NewInsert().Model(&row).Exec(ctx)
		if duplicate(err) {
			return fault.New(fault.NameTaken, "The name %s is taken by another workspace, which may be closed.", w.Name)
		}
		if err != nil || administrator == "" {
			return err
		}
		return join(ctx, tx, membershipRow{WorkspaceID: w.ID, UserID: administrator, Role: string(registry.Administrator), CreatedAt: row.CreatedAt})
	})
}

// Workspace returns a workspace that is not closed. Error: NoWorkspace.
func (s *Store) Workspace(ctx context.Context, nameOrID string) (registry.Workspace, error) {
	if impossible(nameOrID) {
		return registry.Workspace{}, registry.NoWorkspace(nameOrID)
	}
	var row workspaceRow
	err := s.read.NewSelect().Model(&row).Where("w.id = ? OR w.name = ?", nameOrID, nameOrID).Where("w.closed_at IS NULL").Limit(1).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return registry.Workspace{}, registry.NoWorkspace(nameOrID)
	}
	return row.workspace(), wrap("read workspace", err)
}

// Workspaces returns the workspaces that are not closed, sorted by name.
func (s *Store) Workspaces(ctx context.Context) ([]registry.Workspace, error) {
	var rows []workspaceRow
	if err := s.read.NewSelect().Model(&rows).Where("w.closed_at IS NULL").OrderExpr("w.name").Scan(ctx); err != nil {
		return nil, wrap("list workspaces", err)
	}
	workspaces := make([]registry.Workspace, 0, len(rows))
	for _, row := range rows {
		workspaces = append(workspaces, row.workspace())
	}
	return workspaces, nil
}

// DescribeWorkspace changes the title of a workspace. Error: NoWorkspace.
func (s *Store) DescribeWorkspace(ctx context.Context, id, title string) error {
	result, err := s.write.NewUpdate().Model((*workspaceRow)(nil)).Set("title = ?", title).Where("w.id = ?", id).Where("w.closed_at IS NULL").Exec(ctx)
	if err != nil {
		return wrap("describe workspace", err)
	}
	return wrap("describe workspace", expectRow(result, registry.NoWorkspace(id)))
}

// CloseWorkspace closes a workspace: it revokes the workspace's tokens, deletes its invitations and removes its agents
// from the public registry. It does not delete the workspace's data. Error: NoWorkspace.
func (s *Store) CloseWorkspace(ctx context.Context, id string, at time.Time) error {
	return s.change(ctx, "close workspace", func(ctx context.Context, tx bun.Tx) error {
		result, err := tx.NewUpdate().Model((*workspaceRow)(nil)).Set("closed_at = ?", instant(at)).Where("w.id = ?", id).Where("w.closed_at IS NULL").Exec(ctx)
		if err != nil {
			return err
		}
		if err := expectRow(result, registry.NoWorkspace(id)); err != nil {
			return err
		}
		for _, statement := range []interface {
			Exec(ctx context.Context, dest ...any) (sql.Result, error)
		}{
			tx.NewUpdate().Model((*tokenRow)(nil)).Set("revoked_at = COALESCE(revoked_at, ?)", instant(at)).Where("t.workspace_id = ?", id),
			tx.NewDelete().Model((*sessionRow)(nil)).Where("s.workspace_id = ?", id).Where("s.actor_type = ?", string(registry.TokenActor)),
			tx.NewDelete().Model((*invitationRow)(nil)).Where("i.workspace_id = ?", id),
			tx.NewUpdate().Model((*agentRow)(nil)).Set("listed = ?", false).Where("a.workspace_id = ?", id),
		} {
			if _, err := statement.Exec(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// holdWorkspace locks a workspace until the transaction ends, so that no other transaction can change its members.
// SQLite needs no lock, because it has only one writer.
func (s *Store) holdWorkspace(ctx context.Context, tx bun.Tx, id string) error {
	var row workspaceRow
	q := tx.NewSelect().Model(&row).Where("w.id = ?", id).Where("w.closed_at IS NULL")
	if s.dialect == postgresDialect {
		q.For("UPDATE")
	}
	err := q.Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return registry.NoWorkspace(id)
	}
	return err
}

type workspaceRow struct {
	bun.BaseModel `bun:"table:workspaces,alias:w"`

	ID        string     `bun:"id,pk"`
	Name      string     `bun:"name"`
	Title     string     `bun:"title"`
	CreatedAt time.Time  `bun:"created_at"`
	ClosedAt  *time.Time `bun:"closed_at"`
}

func (row workspaceRow) workspace() registry.Workspace {
	return registry.Workspace{ID: row.ID, Name: row.Name, Title: row.Title, CreatedAt: row.CreatedAt.UTC(), ClosedAt: instantOrNil(row.ClosedAt)}
}
