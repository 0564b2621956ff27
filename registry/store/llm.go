package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/uptrace/bun"

	"github.com/atelier-run/atelier/registry"
)

// ModelChoice returns a workspace's setting for the language model. It returns the zero value if the workspace has no
// setting.
func (s *Store) ModelChoice(ctx context.Context, workspace string) (registry.ModelChoice, error) {
	var row llmSwitchRow
	err := s.read.NewSelect().Model(&row).Where("l.workspace_id = ?", workspace).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return registry.ModelChoice{}, nil
	}
	return registry.ModelChoice{Off: row.Off, Model: row.Model}, wrap("read choice of language model", err)
}

// ChooseModel stores a workspace's setting for the language model.
func (s *Store) ChooseModel(ctx context.Context, workspace string, c registry.ModelChoice) error {
	return s.change(ctx, "choose language model", func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewInsert().Model(&llmSwitchRow{WorkspaceID: workspace, Off: c.Off, Model: c.Model}).On("CONFLICT (workspace_id) DO UPDATE").Set("off = EXCLUDED.off").Set("model = EXCLUDED.model").Exec(ctx)
		return err
	})
}

// ModelUse returns the tokens that a workspace used in a month, such as 2026-11.
func (s *Store) ModelUse(ctx context.Context, workspace, month string) (registry.Tokens, error) {
	var row llmUseRow
	err := s.read.NewSelect().Model(&row).Where("u.workspace_id = ?", workspace).Where("u.month = ?", month).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return registry.Tokens{}, nil
	}
	return registry.Tokens{Input: row.Input, Output: row.Output}, wrap("read use of the language model", err)
}

// AddModelUse adds tokens to a workspace's use of the language model in a month, and to the workspace's meter of
// tokens.
func (s *Store) AddModelUse(ctx context.Context, workspace, month string, use registry.Tokens) error {
	row := &llmUseRow{WorkspaceID: workspace, Month: month, Input: use.Input, Output: use.Output}
	return s.change(ctx, "count tokens", func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewInsert().Model(row).On("CONFLICT (workspace_id, month) DO UPDATE").
			Set("input = u.input + EXCLUDED.input").Set("output = u.output + EXCLUDED.output").Exec(ctx)
		if err != nil {
			return err
		}
		return addUsageIn(ctx, tx, workspace, registry.Use{Month: registry.Month(month), Meter: registry.TokensMeter, Amount: float64(use.Total())})
	})
}

type llmSwitchRow struct {
	bun.BaseModel `bun:"table:llm_switches,alias:l"`

	WorkspaceID string `bun:"workspace_id,pk"`
	Off         bool   `bun:"off"`
	Model       string `bun:"model"`
}

type llmUseRow struct {
	bun.BaseModel `bun:"table:llm_use,alias:u"`

	WorkspaceID string `bun:"workspace_id,pk"`
	Month       string `bun:"month,pk"`
	Input       int64  `bun:"input"`
	Output      int64  `bun:"output"`
}
