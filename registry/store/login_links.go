package store

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/atelier-run/atelier/registry"
)

// PutLoginLink stores the hash of a one-time link's secret. A link leads into the default workspace.
func (s *Store) PutLoginLink(ctx context.Context, hash string, expires time.Time) error {
	row := linkRow{Hash: hash, WorkspaceID: registry.DefaultWorkspace, ExpiresAt: instant(expires)}
	_, err := s.write.NewInsert().Model(&row).Exec(ctx)
	return wrap("store login link", err)
}

// TakeLoginLink spends a link. It is true once, and only before the link expires.
func (s *Store) TakeLoginLink(ctx context.Context, hash string, now time.Time) (bool, error) {
	result, err := s.write.NewDelete().Model((*linkRow)(nil)).Where("l.hash = ?", hash).Where("l.expires_at > ?", instant(now)).Exec(ctx)
	if err != nil {
		return false, wrap("spend login link", err)
	}
	n, err := result.RowsAffected()
	return n == 1, wrap("spend login link", err)
}

type linkRow struct {
	bun.BaseModel `bun:"table:login_links,alias:l"`

	Hash        string    `bun:"hash,pk"`
	WorkspaceID string    `bun:"workspace_id"`
	ExpiresAt   time.Time `bun:"expires_at"`
}
