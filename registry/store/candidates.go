package store

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/atelier-run/atelier/registry"
)

// Candidates returns, for each reference, the versions that may match it. A reference names its agent by ID, current
// name or former name. The store looks up all references together, with one query for each kind of version reference.
// It omits fields that do not affect the choice, because an agent may have thousands of versions with large schemas.
func (s *Store) Candidates(ctx context.Context, workspace string, refs []registry.Reference) ([]registry.Candidates, error) {
	found := make([]registry.Candidates, len(refs))
	kinds := map[registry.VersionKind][]int{} // indexes of the references, by the kind of their versions
	for i, ref := range refs {
		if impossible(ref.Agent, ref.Version) {
			continue
		}
		kind := registry.KindOf(ref.Version)
		if kind != registry.Exact && kind != registry.ByDigest {
			kind = registry.Range
		}
		kinds[kind] = append(kinds[kind], i)
	}
	for kind, places := range kinds {
		asked := make([]registry.Reference, 0, len(places))
		for _, i := range places {
			asked = append(asked, refs[i])
		}
		agents, err := s.candidates(ctx, workspace, kind, asked)
		if err != nil {
			return nil, wrap("look for versions", err)
		}
		for _, i := range places {
			if byName, known := agents[registry.NameKey(refs[i].Agent)]; known {
				found[i] = byName
			} else {
				found[i] = agents[byID+refs[i].Agent]
			}
		}
	}
	return found, nil
}

// byID is the prefix of an agent's ID in the column asked. No name begins with this prefix, so IDs and names cannot be
// confused.
const byID = "#"

// candidates returns the candidates of each agent, under the key of its name or under its ID. The result for one agent
// may include versions that were requested for another agent.
func (s *Store) candidates(ctx context.Context, workspace string, kind registry.VersionKind, refs []registry.Reference) (map[string]registry.Candidates, error) {
	ids, keys, versions := make([]string, 0, len(refs)), make([]string, 0, len(refs)), make([]string, 0, len(refs))
	for _, ref := range refs {
		ids, keys, versions = append(ids, ref.Agent), append(keys, registry.NameKey(ref.Agent)), append(versions, ref.Version)
	}
	// The workspace condition is written so that no index matches it. With an index, SQLite would search all agents of the
	// workspace for the IDs.
	named := s.read.NewSelect().TableExpr("agent_names AS n").ColumnExpr("n.name_key AS asked, a.id AS id, a.name AS name").Join("JOIN agents AS a ON a.id = n.agent_id").
		Where("n.workspace_id = ?", workspace).Where("n.name_key IN (?)", bun.List(keys)).Where("a.deleted_at IS NULL")
	identified := s.read.NewSelect().TableExpr("agents AS a").ColumnExpr("? || a.id, a.id, a.name", byID).
		Where("a.id IN (?)", bun.List(ids)).Where("a.workspace_id || '' = ?", workspace).Where("a.deleted_at IS NULL")
	q := s.read.NewSelect().TableExpr("(?) AS asked", named.UnionAll(identified)).
		ColumnExpr("asked.asked, asked.id AS found_id, asked.name AS found_name").
		ColumnExpr("v.version, v.agent_name, v.digest, v.deprecated, v.deprecated_reason, v.deprecated_successor")
	switch kind {
	case registry.Exact:
		q.Join("LEFT JOIN versions AS v ON v.agent_id = asked.id AND v.version IN (?)", bun.List(versions))
	case registry.ByDigest:
		q.Join("LEFT JOIN versions AS v ON v.agent_id = asked.id AND v.digest IN (?)", bun.List(versions))
	case registry.ByLatest, registry.Range, registry.ByDraft:
		q.Join("LEFT JOIN versions AS v ON v.agent_id = asked.id")
	}
	var rows []candidateRow
	if err := q.Scan(ctx, &rows); err != nil {
		return nil, err
	}
	agents := map[string]registry.Candidates{}
	for _, row := range rows {
		c := agents[row.Asked]
		c.Agent = row.FoundName
		if row.Version != nil {
			c.Versions = append(c.Versions, registry.Version{
				AgentID: row.FoundID, Agent: row.AgentName, CurrentName: row.FoundName, Version: *row.Version, Digest: row.Digest,
				Deprecated: row.Deprecated, Reason: row.Reason, Successor: row.Successor,
			})
		}
		agents[row.Asked] = c
	}
	return agents, nil
}

// candidateRow is an agent with one of its versions, or without a version if none matches.
type candidateRow struct {
	Asked      string  `bun:"asked"`
	FoundID    string  `bun:"found_id"`
	FoundName  string  `bun:"found_name"`
	Version    *string `bun:"version"`
	AgentName  string  `bun:"agent_name"`
	Digest     string  `bun:"digest"`
	Deprecated bool    `bun:"deprecated"`
	Reason     string  `bun:"deprecated_reason"`
	Successor  string  `bun:"deprecated_successor"`
}
