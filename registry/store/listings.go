package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/uptrace/bun"

	"github.com/atelier-run/atelier/registry"
)

// SetListed shows an agent in the public registry, or takes it out. Error: NotFound.
func (s *Store) SetListed(ctx context.Context, workspace, id string, listed bool, at time.Time) error {
	result, err := s.write.NewUpdate().Model((*agentRow)(nil)).Set("listed = ?", listed).Set("updated_at = ?", instant(at)).
		Where("a.workspace_id = ?", workspace).Where("a.id = ?", id).Where("a.deleted_at IS NULL").Exec(ctx)
	if err != nil {
		return wrap("list agent", err)
	}
	return wrap("list agent", expectRow(result, noAgent(id)))
}

// Listed returns a page of the public registry, which is that of every workspace, by name. An agent without a version that
// is no pre-release is not in it. Error: InvalidInput for a bad cursor.
func (s *Store) Listed(ctx context.Context, f registry.AgentFilter) (registry.AgentPage, error) {
	var rows []fullAgentRow
	q := s.listed(&rows).OrderExpr("a.name, a.id").Limit(int64(pageSize(f.Limit)) + 1)
	if err := s.narrow(q, f); err != nil {
		return registry.AgentPage{}, err
	}
	if err := q.Scan(ctx); err != nil {
		return registry.AgentPage{}, wrap("list the registry", err)
	}
	page, err := agentPage(rows, pageSize(f.Limit))
	return page, wrap("list the registry", err)
}

// ListedAgent returns an agent of the public registry, without files. Error: NotFound.
func (s *Store) ListedAgent(ctx context.Context, id string) (registry.Agent, error) {
	if impossible(id) {
		return registry.Agent{}, noAgent(id)
	}
	var rows []fullAgentRow
	if err := s.listed(&rows).Where("a.id = ?", id).Scan(ctx); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return registry.Agent{}, wrap("read the registry", err)
	}
	if len(rows) == 0 {
		return registry.Agent{}, noAgent(id)
	}
	a, err := rows[0].agent()
	return a, wrap("read the registry", err)
}

// listed begins a query over the registry; its conditions are those of the index.
func (s *Store) listed(rows *[]fullAgentRow) *bun.SelectQuery {
	return s.read.NewSelect().Model(rows).
		ColumnExpr("a.*").ColumnExpr(draftColumns).ColumnExpr(usageColumn).
		Join("JOIN drafts AS d ON d.agent_id = a.id").Join("LEFT JOIN agent_usage AS u ON u.agent_id = a.id").
		Where("a.listed").Where("a.deleted_at IS NULL").Where("a.latest_version <> ''")
}
