package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/uptrace/bun"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// LatestVersions returns the latest version of each agent of a workspace, sorted by the agent's name.
func (s *Store) LatestVersions(ctx context.Context, workspace string) ([]registry.LatestVersion, error) {
	var rows []struct {
		ID         string `bun:"id"`
		AgentID    string `bun:"agent_id"`
		Agent      string `bun:"agent"`
		Deprecated bool   `bun:"deprecated"`
	}
	err := s.read.NewSelect().TableExpr("agents AS a").Join("JOIN versions AS v ON v.agent_id = a.id AND v.version = a.latest_version").
		ColumnExpr("v.id, a.id AS agent_id, a.name AS agent, v.deprecated").
		Where("a.workspace_id = ?", workspace).Where("a.deleted_at IS NULL").OrderExpr("a.name").Scan(ctx, &rows)
	latest := make([]registry.LatestVersion, 0, len(rows))
	for _, row := range rows {
		latest = append(latest, registry.LatestVersion(row))
	}
	return latest, wrap("list newest versions", err)
}

// VersionsByID returns the versions with the given row IDs, without files and in no particular order. It omits IDs that
// do not exist.
func (s *Store) VersionsByID(ctx context.Context, workspace string, ids []string) ([]registry.Version, error) {
	var rows []versionRow
	err := s.read.NewSelect().Model(&rows).ExcludeColumn("files", "tests").Where("v.workspace_id = ?", workspace).Where("v.id IN (?)", bun.List(ids)).Scan(ctx)
	if err != nil {
		return nil, wrap("read versions", err)
	}
	versions := make([]registry.Version, 0, len(rows))
	for i := range rows {
		v, err := rows[i].version()
		if err != nil {
			return nil, wrap("read versions", err)
		}
		versions = append(versions, v)
	}
	return versions, nil
}

// ToolSets returns the tool sets of a workspace, sorted by name.
func (s *Store) ToolSets(ctx context.Context, workspace string) ([]registry.ToolSet, error) {
	var rows []toolSetRow
	err := s.read.NewSelect().Model(&rows).Where("t.workspace_id = ?", workspace).OrderExpr("t.name").Scan(ctx)
	sets := make([]registry.ToolSet, 0, len(rows))
	for _, row := range rows {
		set, decodeErr := row.set()
		err = errors.Join(err, decodeErr)
		sets = append(sets, set)
	}
	return sets, wrap("list tool sets", err)
}

// ToolSet returns one tool set. Error: NotFound.
func (s *Store) ToolSet(ctx context.Context, workspace, name string) (registry.ToolSet, error) {
	if impossible(name) {
		return registry.ToolSet{}, noToolSet(name)
	}
	var row toolSetRow
	err := s.read.NewSelect().Model(&row).Where("t.workspace_id = ?", workspace).Where("t.name = ?", name).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return registry.ToolSet{}, noToolSet(name)
	}
	if err != nil {
		return registry.ToolSet{}, wrap("read tool set", err)
	}
	set, err := row.set()
	return set, wrap("read tool set", err)
}

// PutToolSet creates a tool set, or replaces the tool set with the same name.
func (s *Store) PutToolSet(ctx context.Context, set registry.ToolSet) error {
	tools, err := json.Marshal(set.Tools)
	if err != nil {
		return wrap("save tool set", err)
	}
	row := &toolSetRow{
		ID: set.ID, WorkspaceID: set.Workspace, Name: set.Name, Title: set.Title, Description: set.Description, Tools: string(tools),
		CreatedAt: instant(set.CreatedAt), UpdatedAt: instant(set.UpdatedAt), UpdatedBy: set.UpdatedBy,
	}
	return s.change(ctx, "save tool set", func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewInsert().Model(row).On("CONFLICT (workspace_id, name) DO UPDATE").
			Set("title = EXCLUDED.title").Set("description = EXCLUDED.description").Set("tools = EXCLUDED.tools").
			Set("updated_at = EXCLUDED.updated_at").Set("updated_by = EXCLUDED.updated_by").Exec(ctx)
		return err
	})
}

// DeleteToolSet removes a tool set. Error: NotFound.
func (s *Store) DeleteToolSet(ctx context.Context, workspace, name string) error {
	if impossible(name) {
		return noToolSet(name)
	}
	return s.change(ctx, "delete tool set", func(ctx context.Context, tx bun.Tx) error {
		result, err := tx.NewDelete().Model((*toolSetRow)(nil)).Where("t.workspace_id = ?", workspace).Where("t.name = ?", name).Exec(ctx)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, noToolSet(name))
		}
		return nil
	})
}

func noToolSet(name string) error { return fault.New(fault.NotFound, "Tool set %s not found.", name) }

type toolSetRow struct {
	bun.BaseModel `bun:"table:tool_sets,alias:t"`

	ID          string    `bun:"id,pk"`
	WorkspaceID string    `bun:"workspace_id"`
	Name        string    `bun:"name"`
	Title       string    `bun:"title"`
	Description string    `bun:"description"`
	Tools       string    `bun:"tools"`
	CreatedAt   time.Time `bun:"created_at"`
	UpdatedAt   time.Time `bun:"updated_at"`
	UpdatedBy   string    `bun:"updated_by"`
}

func (row *toolSetRow) set() (registry.ToolSet, error) {
	set := registry.ToolSet{
		ID: row.ID, Workspace: row.WorkspaceID, Name: row.Name, Title: row.Title, Description: row.Description,
		CreatedAt: row.CreatedAt.UTC(), UpdatedAt: row.UpdatedAt.UTC(), UpdatedBy: row.UpdatedBy,
	}
	return set, json.Unmarshal([]byte(row.Tools), &set.Tools)
}
