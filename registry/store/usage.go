package store

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/atelier-run/atelier/registry"
)

// metered is an amount on one meter of a workspace, in smallest units of the meter.
type metered struct {
	workspace string
	month     registry.Month
	meter     registry.Meter
	amount    int64
}

var usageColumns = []string{"workspace_id", "month", "meter", "amount"}

func meteredOf(workspace string, uses []registry.Use) []metered {
	all := make([]metered, 0, len(uses))
	for _, u := range uses {
		all = append(all, metered{workspace, u.Month, u.Meter, u.Meter.Smallest(u.Amount)})
	}
	return all
}

// addUp adds up the amounts with the same workspace, month and meter, and sorts the sums by these keys. Transactions
// that lock the same rows in different orders would deadlock.
func addUp(all []metered) []metered {
	slices.SortFunc(all, func(x, y metered) int {
		return cmp.Or(cmp.Compare(x.workspace, y.workspace), cmp.Compare(x.month, y.month), cmp.Compare(x.meter, y.meter))
	})
	sums := all[:0]
	for _, m := range all {
		if n := len(sums) - 1; n >= 0 && sums[n].workspace == m.workspace && sums[n].month == m.month && sums[n].meter == m.meter {
			sums[n].amount += m.amount
			continue
		}
		sums = append(sums, m)
	}
	return sums
}

// addUsage adds the usage of the finished runs of a transaction to the meters. Its statement is the last in the
// transaction, because other transactions of the same workspace wait for the same rows.
func (b *batch) addUsage() error {
	var all []metered
	for _, w := range b.writes {
		all = append(all, w.metered...)
	}
	rows := make([][]any, 0, len(all))
	for _, m := range addUp(all) {
		rows = append(rows, []any{m.workspace, string(m.month), string(m.meter), m.amount})
	}
	_, err := b.insert(addUsage, usageChunks[:], rows)
	return err
}

// addUsageIn adds usage that does not belong to a run, in the given transaction.
func addUsageIn(ctx context.Context, tx bun.Tx, workspace string, use registry.Use) error {
	return putUsage(ctx, tx, workspace, use, "amount = u.amount + excluded.amount")
}

// RaiseUsage sets a meter to a measured amount. It has no effect if the meter already has a higher amount.
func (s *Store) RaiseUsage(ctx context.Context, workspace string, use registry.Use) error {
	return wrap("raise usage", putUsage(ctx, s.write, workspace, use, "amount = CASE WHEN excluded.amount > u.amount THEN excluded.amount ELSE u.amount END"))
}

func putUsage(ctx context.Context, db bun.IDB, workspace string, use registry.Use, set string) error {
	row := usageRow{WorkspaceID: workspace, Month: string(use.Month), Meter: string(use.Meter), Amount: use.Meter.Smallest(use.Amount)}
	_, err := db.NewInsert().Model(&row).On("CONFLICT (workspace_id, month, meter) DO UPDATE").Set(set).Exec(ctx)
	return err
}

// Usage returns the usage of a workspace in the months from first to last, sorted by month and meter.
func (s *Store) Usage(ctx context.Context, workspace string, first, last registry.Month) ([]registry.Use, error) {
	var rows []usageRow
	err := s.read.NewSelect().Model(&rows).Where("u.workspace_id = ?", workspace).Where("u.month >= ?", string(first)).Where("u.month <= ?", string(last)).
		OrderExpr("u.month, u.meter").Scan(ctx)
	if err != nil {
		return nil, wrap("read usage", err)
	}
	uses := make([]registry.Use, 0, len(rows))
	for _, row := range rows {
		meter := registry.Meter(row.Meter)
		uses = append(uses, registry.Use{Month: registry.Month(row.Month), Meter: meter, Amount: meter.Amount(row.Amount)})
	}
	return uses, nil
}

// countInterrupted adds runs that the same transaction has interrupted to the meter of runs, given their workspaces. An
// empty workspace stands for a run whose program never started. It adds nothing to other meters, because the other
// usage of these runs is unknown. It must not count the runs before they are interrupted: several servers interrupt the
// runs of another one at once, and each would count them.
func countInterrupted(ctx context.Context, tx bun.Tx, workspaces []string, at time.Time) error {
	runs := map[string]float64{}
	for _, w := range workspaces {
		if w != "" {
			runs[w]++
		}
	}
	for _, workspace := range slices.Sorted(maps.Keys(runs)) { // other transactions lock the rows in this order too
		if err := addUsageIn(ctx, tx, workspace, registry.Use{Month: registry.MonthOf(at), Meter: registry.RunsMeter, Amount: runs[workspace]}); err != nil {
			return err
		}
	}
	return nil
}

type usageRow struct {
	bun.BaseModel `bun:"table:usage,alias:u"`

	WorkspaceID string `bun:"workspace_id,pk"`
	Month       string `bun:"month,pk"`
	Meter       string `bun:"meter,pk"`
	Amount      int64  `bun:"amount"`
}
