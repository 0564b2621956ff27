package store

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// PutSecret stores a secret. It replaces a secret with the same name and agent. Errors: NoWorkspace; Conflict if the
// workspace already has most other secrets, where most is the maximum.
func (s *Store) PutSecret(ctx context.Context, secret registry.Secret, most int) error {
	return s.change(ctx, "store secret", func(ctx context.Context, tx bun.Tx) error {
		if err := s.holdWorkspace(ctx, tx, secret.Workspace); err != nil {
			return err
		}
		others, err := tx.NewSelect().Model((*secretRow)(nil)).Where("k.workspace_id = ?", secret.Workspace).
			Where("NOT (k.agent_id = ? AND k.name = ?)", secret.AgentID, secret.Name).Count(ctx)
		if err != nil {
			return err
		}
		if others >= int64(most) {
			return fault.New(fault.Conflict, "A workspace can have at most %d secrets. Remove one first.", most)
		}
		return putSecret(ctx, tx, secretRowOf(secret))
	})
}

func putSecret(ctx context.Context, tx bun.Tx, row secretRow) error {
	_, err := tx.NewInsert().Model(&row).On("CONFLICT (workspace_id, agent_id, name) DO UPDATE").
		Set("key_id = excluded.key_id").Set("sealed = excluded.sealed").
		Set("bind_host = excluded.bind_host").Set("bind_header = excluded.bind_header").Set("bind_format = excluded.bind_format").
		Set("set_by_id = excluded.set_by_id").Set("set_by_type = excluded.set_by_type").Set("set_by_name = excluded.set_by_name").
		Set("set_at = excluded.set_at").Exec(ctx)
	return err
}

// Secrets returns the secrets of a workspace, sorted by name.
func (s *Store) Secrets(ctx context.Context, workspace string) ([]registry.Secret, error) {
	return s.secrets(ctx, "list secrets", s.read.NewSelect().Where("k.workspace_id = ?", workspace))
}

// SecretsOf returns the secrets with the given names that runs of an agent may receive: secrets of the agent and
// secrets of the workspace.
func (s *Store) SecretsOf(ctx context.Context, workspace, agentID string, names []string) ([]registry.Secret, error) {
	return s.secrets(ctx, "read secrets", s.read.NewSelect().
		Where("k.workspace_id = ?", workspace).Where("k.agent_id IN (?)", bun.List([]string{"", agentID})).Where("k.name IN (?)", bun.List(names)))
}

func (s *Store) secrets(ctx context.Context, what string, which *bun.SelectQuery) ([]registry.Secret, error) {
	var rows []secretRow
	err := which.Model(&rows).ColumnExpr("k.*").ColumnExpr("COALESCE(a.name, '') AS agent_name").
		Join("LEFT JOIN agents AS a ON a.id = k.agent_id AND a.workspace_id = k.workspace_id").
		OrderExpr("k.name, k.agent_id").Scan(ctx)
	if err != nil {
		return nil, wrap(what, err)
	}
	secrets := make([]registry.Secret, 0, len(rows))
	for _, row := range rows {
		secrets = append(secrets, row.secret())
	}
	return secrets, nil
}

// DeleteSecret removes a secret. Error: NotFound.
func (s *Store) DeleteSecret(ctx context.Context, workspace, agentID, name string) error {
	if impossible(agentID, name) {
		return noSecret(name)
	}
	result, err := s.write.NewDelete().Model((*secretRow)(nil)).
		Where("k.workspace_id = ?", workspace).Where("k.agent_id = ?", agentID).Where("k.name = ?", name).Exec(ctx)
	if err != nil {
		return wrap("remove secret", err)
	}
	return wrap("remove secret", expectRow(result, noSecret(name)))
}

func noSecret(name string) error { return fault.New(fault.NotFound, "Secret %s not found.", name) }

