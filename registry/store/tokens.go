package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// PutToken stores a token. It replaces a token with the same ID.
func (s *Store) PutToken(ctx context.Context, t registry.Token) error {
	if err := registry.CheckText("/name", t.Name); err != nil {
		return err
	}
	creator := identified(t.Creator, t.CreatedBy)
	scopes, scopesErr := encode(t.Scopes)
	agents, agentsErr := encode(t.Agents)
	if err := errors.Join(scopesErr, agentsErr); err != nil {
		return wrap("store token", err)
	}
	row := tokenRow{
		ID: t.ID, WorkspaceID: t.Workspace, Name: t.Name, Hash: t.Hash, UserID: t.User, Scopes: scopes, Agents: agents,
		CreatedByID: creator.ID, CreatedByType: string(creator.Type), CreatedByName: creator.Name, CreatedAt: instant(t.CreatedAt),
		LastUsedAt: instantOrNil(t.LastUsed), ExpiresAt: instantOrNil(t.ExpiresAt), RevokedAt: instantOrNil(t.RevokedAt),
	}
	result, err := s.write.NewInsert().Model(&row).On("CONFLICT (id) DO UPDATE").
		Set("name = excluded.name").Set("hash = excluded.hash").Set("last_used_at = excluded.last_used_at").
		Set("scopes = excluded.scopes").Set("agents = excluded.agents").
		Set("expires_at = excluded.expires_at").Set("revoked_at = excluded.revoked_at").
		Where("t.workspace_id = excluded.workspace_id").Exec(ctx)
	if err != nil {
		return wrap("store token", err)
	}
	return wrap("store token", expectRow(result, fault.New(fault.Conflict, "The token ID %s already exists.", t.ID)))
}

// TokenByHash returns the token whose secret has a hash, even if the token is revoked or expired. Error: NotFound.
func (s *Store) TokenByHash(ctx context.Context, hash string) (registry.Token, error) {
	return s.oneToken(ctx, func(q *bun.SelectQuery) *bun.SelectQuery { return q.Where("t.hash = ?", hash) })
}

// Token returns a token by its ID, even if it is revoked or expired. Error: NotFound.
func (s *Store) Token(ctx context.Context, workspace, id string) (registry.Token, error) {
	return s.oneToken(ctx, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("t.workspace_id = ?", workspace).Where("t.id = ?", id)
	})
}

func (s *Store) oneToken(ctx context.Context, which func(*bun.SelectQuery) *bun.SelectQuery) (registry.Token, error) {
	var row tokenRow
	err := which(s.read.NewSelect().Model(&row)).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return registry.Token{}, fault.New(fault.NotFound, "Token not found.")
	}
	if err != nil {
		return registry.Token{}, wrap("read token", err)
	}
	t, err := row.token()
	return t, wrap("read token", err)
}

// Tokens returns the tokens of a workspace, newest first.
func (s *Store) Tokens(ctx context.Context, workspace string) ([]registry.Token, error) {
	var rows []tokenRow
	err := s.read.NewSelect().Model(&rows).Where("t.workspace_id = ?", workspace).OrderExpr("t.created_at DESC, t.id DESC").Scan(ctx)
	if err != nil {
		return nil, wrap("list tokens", err)
	}
	tokens := make([]registry.Token, 0, len(rows))
	for _, row := range rows {
		t, err := row.token()
		if err != nil {
			return nil, wrap("list tokens", err)
		}
		tokens = append(tokens, t)
	}
	return tokens, nil
}

// RevokeToken revokes a token. It also ends the sessions and revokes the invitations that were created with the token.
// A second call does not change the time of the revocation. Error: NotFound.
func (s *Store) RevokeToken(ctx context.Context, workspace, id string, at time.Time) error {
	if impossible(id) {
		return noToken(id)
	}
	return s.change(ctx, "revoke token", func(ctx context.Context, tx bun.Tx) error {
		result, err := tx.NewUpdate().Model((*tokenRow)(nil)).Set("revoked_at = COALESCE(revoked_at, ?)", instant(at)).
			Where("t.workspace_id = ?", workspace).Where("t.id = ?", id).Exec(ctx)
		if err != nil {
			return err
		}
		if err := expectRow(result, noToken(id)); err != nil {
			return err
		}
		_, err = tx.NewDelete().Model((*sessionRow)(nil)).
			Where("s.workspace_id = ?", workspace).Where("s.actor_type = ?", string(registry.TokenActor)).Where("s.actor_id = ?", id).Exec(ctx)
		if err != nil {
			return err
		}
		_, err = tx.NewDelete().Model((*invitationRow)(nil)).
			Where("i.workspace_id = ?", workspace).Where("i.created_by_type = ?", string(registry.TokenActor)).Where("i.created_by_id = ?", id).Exec(ctx)
		return err
	})
}

// TouchTokens stores the times at which tokens were last used, in one transaction. The keys are the IDs of the tokens.
func (s *Store) TouchTokens(ctx context.Context, uses map[string]time.Time) error {
	return s.change(ctx, "note uses of tokens", func(ctx context.Context, tx bun.Tx) error {
		for _, id := range slices.Sorted(maps.Keys(uses)) { // the rows are locked in a fixed order, so that two writers cannot deadlock
			_, err := tx.NewUpdate().Model((*tokenRow)(nil)).Set("last_used_at = ?", instant(uses[id])).Where("t.id = ?", id).
				Where("(t.last_used_at IS NULL OR t.last_used_at < ?)", instant(uses[id])).Exec(ctx)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

type tokenRow struct {
	bun.BaseModel `bun:"table:tokens,alias:t"`

	ID            string     `bun:"id,pk"`
	WorkspaceID   string     `bun:"workspace_id"`
	Name          string     `bun:"name"`
	Hash          string     `bun:"hash"`
	UserID        string     `bun:"user_id"`
	Scopes        string     `bun:"scopes"`
	Agents        string     `bun:"agents"`
	CreatedByID   string     `bun:"created_by_id"`
	CreatedByType string     `bun:"created_by_type"`
	CreatedByName string     `bun:"created_by_name"`
	CreatedAt     time.Time  `bun:"created_at"`
	LastUsedAt    *time.Time `bun:"last_used_at"`
	ExpiresAt     *time.Time `bun:"expires_at"`
	RevokedAt     *time.Time `bun:"revoked_at"`
}

func (row tokenRow) token() (registry.Token, error) {
	t := registry.Token{
		ID: row.ID, Workspace: row.WorkspaceID, Name: row.Name, Hash: row.Hash, CreatedAt: row.CreatedAt.UTC(), CreatedBy: row.CreatedByID,
		User: row.UserID, Creator: actor(row.WorkspaceID, row.CreatedByID, row.CreatedByType, row.CreatedByName),
		LastUsed: instantOrNil(row.LastUsedAt), ExpiresAt: instantOrNil(row.ExpiresAt), RevokedAt: instantOrNil(row.RevokedAt),
	}
	return t, errors.Join(json.Unmarshal([]byte(row.Scopes), &t.Scopes), json.Unmarshal([]byte(row.Agents), &t.Agents))
}
