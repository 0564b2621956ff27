package store

import (
	"context"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/atelier-run/atelier/registry"
)

// ReplacePins replaces all pins of an owner. An empty list removes them. A pin that existed before keeps its time. Of
// each given pin, ReplacePins uses the owner, the label, the agent's ID, the version part of the reference, and the
// time. Error: NotFound for a deleted agent.
func (s *Store) ReplacePins(ctx context.Context, workspace, owner string, pins []registry.Pin) error {
	rows := make([]pinRow, 0, len(pins))
	for _, p := range pins {
		for field, text := range map[string]string{"/owner": owner, "/label": p.Label, "/references": p.Reference} {
			if err := registry.CheckText(field, text); err != nil {
				return err
			}
		}
		rows = append(rows, pinRow{WorkspaceID: workspace, Owner: owner, AgentID: p.AgentID, Version: p.Reference, Label: p.Label, CreatedAt: instant(p.CreatedAt)})
	}
	if impossible(owner) {
		return nil
	}
	return s.change(ctx, "replace pins", func(ctx context.Context, tx bun.Tx) error {
		if err := s.keepExisting(ctx, tx, workspace, rows); err != nil {
			return err
		}
		var before []pinRow
		err := tx.NewSelect().Model(&before).Where("p.workspace_id = ?", workspace).Where("p.owner = ?", owner).Scan(ctx)
		if err != nil {
			return err
		}
		for i := range rows {
			for _, old := range before {
				if old.AgentID == rows[i].AgentID && old.Version == rows[i].Version {
					rows[i].CreatedAt = old.CreatedAt
				}
			}
		}
		if _, err := tx.NewDelete().Model((*pinRow)(nil)).Where("p.workspace_id = ?", workspace).Where("p.owner = ?", owner).Exec(ctx); err != nil {
			return err
		}
		if len(rows) == 0 {
			return nil
		}
		_, err = tx.NewInsert().Model(&rows).Exec(ctx)
		return err
	})
}

// keepExisting locks the agents of pins until the transaction ends. It returns NotFound if an agent is deleted. A
// concurrent deletion of the agent either waits and then finds the pins, or comes first and causes the error.
func (s *Store) keepExisting(ctx context.Context, tx bun.Tx, workspace string, pins []pinRow) error {
	wanted := make([]string, 0, len(pins))
	for _, p := range pins {
		wanted = append(wanted, p.AgentID)
	}
	slices.Sort(wanted)
	if wanted = slices.Compact(wanted); len(wanted) == 0 {
		return nil
	}
	var there []string
	q := tx.NewSelect().Model((*agentRow)(nil)).Column("id").
		Where("a.workspace_id = ?", workspace).Where("a.id IN (?)", bun.List(wanted)).Where("a.deleted_at IS NULL").OrderExpr("a.id")
	if s.dialect == postgresDialect {
		q.For("SHARE")
	}
	if err := q.Scan(ctx, &there); err != nil {
		return err
	}
	for _, id := range wanted {
		if !slices.Contains(there, id) {
			return noAgent(id)
		}
	}
	return nil
}

// PinsOf returns the pins of an agent, by owner.
func (s *Store) PinsOf(ctx context.Context, workspace, agentID string) ([]registry.Pin, error) {
	return s.pins(ctx, "p.agent_id = ?", workspace, agentID)
}

// PinsBy returns the pins of an owner.
func (s *Store) PinsBy(ctx context.Context, workspace, owner string) ([]registry.Pin, error) {
	if impossible(owner) {
		return nil, nil
	}
	return s.pins(ctx, "p.owner = ?", workspace, owner)
}

func (s *Store) pins(ctx context.Context, condition, workspace, value string) ([]registry.Pin, error) {
	var rows []pinRow
	err := s.read.NewSelect().Model(&rows).Where("p.workspace_id = ?", workspace).Where(condition, value).OrderExpr("p.owner, p.agent_id, p.version").Scan(ctx)
	pins := make([]registry.Pin, 0, len(rows))
	for _, row := range rows {
		pins = append(pins, registry.Pin{Owner: row.Owner, Label: row.Label, AgentID: row.AgentID, Reference: row.Version, CreatedAt: row.CreatedAt.UTC()})
	}
	return pins, wrap("list pins", err)
}

type pinRow struct {
	bun.BaseModel `bun:"table:pins,alias:p"`

	WorkspaceID string    `bun:"workspace_id,pk"`
	Owner       string    `bun:"owner,pk"`
	AgentID     string    `bun:"agent_id,pk"`
	Version     string    `bun:"version,pk"`
	Label       string    `bun:"label"`
	CreatedAt   time.Time `bun:"created_at"`
}
