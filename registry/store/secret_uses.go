package store

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/atelier-run/atelier/registry"
)

// NoteSecretUses stores which secrets a run receives, in one transaction.
func (s *Store) NoteSecretUses(ctx context.Context, uses []registry.SecretUse) error {
	return s.change(ctx, "note uses of secrets", func(ctx context.Context, tx bun.Tx) error {
		for _, use := range uses { // the secrets are locked in the order of their names, so that two runs cannot deadlock
			row := secretUseRow{
				WorkspaceID: use.Workspace, AgentID: use.AgentID, Name: use.Name, UsedAt: instant(use.At), RunID: use.RunID,
				RunAgentID: use.RunAgentID, RunAgent: use.RunAgent, Version: use.Version,
			}
			if _, err := tx.NewInsert().Model(&row).Exec(ctx); err != nil {
				return err
			}
			_, err := tx.NewUpdate().Model((*secretRow)(nil)).Set("last_used_at = ?", row.UsedAt).
				Where("k.workspace_id = ?", use.Workspace).Where("k.agent_id = ?", use.AgentID).Where("k.name = ?", use.Name).
				Where("(k.last_used_at IS NULL OR k.last_used_at < ?)", row.UsedAt).Exec(ctx)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// useKey is the sort key of a list of secret uses.
type useKey struct {
	At time.Time `json:"t"`
	ID string    `json:"i"`
}

// SecretUses returns a page of the uses of a secret, newest first. The secret may have been removed. Error:
// InvalidInput for a bad cursor.
func (s *Store) SecretUses(ctx context.Context, workspace, agentID, name, cursor string, limit int) (registry.SecretUses, error) {
	page := registry.SecretUses{Items: []registry.SecretUse{}}
	if impossible(agentID, name) {
		return page, nil
	}
	var rows []secretUseRow
	q := s.read.NewSelect().Model(&rows).
		Where("u.workspace_id = ?", workspace).Where("u.agent_id = ?", agentID).Where("u.name = ?", name).
		OrderExpr("u.used_at DESC, u.run_id DESC").Limit(int64(pageSize(limit) + 1))
	if cursor != "" {
		var after useKey
		if err := readCursor("uses "+agentID+" "+name, cursor, &after); err != nil {
			return page, err
		}
		q.Where("(u.used_at, u.run_id) < (?, ?)", instant(after.At), after.ID)
	}
	if err := q.Scan(ctx); err != nil {
		return page, wrap("list uses of a secret", err)
	}
	if len(rows) > pageSize(limit) {
		rows = rows[:pageSize(limit)]
		last := rows[len(rows)-1]
		var err error
		if page.NextCursor, err = cursorAt("uses "+agentID+" "+name, useKey{At: last.UsedAt.UTC(), ID: last.RunID}); err != nil {
			return page, wrap("list uses of a secret", err)
		}
	}
	for _, row := range rows {
		page.Items = append(page.Items, registry.SecretUse{
			Workspace: row.WorkspaceID, RunID: row.RunID, Name: row.Name, AgentID: row.AgentID,
			RunAgentID: row.RunAgentID, RunAgent: row.RunAgent, Version: row.Version, At: row.UsedAt.UTC(),
		})
	}
	return page, nil
}

// SecretDeclarations returns the secrets that versions and drafts declare. It omits deleted agents.
func (s *Store) SecretDeclarations(ctx context.Context, workspace string) ([]registry.SecretDeclaration, error) {
	each := s.dialect.eachSecret()
	var rows []struct {
		Name    string `bun:"name"`
		AgentID string `bun:"agent_id"`
		Agent   string `bun:"agent"`
		Version string `bun:"version"`
	}
	err := s.read.NewRaw("SELECT n.value AS name, a.id AS agent_id, a.name AS agent, v.version AS version FROM versions AS v JOIN agents AS a ON a.id = v.agent_id, "+each("v")+
		" AS n WHERE v.workspace_id = ? AND a.deleted_at IS NULL AND n.value IS NOT NULL"+
		" UNION ALL SELECT n.value, a.id, a.name, ? FROM drafts AS d JOIN agents AS a ON a.id = d.agent_id, "+each("d")+
		" AS n WHERE a.workspace_id = ? AND a.deleted_at IS NULL AND n.value IS NOT NULL ORDER BY 3, 4, 1", workspace, registry.DraftVersion, workspace).Scan(ctx, &rows)
	if err != nil {
		return nil, wrap("list declarations of secrets", err)
	}
	found := make([]registry.SecretDeclaration, 0, len(rows))
	for _, row := range rows {
		found = append(found, registry.SecretDeclaration(row))
	}
	return found, nil
}

// SweepSecretUses removes up to limit uses that are older than a time, in all workspaces, and returns their number.
func (s *Store) SweepSecretUses(ctx context.Context, before time.Time, limit int) (int, error) {
	return s.swept(ctx, "sweep uses of secrets", "DELETE FROM secret_uses WHERE (workspace_id, agent_id, name, used_at, run_id) IN "+
		"(SELECT u.workspace_id, u.agent_id, u.name, u.used_at, u.run_id FROM secret_uses AS u WHERE u.used_at < ? ORDER BY u.used_at LIMIT ?)", instant(before), limit)
}

type secretUseRow struct {
	bun.BaseModel `bun:"table:secret_uses,alias:u"`

	WorkspaceID string    `bun:"workspace_id,pk"`
	AgentID     string    `bun:"agent_id,pk"`
	Name        string    `bun:"name,pk"`
	UsedAt      time.Time `bun:"used_at,pk"`
	RunID       string    `bun:"run_id,pk"`
	RunAgentID  string    `bun:"run_agent_id"`
	RunAgent    string    `bun:"run_agent"`
	Version     string    `bun:"version"`
}
