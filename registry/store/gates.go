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

// GateSettings returns the stored settings of a workspace's policy gate. found is false if the workspace has no
// settings and uses the defaults.
func (s *Store) GateSettings(ctx context.Context, workspace string) (settings registry.GateSettings, found bool, err error) {
	var row gateRow
	err = s.read.NewSelect().Model(&row).Where("g.workspace_id = ?", workspace).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return settings, false, nil
	}
	if err == nil {
		err = json.Unmarshal([]byte(row.Settings), &settings)
		settings.Revision = row.Revision
	}
	return settings, err == nil, wrap("read gate settings", err)
}

// PutGateSettings stores the settings of a workspace's policy gate and returns their revision. Before the first save,
// the settings are the defaults and have revision 1. If the given settings contain a revision, it must equal the
// current revision. Error: Conflict.
func (s *Store) PutGateSettings(ctx context.Context, workspace string, settings registry.GateSettings) (int64, error) {
	seen := settings.Revision
	settings.Revision = 0
	text, err := encode(settings)
	if err != nil {
		return 0, wrap("save gate settings", err)
	}
	row := gateRow{WorkspaceID: workspace, Settings: text, Revision: 2}
	err = s.change(ctx, "save gate settings", func(ctx context.Context, tx bun.Tx) error {
		put := tx.NewInsert().Model(&row)
		if seen <= 1 {
			put = put.On("CONFLICT (workspace_id) DO UPDATE").Set("settings = EXCLUDED.settings").Set("revision = g.revision + 1").Where("? = 0", seen).Returning("revision")
			return put.Scan(ctx)
		}
		return tx.NewUpdate().Model(&row).Set("settings = ?", text).Set("revision = revision + 1").
			Where("workspace_id = ?", workspace).Where("revision = ?", seen).Returning("revision").Scan(ctx)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return 0, fault.New(fault.Conflict, "The settings of the gate have changed since you read them. Read them again.")
	}
	return row.Revision, err
}

// RulePacks returns the rule packs of a workspace, sorted by name.
func (s *Store) RulePacks(ctx context.Context, workspace string) ([]registry.RulePack, error) {
	var rows []rulePackRow
	err := s.read.NewSelect().Model(&rows).Where("p.workspace_id = ?", workspace).OrderExpr("p.name").Scan(ctx)
	packs := make([]registry.RulePack, 0, len(rows))
	for _, row := range rows {
		packs = append(packs, registry.RulePack{Workspace: row.WorkspaceID, Name: row.Name, Source: row.Source, UpdatedAt: row.UpdatedAt.UTC(), UpdatedBy: row.UpdatedBy})
	}
	return packs, wrap("list rule packs", err)
}

// PutRulePack creates a rule pack, or replaces the rule pack with the same name.
func (s *Store) PutRulePack(ctx context.Context, pack registry.RulePack) error {
	row := &rulePackRow{WorkspaceID: pack.Workspace, Name: pack.Name, Source: pack.Source, UpdatedAt: instant(pack.UpdatedAt), UpdatedBy: pack.UpdatedBy}
	return s.change(ctx, "save rule pack", func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewInsert().Model(row).On("CONFLICT (workspace_id, name) DO UPDATE").
			Set("source = EXCLUDED.source").Set("updated_at = EXCLUDED.updated_at").Set("updated_by = EXCLUDED.updated_by").Exec(ctx)
		return err
	})
}

// DeleteRulePack removes a rule pack. Error: NotFound.
func (s *Store) DeleteRulePack(ctx context.Context, workspace, name string) error {
	if impossible(name) {
		return noRulePack(name)
	}
	return s.change(ctx, "delete rule pack", func(ctx context.Context, tx bun.Tx) error {
		result, err := tx.NewDelete().Model((*rulePackRow)(nil)).Where("p.workspace_id = ?", workspace).Where("p.name = ?", name).Exec(ctx)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, noRulePack(name))
		}
		return nil
	})
}

func noRulePack(name string) error { return fault.New(fault.NotFound, "Rule pack %s not found.", name) }

type gateRow struct {
	bun.BaseModel `bun:"table:gates,alias:g"`

	WorkspaceID string `bun:"workspace_id,pk"`
	Settings    string `bun:"settings"`
	Revision    int64  `bun:"revision"`
}

type rulePackRow struct {
	bun.BaseModel `bun:"table:rule_packs,alias:p"`

	WorkspaceID string    `bun:"workspace_id,pk"`
	Name        string    `bun:"name,pk"`
	Source      string    `bun:"source"`
	UpdatedAt   time.Time `bun:"updated_at"`
	UpdatedBy   string    `bun:"updated_by"`
}
