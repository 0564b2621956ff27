package store

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// Budgets returns the budgets of a workspace, sorted by name. For "" it returns the budgets of all workspaces.
func (s *Store) Budgets(ctx context.Context, workspace string) ([]registry.Budget, error) {
	var rows []budgetRow
	query := s.read.NewSelect().Model(&rows).OrderExpr("b.workspace_id, b.name")
	if workspace != "" {
		query = query.Where("b.workspace_id = ?", workspace)
	}
	if err := query.Scan(ctx); err != nil {
		return nil, wrap("list budgets", err)
	}
	all := make([]registry.Budget, 0, len(rows))
	for _, row := range rows {
		all = append(all, registry.Budget{
			Workspace: row.WorkspaceID, Name: row.Name, Meter: registry.Meter(row.Meter), Amount: row.Amount, Refuse: registry.Refusal(row.Refuse), UpdatedAt: row.UpdatedAt.UTC(), UpdatedBy: row.UpdatedBy,
		})
	}
	return all, nil
}

// PutBudget creates a budget, or replaces the budget with the same name. It removes the warnings of the replaced
// budget, so that the new amount can cause warnings again. Error: Conflict if the workspace would have more than most
// budgets.
func (s *Store) PutBudget(ctx context.Context, b registry.Budget, most int) error {
	row := &budgetRow{WorkspaceID: b.Workspace, Name: b.Name, Meter: string(b.Meter), Amount: b.Amount, Refuse: string(b.Refuse), UpdatedAt: instant(b.UpdatedAt), UpdatedBy: b.UpdatedBy}
	return s.change(ctx, "save budget", func(ctx context.Context, tx bun.Tx) error {
		if _, err := tx.NewInsert().Model(row).On("CONFLICT (workspace_id, name) DO UPDATE").Set("meter = EXCLUDED.meter").Set("amount = EXCLUDED.amount").
			Set("refuse = EXCLUDED.refuse").Set("updated_at = EXCLUDED.updated_at").Set("updated_by = EXCLUDED.updated_by").Exec(ctx); err != nil {
			return err
		}
		n, err := tx.NewSelect().Model((*budgetRow)(nil)).Where("b.workspace_id = ?", b.Workspace).Count(ctx)
		if err != nil {
			return err
		}
		if n > int64(most) {
			return fault.New(fault.Conflict, "A workspace has at most %d budgets. Remove one first.", most)
		}
		return removeWarnings(ctx, tx, b.Workspace, b.Name)
	})
}

// DeleteBudget removes a budget with its warnings. Error: NotFound.
func (s *Store) DeleteBudget(ctx context.Context, workspace, name string) error {
	if impossible(name) {
		return noBudget(name)
	}
	return s.change(ctx, "delete budget", func(ctx context.Context, tx bun.Tx) error {
		result, err := tx.NewDelete().Model((*budgetRow)(nil)).Where("b.workspace_id = ?", workspace).Where("b.name = ?", name).Exec(ctx)
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		if err == nil && n == 0 {
			err = noBudget(name)
		}
		if err != nil {
			return err
		}
		return removeWarnings(ctx, tx, workspace, name)
	})
}

func noBudget(name string) error {
	return fault.New(fault.NotFound, "Budget %s not found.", fault.Shown(name, 63))
}

func removeWarnings(ctx context.Context, tx bun.Tx, workspace, name string) error {
	_, err := tx.NewDelete().Model((*warningRow)(nil)).Where("w.workspace_id = ?", workspace).Where("w.budget = ?", name).Exec(ctx)
	return err
}

// BudgetWarnings returns the warnings of a workspace in a month.
func (s *Store) BudgetWarnings(ctx context.Context, workspace string, month registry.Month) ([]registry.BudgetWarning, error) {
	var rows []warningRow
	err := s.read.NewSelect().Model(&rows).Where("w.workspace_id = ?", workspace).Where("w.month = ?", string(month)).OrderExpr("w.budget, w.percent").Scan(ctx)
	if err != nil {
		return nil, wrap("list warnings", err)
	}
	all := make([]registry.BudgetWarning, 0, len(rows))
	for _, row := range rows {
		all = append(all, registry.BudgetWarning{Workspace: row.WorkspaceID, Budget: row.Budget, Month: registry.Month(row.Month), Percent: row.Percent, At: row.At.UTC()})
	}
	return all, nil
}

// WarnBudget stores a warning with its webhook, and reports whether the warning is new. If several servers store the
// same warning, it is new for only one of them. A webhook without a payload is not stored.
func (s *Store) WarnBudget(ctx context.Context, w registry.BudgetWarning, webhook *registry.Delivery) (isNew bool, err error) {
	err = s.change(ctx, "record a warning", func(ctx context.Context, tx bun.Tx) error {
		result, err := tx.NewInsert().Model(&warningRow{WorkspaceID: w.Workspace, Budget: w.Budget, Month: string(w.Month), Percent: w.Percent, At: instant(w.At)}).
			On("CONFLICT (workspace_id, budget, month, percent) DO NOTHING").Exec(ctx)
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		if isNew = n > 0; err != nil || !isNew || webhook == nil {
			return err
		}
		return insertDelivery(ctx, tx, *webhook)
	})
	return isNew, err
}

type budgetRow struct {
	bun.BaseModel `bun:"table:budgets,alias:b"`

	WorkspaceID string    `bun:"workspace_id,pk"`
	Name        string    `bun:"name,pk"`
	Meter       string    `bun:"meter"`
	Amount      float64   `bun:"amount"`
	Refuse      string    `bun:"refuse"`
	UpdatedAt   time.Time `bun:"updated_at"`
	UpdatedBy   string    `bun:"updated_by"`
}

type warningRow struct {
	bun.BaseModel `bun:"table:budget_warnings,alias:w"`

	WorkspaceID string    `bun:"workspace_id,pk"`
	Budget      string    `bun:"budget,pk"`
	Month       string    `bun:"month,pk"`
	Percent     int       `bun:"percent,pk"`
	At          time.Time `bun:"warned_at"`
}
