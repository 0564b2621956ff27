package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/uptrace/bun"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// PutSignInLink stores a one-time link that signs a user in. It stores only the hash of the link's secret.
func (s *Store) PutSignInLink(ctx context.Context, hash, user string, expires time.Time) error {
	row := linkRow{Hash: hash, WorkspaceID: registry.DefaultWorkspace, UserID: user, ExpiresAt: instant(expires)}
	_, err := s.write.NewInsert().Model(&row).Exec(ctx)
	return wrap("store sign-in link", err)
}

// ConsumeSignInLink removes a sign-in link and returns its user, so that a link works only once. Error: NotFound for a
// link that was used or has expired.
func (s *Store) ConsumeSignInLink(ctx context.Context, hash string, now time.Time) (user string, err error) {
	err = s.write.NewDelete().Model((*linkRow)(nil)).Where("l.hash = ?", hash).Where("l.expires_at > ?", instant(now)).Returning("user_id").Scan(ctx, &user)
	if errors.Is(err, sql.ErrNoRows) {
		return "", fault.New(fault.NotFound, "Sign-in link not found.")
	}
	return user, wrap("spend sign-in link", err)
}

type linkRow struct {
	bun.BaseModel `bun:"table:login_links,alias:l"`

	Hash        string    `bun:"hash,pk"`
	WorkspaceID string    `bun:"workspace_id"`
	UserID      string    `bun:"user_id"`
	ExpiresAt   time.Time `bun:"expires_at"`
}
