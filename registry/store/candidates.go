package store

import (
	"context"

	"github.com/atelier-run/atelier/registry"
)

// Candidates returns those versions that a reference may stand for, without what is not needed to choose among them: an agent
// may have thousands, and their schemas are large. The agent is a name, also a former one, or an ID; its present name is told
// too. Error: NotFound for the agent, also a deleted one.
func (s *Store) Candidates(ctx context.Context, workspace string, ref registry.Reference) (present string, all []registry.Version, err error) {
	if impossible(ref.Agent, ref.Version) {
		return "", nil, noAgent(ref.Agent)
	}
	var rows []candidateRow
	// The workspace is asked for in words that are no index's: SQLite would otherwise look for the ID among all of its agents.
	q := s.read.NewSelect().TableExpr("agents AS a").ColumnExpr("a.id AS found_id, a.name AS found_name").
		ColumnExpr("v.version, v.agent_name, v.digest, v.deprecated, v.deprecated_reason, v.deprecated_successor").
		Where("a.workspace_id || '' = ?", workspace).Where("a.id IN (?, (?))", ref.Agent, s.idOfName(workspace, ref.Agent)).Where("a.deleted_at IS NULL")
	switch registry.KindOf(ref.Version) {
	case registry.Exact:
		q.Join("LEFT JOIN versions AS v ON v.agent_id = a.id AND v.version = ?", ref.Version)
	case registry.ByDigest:
		q.Join("LEFT JOIN versions AS v ON v.agent_id = a.id AND v.digest = ?", ref.Version)
	case registry.ByLatest, registry.Range, registry.ByDraft:
		q.Join("LEFT JOIN versions AS v ON v.agent_id = a.id")
	}
	if err := q.Scan(ctx, &rows); err != nil {
		return "", nil, wrap("look for versions", err)
	}
	if len(rows) == 0 {
		return "", nil, noAgent(ref.Agent)
	}
	for _, row := range rows {
		if row.Version != nil {
			all = append(all, registry.Version{
				AgentID: row.FoundID, Agent: row.AgentName, PresentName: row.FoundName, Version: *row.Version, Digest: row.Digest,
				Deprecated: row.Deprecated, Reason: row.Reason, Successor: row.Successor,
			})
		}
	}
	return rows[0].FoundName, all, nil
}

// candidateRow is an agent with one of its versions, or with none.
type candidateRow struct {
	FoundID    string  `bun:"found_id"`
	FoundName  string  `bun:"found_name"`
	Version    *string `bun:"version"`
	AgentName  string  `bun:"agent_name"`
	Digest     string  `bun:"digest"`
	Deprecated bool    `bun:"deprecated"`
	Reason     string  `bun:"deprecated_reason"`
	Successor  string  `bun:"deprecated_successor"`
}
