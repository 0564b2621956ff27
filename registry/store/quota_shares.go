package store

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/atelier-run/atelier/registry"
)

// ShareUse stores the counts of runs and CPU time that this server has made for quotas. Other servers add them to their
// own counts.
func (s *Store) ShareUse(ctx context.Context, all []registry.ServerUse) error {
	if len(all) == 0 {
		return nil
	}
	rows := make([]quotaShareRow, 0, len(all))
	for _, one := range all {
		rows = append(rows, quotaShareRow{ServerID: s.ServerID(), WorkspaceID: one.Workspace, Day: instant(one.Day), Live: one.Live, Runs: one.Used.Runs, CPUMs: one.Used.CPUMs})
	}
	_, err := s.write.NewInsert().Model(&rows).On("CONFLICT (server_id, workspace_id) DO UPDATE").
		Set("day = excluded.day").Set("live = excluded.live").Set("runs = excluded.runs").Set("cpu_ms = excluded.cpu_ms").Exec(ctx)
	return wrap("share the use of quotas", err)
}

// OthersUse returns the counts that the other servers have stored for quotas.
func (s *Store) OthersUse(ctx context.Context) ([]registry.ServerUse, error) {
	var rows []quotaShareRow
	if err := s.read.NewSelect().Model(&rows).Where("qs.server_id <> ?", s.ServerID()).Scan(ctx); err != nil {
		return nil, wrap("read the use of quotas", err)
	}
	all := make([]registry.ServerUse, 0, len(rows))
	for _, row := range rows {
		all = append(all, registry.ServerUse{Server: row.ServerID, Workspace: row.WorkspaceID, Day: row.Day.UTC(), Live: row.Live, Used: registry.DayUse{Runs: row.Runs, CPUMs: row.CPUMs}})
	}
	return all, nil
}

type quotaShareRow struct {
	bun.BaseModel `bun:"table:quota_shares,alias:qs"`

	ServerID    string    `bun:"server_id,pk"`
	WorkspaceID string    `bun:"workspace_id,pk"`
	Day         time.Time `bun:"day"`
	Live        int64     `bun:"live"`
	Runs        int64     `bun:"runs"`
	CPUMs       float64   `bun:"cpu_ms"`
}
