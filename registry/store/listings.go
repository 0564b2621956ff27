package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/uptrace/bun"

	"github.com/atelier-run/atelier/registry"
)

// SetListed adds an agent to the public registry, or removes it from the registry. Error: NotFound.
func (s *Store) SetListed(ctx context.Context, workspace, id string, listed bool, at time.Time) error {
	return s.change(ctx, "list agent", func(ctx context.Context, tx bun.Tx) error {
		result, err := tx.NewUpdate().Model((*agentRow)(nil)).Set("listed = ?", listed).Set("updated_at = ?", instant(at)).
			Where("a.workspace_id = ?", workspace).Where("a.id = ?", id).Where("a.deleted_at IS NULL").Exec(ctx)
		if err != nil {
			return err
		}
		if err := expectRow(result, noAgent(id)); err != nil {
			return err
		}
		return refreshListing(ctx, tx, id)
	})
}

// refreshListing updates the columns in which the public registry searches. It must be called after every change of an
// agent's name, tags or latest version. It has no effect on an agent that is not listed.
func refreshListing(ctx context.Context, tx bun.Tx, id string) error {
	var row struct{ Name, Tags, Title, Description, Language string }
	err := tx.NewSelect().TableExpr("agents AS a").ColumnExpr("a.name, a.tags, v.title, v.description, v.language").
		Join("JOIN versions AS v ON v.agent_id = a.id AND v.version = a.latest_version").Where("a.id = ?", id).Where("a.listed").Scan(ctx, &row)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	var tags []string
	if err := json.Unmarshal([]byte(row.Tags), &tags); err != nil {
		return err
	}
	_, err = tx.NewUpdate().Model((*agentRow)(nil)).Set("listing_language = ?", row.Language).
		Set("listing_text = ?", searched(row.Name, row.Title, row.Description, tags)).Where("a.id = ?", id).Exec(ctx)
	return err
}

// registryList is the name of the public registry's list in cursors.
const registryList = "registry"

// Listed returns a page of the public registry of all workspaces, sorted by name. It omits agents without a version and
// agents that have only pre-releases. The data of an agent come from its latest version, because drafts are private.
// Error: InvalidInput for a bad cursor.
func (s *Store) Listed(ctx context.Context, f registry.AgentFilter) (registry.AgentPage, error) {
	// These conditions match the conditions of the index, so the search reads only the index and no rows.
	ids := s.read.NewSelect().TableExpr("agents AS a").Column("a.id").Where("a.listed").Where("a.deleted_at IS NULL").Where("a.latest_version <> ''").
		OrderExpr("a.name, a.id").Limit(int64(pageSize(f.Limit)) + 1)
	if err := s.narrow(ids, f, searchedColumns{list: registryList, text: "a.listing_text", language: "a.listing_language"}); err != nil {
		return registry.AgentPage{}, err
	}
	var rows []listedRow
	if err := s.listed(&rows).Where("a.id IN (?)", ids).OrderExpr("a.name, a.id").Scan(ctx); err != nil {
		return registry.AgentPage{}, wrap("list the registry", err)
	}
	page, err := agentPage(registryList, withLatest(rows), pageSize(f.Limit))
	for i := range page.Items {
		page.Items[i].Publisher = rows[i].Publisher
	}
	return page, wrap("list the registry", err)
}

// ListedAgent returns an agent of the public registry, in the same form as Listed. Error: NotFound.
func (s *Store) ListedAgent(ctx context.Context, id string) (registry.Agent, error) {
	if impossible(id) {
		return registry.Agent{}, noAgent(id)
	}
	return s.listedAgent(ctx, id, "a.id = ?", id)
}

// ListedAs returns the agent that a publisher lists under a current or former name. publisher is the name of a
// workspace. ListedAs always runs exactly one query, so that its duration reveals nothing about agents that are not
// listed.
func (s *Store) ListedAs(ctx context.Context, publisher, name string) (registry.Agent, error) {
	said := publisher + "/" + name
	if impossible(publisher, name) {
		return registry.Agent{}, noAgent(said)
	}
	id := s.read.NewSelect().Model((*nameRow)(nil)).Column("n.agent_id").Join("JOIN workspaces AS p ON p.id = n.workspace_id").
		Where("p.name = ?", publisher).Where("n.name_key = ?", registry.NameKey(name))
	return s.listedAgent(ctx, said, "a.id = (?)", id)
}

func (s *Store) listedAgent(ctx context.Context, said, condition string, value any) (registry.Agent, error) {
	var rows []listedRow
	if err := s.listed(&rows).Where(condition, value).Scan(ctx); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return registry.Agent{}, wrap("read the registry", err)
	}
	if len(rows) == 0 {
		return registry.Agent{}, noAgent(said)
	}
	a, err := withLatest(rows)[0].agent()
	a.Publisher = rows[0].Publisher
	return a, wrap("read the registry", err)
}

// listed returns a query for agents of the public registry.
func (s *Store) listed(rows *[]listedRow) *bun.SelectQuery {
	return s.read.NewSelect().Model(rows).ColumnExpr("a.*").ColumnExpr(usageColumn).
		ColumnExpr("v.title AS said_title, v.description AS said_description, v.language AS said_language, v.published_at AS said_at, w.name AS publisher").
		Join("JOIN versions AS v ON v.agent_id = a.id AND v.version = a.latest_version").Join("JOIN workspaces AS w ON w.id = a.workspace_id").
		Join("LEFT JOIN agent_usage AS u ON u.agent_id = a.id").Where("a.listed").Where("a.deleted_at IS NULL").Where("a.latest_version <> ''")
}

// listedRow is an agent with fields of its latest version.
type listedRow struct {
	fullAgentRow `bun:",extend"`

	SaidTitle       string    `bun:"said_title,scanonly"`
	SaidDescription string    `bun:"said_description,scanonly"`
	SaidLanguage    string    `bun:"said_language,scanonly"`
	SaidAt          time.Time `bun:"said_at,scanonly"`
	Publisher       string    `bun:"publisher,scanonly"`
}

// withLatest replaces the agents' title, description, language and time of change with those of their latest versions.
func withLatest(rows []listedRow) []fullAgentRow {
	all := make([]fullAgentRow, 0, len(rows))
	for _, row := range rows {
		row.Title, row.Description, row.Language, row.UpdatedAt = row.SaidTitle, row.SaidDescription, row.SaidLanguage, row.SaidAt
		all = append(all, row.fullAgentRow)
	}
	return all
}
