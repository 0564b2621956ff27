package store

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// PutSession stores a browser session. It removes the actor's expired sessions. If the actor then has more than most
// sessions, it also removes the oldest ones. It returns the number of removed sessions.
func (s *Store) PutSession(ctx context.Context, session registry.Session, most int) (ended int, err error) {
	row := sessionRow{
		Hash: session.Hash, WorkspaceID: session.Actor.Workspace,
		ActorID: session.Actor.ID, ActorType: string(session.Actor.Type), ActorName: session.Actor.Name,
		Address: document([]byte(session.Device.Address)), Browser: document([]byte(session.Device.Browser)),
		CreatedAt: instant(session.CreatedAt), LastUsedAt: instantOrNil(session.LastUsed), ExpiresAt: instant(session.ExpiresAt),
	}
	err = s.change(ctx, "store session", func(ctx context.Context, tx bun.Tx) error {
		if _, err := tx.NewInsert().Model(&row).Exec(ctx); err != nil {
			return err
		}
		stay := tx.NewSelect().TableExpr("sessions AS o").Column("o.hash").Where("o.actor_type = ?", row.ActorType).Where("o.actor_id = ?", row.ActorID).
			OrderExpr("CASE WHEN o.hash = ? THEN 0 ELSE 1 END, o.created_at DESC, o.hash", row.Hash).Limit(int64(most))
		result, err := tx.NewDelete().Model((*sessionRow)(nil)).Where("s.actor_type = ?", row.ActorType).Where("s.actor_id = ?", row.ActorID).
			Where("(s.expires_at <= ? OR s.hash NOT IN (?))", row.CreatedAt, stay).Exec(ctx)
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		ended = int(n)
		return err
	})
	return ended, err
}

// SessionByHash returns the session whose cookie has a hash, even if the session has expired. Error: NotFound.
func (s *Store) SessionByHash(ctx context.Context, hash string) (registry.Session, error) {
	var row sessionRow
	err := s.read.NewSelect().Model(&row).Where("s.hash = ?", hash).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return registry.Session{}, fault.New(fault.NotFound, "Session not found.")
	}
	return row.session(), wrap("read session", err)
}

// Sessions returns the sessions of a workspace that have not expired, newest first.
func (s *Store) Sessions(ctx context.Context, workspace string, now time.Time) ([]registry.Session, error) {
	return s.sessions(ctx, now, func(q *bun.SelectQuery) *bun.SelectQuery { return q.Where("s.workspace_id = ?", workspace) })
}

// SessionsOf returns the sessions of a user that have not expired, newest first.
func (s *Store) SessionsOf(ctx context.Context, user string, now time.Time) ([]registry.Session, error) {
	return s.sessions(ctx, now, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Where("s.actor_type = ?", string(registry.UserActor)).Where("s.actor_id = ?", user)
	})
}

func (s *Store) sessions(ctx context.Context, now time.Time, which func(*bun.SelectQuery) *bun.SelectQuery) ([]registry.Session, error) {
	var rows []sessionRow
	err := which(s.read.NewSelect().Model(&rows)).Where("s.expires_at > ?", instant(now)).OrderExpr("s.created_at DESC, s.hash").Scan(ctx)
	if err != nil {
		return nil, wrap("list sessions", err)
	}
	sessions := make([]registry.Session, 0, len(rows))
	for _, row := range rows {
		sessions = append(sessions, row.session())
	}
	return sessions, nil
}

// EndSession ends a session of a workspace by its ID. Error: NotFound.
func (s *Store) EndSession(ctx context.Context, workspace, id string) error {
	return s.endSession(ctx, id, func(q *bun.DeleteQuery) *bun.DeleteQuery { return q.Where("s.workspace_id = ?", workspace) })
}

// EndSessionOf ends a session of a user by its ID. Error: NotFound.
func (s *Store) EndSessionOf(ctx context.Context, user, id string) error {
	return s.endSession(ctx, id, func(q *bun.DeleteQuery) *bun.DeleteQuery {
		return q.Where("s.actor_type = ?", string(registry.UserActor)).Where("s.actor_id = ?", user)
	})
}

func (s *Store) endSession(ctx context.Context, id string, which func(*bun.DeleteQuery) *bun.DeleteQuery) error {
	missing := fault.New(fault.NotFound, "Session %s not found.", id)
	if impossible(id) {
		return missing
	}
	result, err := which(s.write.NewDelete().Model((*sessionRow)(nil))).Where("substr(s.hash, 1, ?) = ?", registry.SessionIDLength, id).Exec(ctx)
	if err != nil {
		return wrap("end session", err)
	}
	return wrap("end session", expectRow(result, missing))
}

// TouchSessions stores the times at which sessions were last used, in one transaction. The keys are the hashes of the
// sessions.
func (s *Store) TouchSessions(ctx context.Context, uses map[string]time.Time) error {
	return s.change(ctx, "note uses of sessions", func(ctx context.Context, tx bun.Tx) error {
		for _, hash := range slices.Sorted(maps.Keys(uses)) {
			_, err := tx.NewUpdate().Model((*sessionRow)(nil)).Set("last_used_at = ?", instant(uses[hash])).Where("s.hash = ?", hash).Exec(ctx)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// DeleteSession ends a session. It returns no error if the session does not exist.
func (s *Store) DeleteSession(ctx context.Context, hash string) error {
	_, err := s.write.NewDelete().Model((*sessionRow)(nil)).Where("s.hash = ?", hash).Exec(ctx)
	return wrap("delete session", err)
}

// SweepSessions removes, in all workspaces, expired sessions, sign-in links, invitations and counts of failed sign-ins.
func (s *Store) SweepSessions(ctx context.Context, now time.Time) error {
	return s.change(ctx, "sweep sessions", func(ctx context.Context, tx bun.Tx) error {
		if _, err := tx.NewDelete().Model((*sessionRow)(nil)).Where("s.expires_at <= ?", instant(now)).Exec(ctx); err != nil {
			return err
		}
		if _, err := tx.NewDelete().Model((*linkRow)(nil)).Where("l.expires_at <= ?", instant(now)).Exec(ctx); err != nil {
			return err
		}
		if _, err := tx.NewDelete().Model((*invitationRow)(nil)).Where("i.expires_at <= ?", instant(now)).Exec(ctx); err != nil {
			return err
		}
		_, err := tx.NewDelete().Model((*failuresRow)(nil)).Where("f.until <= ?", instant(now)).Exec(ctx)
		return err
	})
}

type sessionRow struct {
	bun.BaseModel `bun:"table:sessions,alias:s"`

	Hash        string     `bun:"hash,pk"`
	WorkspaceID string     `bun:"workspace_id"`
	ActorID     string     `bun:"actor_id"`
	ActorType   string     `bun:"actor_type"`
	ActorName   string     `bun:"actor_name"`
	Address     string     `bun:"address"`
	Browser     string     `bun:"browser"`
	CreatedAt   time.Time  `bun:"created_at"`
	LastUsedAt  *time.Time `bun:"last_used_at"`
	ExpiresAt   time.Time  `bun:"expires_at"`
}

func (row sessionRow) session() registry.Session {
	return registry.Session{
		Hash: row.Hash, Actor: actor(row.WorkspaceID, row.ActorID, row.ActorType, row.ActorName),
		Device:    registry.Device{Address: row.Address, Browser: row.Browser},
		CreatedAt: row.CreatedAt.UTC(), LastUsed: instantOrNil(row.LastUsedAt), ExpiresAt: row.ExpiresAt.UTC(),
	}
}
