package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/uptrace/bun"

	"github.com/atelier-run/atelier/registry"
)

// PackageLock returns the package lock for a list of packages. found is false if there is none.
func (s *Store) PackageLock(ctx context.Context, workspace, agentID, list string) (lock registry.PackageLock, found bool, err error) {
	var row packageLockRow
	err = s.read.NewSelect().Model(&row).Where("p.workspace_id = ?", workspace).Where("p.agent_id = ?", agentID).Where("p.list = ?", list).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return lock, false, nil
	}
	if err != nil {
		return lock, false, wrap("read package lock", err)
	}
	lock, err = row.lock()
	return lock, err == nil, wrap("read package lock", err)
}

// PackageLocks returns the package locks of a workspace for drafts and inline programs. Versions have separate locks.
func (s *Store) PackageLocks(ctx context.Context, workspace string) ([]registry.PackageLock, error) {
	var rows []packageLockRow
	err := s.read.NewSelect().Model(&rows).Where("p.workspace_id = ?", workspace).OrderExpr("p.agent_id, p.list").Scan(ctx)
	locks := make([]registry.PackageLock, 0, len(rows))
	for i := range rows {
		lock, decodeErr := rows[i].lock()
		err = errors.Join(err, decodeErr)
		locks = append(locks, lock)
	}
	return locks, wrap("list package locks", err)
}

// PutPackageLock stores the package lock for a list of packages. It replaces an existing lock.
func (s *Store) PutPackageLock(ctx context.Context, lock registry.PackageLock) error {
	text, err := encode(lock.Lock)
	if err != nil {
		return wrap("save package lock", err)
	}
	row := &packageLockRow{
		WorkspaceID: lock.Workspace, AgentID: lock.AgentID, List: lock.List, Lock: text, CreatedAt: instant(lock.CreatedAt), UsedAt: instant(lock.UsedAt),
	}
	return s.change(ctx, "save package lock", func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewInsert().Model(row).On("CONFLICT (workspace_id, agent_id, list) DO UPDATE").
			Set("lock = EXCLUDED.lock").Set("created_at = EXCLUDED.created_at").Set("used_at = EXCLUDED.used_at").Exec(ctx)
		return err
	})
}

// UsePackageLock stores the time at which a package lock was used.
func (s *Store) UsePackageLock(ctx context.Context, workspace, agentID, list string, at time.Time) error {
	return s.change(ctx, "use package lock", func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewUpdate().Model((*packageLockRow)(nil)).Set("used_at = ?", instant(at)).
			Where("workspace_id = ?", workspace).Where("agent_id = ?", agentID).Where("list = ?", list).Exec(ctx)
		return err
	})
}

// DropPackageLocks deletes the package locks of a workspace that were not used since a time.
func (s *Store) DropPackageLocks(ctx context.Context, workspace string, before time.Time) error {
	return s.change(ctx, "drop package locks", func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewDelete().Model((*packageLockRow)(nil)).Where("workspace_id = ?", workspace).Where("used_at < ?", instant(before)).Exec(ctx)
		return err
	})
}

// VersionLocks returns the package locks of all versions of a workspace, sorted by name and version. It includes
// versions of deleted agents.
func (s *Store) VersionLocks(ctx context.Context, workspace string) ([]registry.VersionLock, error) {
	var rows []struct{ AgentID, Agent, Version, Spec string }
	err := s.read.NewSelect().TableExpr("versions AS v").Join("JOIN agents AS a ON a.id = v.agent_id").
		ColumnExpr("v.agent_id, a.name AS agent, v.version, v.spec").
		Where("v.workspace_id = ?", workspace).Where("CAST(v.spec AS text) LIKE ?", `%"lock":{%`).OrderExpr("a.name, v.version").Scan(ctx, &rows)
	if err != nil {
		return nil, wrap("list locks of versions", err)
	}
	var locks []registry.VersionLock
	for _, row := range rows {
		spec, err := decodeSpec(row.Spec)
		if err != nil {
			return nil, wrap("list locks of versions", err)
		}
		if spec.Lock != nil {
			locks = append(locks, registry.VersionLock{LockUser: registry.LockUser{AgentID: row.AgentID, Agent: row.Agent, Version: row.Version}, Lock: *spec.Lock})
		}
	}
	return locks, nil
}

type packageLockRow struct {
	bun.BaseModel `bun:"table:package_locks,alias:p"`

	WorkspaceID string    `bun:"workspace_id,pk"`
	AgentID     string    `bun:"agent_id,pk"`
	List        string    `bun:"list,pk"`
	Lock        string    `bun:"lock"`
	CreatedAt   time.Time `bun:"created_at"`
	UsedAt      time.Time `bun:"used_at"`
}

func (row *packageLockRow) lock() (registry.PackageLock, error) {
	lock := registry.PackageLock{Workspace: row.WorkspaceID, AgentID: row.AgentID, List: row.List, CreatedAt: row.CreatedAt.UTC(), UsedAt: row.UsedAt.UTC()}
	err := json.Unmarshal([]byte(row.Lock), &lock.Lock)
	return lock, err
}