// SecretKeys returns, for each encryption key, the number of secrets in all workspaces that are encrypted with it. A
// server calls it when it starts.
func (s *Store) SecretKeys(ctx context.Context) (map[string]int, error) {
	var rows []struct {
		KeyID string `bun:"key_id"`
		Count int    `bun:"count"`
	}
	err := s.read.NewSelect().Model((*secretRow)(nil)).ColumnExpr("k.key_id").ColumnExpr("count(*) AS count").GroupExpr("k.key_id").Scan(ctx, &rows)
	if err != nil {
		return nil, wrap("read the keys of secrets", err)
	}
	counts := map[string]int{}
	for _, row := range rows {
		counts[row.KeyID] = row.Count
	}
	return counts, nil
}

// ResealSecrets replaces the encrypted form of every secret, in all workspaces, by the result of the function reseal.
// It runs in one transaction and returns the number of secrets.
func (s *Store) ResealSecrets(ctx context.Context, reseal func(registry.Secret) (keyID string, sealed []byte, err error)) (int, error) {
	count := 0
	err := s.change(ctx, "encrypt secrets anew", func(ctx context.Context, tx bun.Tx) error {
		var rows []secretRow
		q := tx.NewSelect().Model(&rows).OrderExpr("k.workspace_id, k.agent_id, k.name")
		if s.dialect == postgresDialect {
			q.For("UPDATE")
		}
		if err := q.Scan(ctx); err != nil {
			return err
		}
		for _, row := range rows {
			keyID, sealed, err := reseal(row.secret())
			if err != nil {
				return err
			}
			_, err = tx.NewUpdate().Model((*secretRow)(nil)).Set("key_id = ?", keyID).Set("sealed = ?", sealed).
				Where("k.workspace_id = ?", row.WorkspaceID).Where("k.agent_id = ?", row.AgentID).Where("k.name = ?", row.Name).Exec(ctx)
			if err != nil {
				return err
			}
		}
		count = len(rows)
		return nil
	})
	return count, err
}

type secretRow struct {
	bun.BaseModel `bun:"table:secrets,alias:k"`

	WorkspaceID string     `bun:"workspace_id,pk"`
	AgentID     string     `bun:"agent_id,pk"`
	Name        string     `bun:"name,pk"`
	KeyID       string     `bun:"key_id"`
	Sealed      []byte     `bun:"sealed"`
	BindHost    string     `bun:"bind_host"`
	BindHeader  string     `bun:"bind_header"`
	BindFormat  string     `bun:"bind_format"`
	SetByID     string     `bun:"set_by_id"`
	SetByType   string     `bun:"set_by_type"`
	SetByName   string     `bun:"set_by_name"`
	SetAt       time.Time  `bun:"set_at"`
	LastUsedAt  *time.Time `bun:"last_used_at"`
	AgentName   string     `bun:"agent_name,scanonly"`
}

func secretRowOf(s registry.Secret) secretRow {
	row := secretRow{
		WorkspaceID: s.Workspace, AgentID: s.AgentID, Name: s.Name, KeyID: s.KeyID, Sealed: s.Sealed,
		SetByID: s.SetBy.ID, SetByType: string(s.SetBy.Type), SetByName: s.SetBy.Name, SetAt: instant(s.SetAt),
	}
	if s.Binding != nil {
		row.BindHost, row.BindHeader, row.BindFormat = s.Binding.Host, s.Binding.Header, s.Binding.Format
	}
	return row
}

func (row secretRow) secret() registry.Secret {
	s := registry.Secret{
		Workspace: row.WorkspaceID, AgentID: row.AgentID, Agent: row.AgentName, Name: row.Name, KeyID: row.KeyID, Sealed: row.Sealed,
		SetAt: row.SetAt.UTC(), SetBy: actor(row.WorkspaceID, row.SetByID, row.SetByType, row.SetByName), LastUsed: instantOrNil(row.LastUsedAt),
	}
	if row.BindHost != "" {
		s.Binding = &registry.Binding{Host: row.BindHost, Header: row.BindHeader, Format: row.BindFormat}
	}
	return s
}
