package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/uptrace/bun"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// nameRow is a row that assigns a current or former name to an agent.
type nameRow struct {
	bun.BaseModel `bun:"table:agent_names,alias:n"`

	WorkspaceID string `bun:"workspace_id,pk"`
	NameKey     string `bun:"name_key,pk"`
	AgentID     string `bun:"agent_id"`
}

// idOfName returns a subquery for the ID of the agent that has or had a name.
func (s *Store) idOfName(workspace, name string) *bun.SelectQuery {
	return s.read.NewSelect().Model((*nameRow)(nil)).Column("agent_id").
		Where("n.workspace_id = ?", workspace).Where("n.name_key = ?", registry.NameKey(name))
}

// AgentID returns the ID of the agent that has or had a name. If no agent has or had the name, it returns its argument
// unchanged.
func (s *Store) AgentID(ctx context.Context, workspace, nameOrID string) (string, error) {
	if impossible(nameOrID) {
		return nameOrID, nil
	}
	id, err := s.agentID(ctx, workspace, nameOrID)
	return id, wrap("read name", err)
}

// agentID is AgentID for a value without characters that the database rejects.
func (s *Store) agentID(ctx context.Context, workspace, nameOrID string) (string, error) {
	var id string
	err := s.idOfName(workspace, nameOrID).Scan(ctx, &id)
	if errors.Is(err, sql.ErrNoRows) {
		return nameOrID, nil
	}
	return id, err
}

// claimName assigns a name to an agent. It succeeds if the agent already has the name. Error: NameTaken.
func claimName(ctx context.Context, tx bun.Tx, workspace, agentID, name string) error {
	row := nameRow{WorkspaceID: workspace, NameKey: registry.NameKey(name), AgentID: agentID}
	// The update does not change the row. If the agent already has the name, the database still counts the row as
	// affected.
	result, err := tx.NewInsert().Model(&row).
		On("CONFLICT (workspace_id, name_key) DO UPDATE").Set("agent_id = excluded.agent_id").
		Where("n.agent_id = excluded.agent_id").Exec(ctx)
	if err != nil {
		return err
	}
	taken := errors.New("taken")
	if err := expectRow(result, taken); !errors.Is(err, taken) {
		return err
	}
	return whoseName(ctx, tx, row)
}

// whoseName returns a NameTaken error whose message contains the name of the agent that has or had the name.
func whoseName(ctx context.Context, tx bun.Tx, row nameRow) error {
	var owner struct {
		Name    string
		Deleted bool
	}
	err := tx.NewSelect().TableExpr("agents AS a").ColumnExpr("a.name, a.deleted_at IS NOT NULL AS deleted").
		Join("JOIN agent_names AS n ON n.agent_id = a.id").
		Where("n.workspace_id = ?", row.WorkspaceID).Where("n.name_key = ?", row.NameKey).Scan(ctx, &owner)
	switch {
	case err != nil:
		return err
	case owner.Deleted:
		return fault.New(fault.NameTaken, "This name belongs to a deleted agent and cannot be reused. Choose another name.")
	case registry.NameKey(owner.Name) != row.NameKey:
		return fault.New(fault.NameTaken, "This is a former name of the agent %s, and callers may still use it. Choose another name.", owner.Name)
	}
	return fault.New(fault.NameTaken, "An agent named %s already exists. Choose another name.", owner.Name)
}

// dropUnusedNames removes all names but one of an agent that was never published. No reference can use the former names
// of such an agent.
func dropUnusedNames(ctx context.Context, tx bun.Tx, workspace, agentID, but string) error {
	_, err := tx.NewDelete().Model((*nameRow)(nil)).
		Where("n.workspace_id = ?", workspace).Where("n.agent_id = ?", agentID).Where("n.name_key <> ?", registry.NameKey(but)).
		Where("NOT EXISTS (SELECT 1 FROM versions AS v WHERE v.agent_id = n.agent_id)").Exec(ctx)
	return err
}
