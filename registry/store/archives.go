package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/uptrace/bun"

	"github.com/atelier-run/atelier/registry"
)

// AnyAgent returns the agent that has or had a name, without its draft. It includes deleted agents. Error: NotFound.
func (s *Store) AnyAgent(ctx context.Context, workspace, name string) (registry.Agent, error) {
	if impossible(name) {
		return registry.Agent{}, noAgent(name)
	}
	var row agentRow
	err := s.read.NewSelect().Model(&row).Where("a.workspace_id = ?", workspace).Where("a.id = (?)", s.idOfName(workspace, name)).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return registry.Agent{}, noAgent(name)
	}
	return registry.Agent{
		ID: row.ID, Workspace: row.WorkspaceID, Name: row.Name, Listed: row.Listed, VersionCount: row.VersionCount, DeletedAt: instantOrNil(row.DeletedAt),
	}, wrap("read agent", err)
}

// AgentIDTaken reports whether an agent with an ID exists or has existed in any workspace.
func (s *Store) AgentIDTaken(ctx context.Context, id string) (bool, error) {
	n, err := s.read.NewSelect().Model((*agentRow)(nil)).Where("a.id = ?", id).Count(ctx)
	return n > 0, wrap("read agent", err)
}

// AgentNames returns the current and former names of an agent, in the form of registry.NameKey.
func (s *Store) AgentNames(ctx context.Context, workspace, agentID string) ([]string, error) {
	var names []string
	err := s.read.NewSelect().Model((*nameRow)(nil)).Column("name_key").
		Where("n.workspace_id = ?", workspace).Where("n.agent_id = ?", agentID).OrderExpr("n.name_key").Scan(ctx, &names)
	return names, wrap("read names", err)
}

// VersionDigests returns the digests of an agent's versions, by version number. The agent may be deleted.
func (s *Store) VersionDigests(ctx context.Context, workspace, agentID string) (map[string]string, error) {
	var rows []versionRow
	err := s.read.NewSelect().Model(&rows).Column("version", "digest").
		Where("v.workspace_id = ?", workspace).Where("v.agent_id = ?", agentID).Scan(ctx)
	digests := make(map[string]string, len(rows))
	for _, row := range rows {
		digests[row.Version] = row.Digest
	}
	return digests, wrap("read digests", err)
}

// RewriteAgent replaces the description and the draft of a deleted agent. The agent stays deleted until RevealAgents is
// called. Errors: NotFound for an agent that is not deleted; NameTaken; InvalidInput for text that cannot be stored.
func (s *Store) RewriteAgent(ctx context.Context, a registry.Agent) error {
	agent, err := agentRowOf(a)
	if err != nil {
		return wrap("rewrite agent", err)
	}
	draft, err := draftRowOf(a)
	if err != nil {
		return wrap("rewrite agent", err)
	}
	return s.change(ctx, "rewrite agent", func(ctx context.Context, tx bun.Tx) error {
		result, err := tx.NewUpdate().Model(agent).
			Column("name", "title", "description", "tags", "metadata", "origin", "search_text", "language", "deletion", "listed",
				"updated_at", "updated_by_id", "updated_by_type", "updated_by_name").
			Where("a.workspace_id = ?", a.Workspace).Where("a.id = ?", a.ID).Where("a.deleted_at IS NOT NULL").Exec(ctx)
		if err != nil {
			return err
		}
		if err := expectRow(result, noAgent(a.ID)); err != nil {
			return err
		}
		if err := claimName(ctx, tx, a.Workspace, a.ID, a.Name); err != nil {
			return err
		}
		_, err = tx.NewUpdate().Model(draft).ExcludeColumn("agent_id", "workspace_id", "revision").Set("revision = revision + 1").
			Where("d.workspace_id = ?", a.Workspace).Where("d.agent_id = ?", a.ID).Exec(ctx)
		return err
	})
}

// RevealAgents removes the tombstones of the agents in ids, in one transaction. It also adds the agents in listed to
// the public registry.
func (s *Store) RevealAgents(ctx context.Context, workspace string, ids, listed []string) error {
	return s.change(ctx, "reveal agents", func(ctx context.Context, tx bun.Tx) error {
		for _, id := range ids {
			_, err := tx.NewUpdate().Model((*agentRow)(nil)).Set("deleted_at = NULL").Set("deletion = ''").
				Where("a.workspace_id = ?", workspace).Where("a.id = ?", id).Exec(ctx)
			if err != nil {
				return err
			}
		}
		for _, id := range listed {
			_, err := tx.NewUpdate().Model((*agentRow)(nil)).Set("listed = ?", true).
				Where("a.workspace_id = ?", workspace).Where("a.id = ?", id).Where("a.latest_version <> ''").Exec(ctx)
			if err != nil {
				return err
			}
			if err := refreshListing(ctx, tx, id); err != nil {
				return err
			}
		}
		return nil
	})
}

// ClaimNames assigns additional names to an agent. Error: NameTaken.
func (s *Store) ClaimNames(ctx context.Context, workspace, agentID string, names []string) error {
	return s.change(ctx, "take names", func(ctx context.Context, tx bun.Tx) error {
		for _, name := range names {
			if err := claimName(ctx, tx, workspace, agentID, name); err != nil {
				return err
			}
		}
		return nil
	})
}
