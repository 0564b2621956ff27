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

// PutSession stores a browser's login.
func (s *Store) PutSession(ctx context.Context, session registry.Session) error {
	row := sessionRow{
		Hash: session.Hash, WorkspaceID: session.Actor.Workspace,
		ActorID: session.Actor.ID, ActorType: string(session.Actor.Type), ActorName: session.Actor.Name,
		CreatedAt: instant(session.CreatedAt), ExpiresAt: instant(session.ExpiresAt),
	}
	_, err := s.write.NewInsert().Model(&row).Exec(ctx)
	return wrap("store session", err)
}

// SessionByHash returns the session with the hash of a cookie, an expired one too. Error: NotFound.
func (s *Store) SessionByHash(ctx context.Context, hash string) (registry.Session, error) {
	var row sessionRow
	err := s.read.NewSelect().Model(&row).Where("s.hash = ?", hash).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return registry.Session{}, fault.New(fault.NotFound, "No such session.")
	}
	return registry.Session{
		Hash: row.Hash, Actor: actor(row.WorkspaceID, row.ActorID, row.ActorType, row.ActorName),
		CreatedAt: row.CreatedAt.UTC(), ExpiresAt: row.ExpiresAt.UTC(),
	}, wrap("read session", err)
}

// DeleteSession ends a session. One that is not there is no error.
func (s *Store) DeleteSession(ctx context.Context, hash string) error {
	_, err := s.write.NewDelete().Model((*sessionRow)(nil)).Where("s.hash = ?", hash).Exec(ctx)
	return wrap("delete session", err)
}

// SweepSessions removes sessions, login links and counts of failed logins that have expired, of all workspaces.
func (s *Store) SweepSessions(ctx context.Context, now time.Time) error {
	return s.change(ctx, "sweep sessions", func(ctx context.Context, tx bun.Tx) error {
		if _, err := tx.NewDelete().Model((*sessionRow)(nil)).Where("s.expires_at <= ?", instant(now)).Exec(ctx); err != nil {
			return err
		}
		if _, err := tx.NewDelete().Model((*linkRow)(nil)).Where("l.expires_at <= ?", instant(now)).Exec(ctx); err != nil {
			return err
		}
		_, err := tx.NewDelete().Model((*failuresRow)(nil)).Where("f.until <= ?", instant(now)).Exec(ctx)
		return err
	})
}

type sessionRow struct {
	bun.BaseModel `bun:"table:sessions,alias:s"`

	Hash        string    `bun:"hash,pk"`
	WorkspaceID string    `bun:"workspace_id"`
	ActorID     string    `bun:"actor_id"`
	ActorType   string    `bun:"actor_type"`
	ActorName   string    `bun:"actor_name"`
	CreatedAt   time.Time `bun:"created_at"`
	ExpiresAt   time.Time `bun:"expires_at"`
}
