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

// ReserveKey claims a key for a request. Nil means that the caller has the key and must complete or release it.
// Otherwise it returns the existing key, with the response if there is one. An expired key counts as free.
func (s *Store) ReserveKey(ctx context.Context, k registry.IdempotencyKey) (*registry.IdempotencyKey, error) {
	if err := registry.CheckText("/Idempotency-Key", k.Key); err != nil {
		return nil, err
	}
	for {
		reserved, err := s.reserve(ctx, k)
		if err != nil || reserved {
			return nil, wrap("reserve idempotency key", err)
		}
		var row keyRow
		// The writing connection sees the row that caused the conflict. If the row was removed meanwhile, the key is
		// free again.
		err = s.write.NewSelect().Model(&row).Where("k.owner = ?", k.Owner).Where("k.key = ?", k.Key).Scan(ctx)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return nil, wrap("read idempotency key", err)
		}
		return row.idempotencyKey(), nil
	}
}

func (s *Store) reserve(ctx context.Context, k registry.IdempotencyKey) (bool, error) {
	row := keyRow{Owner: k.Owner, Key: k.Key, WorkspaceID: k.Workspace, BodyHash: k.BodyHash, ExpiresAt: instant(k.ExpiresAt)}
	by := s.identity.Load()
	row.ServerID, row.Epoch = by.server, by.epoch
	result, err := s.write.NewInsert().Model(&row).On("CONFLICT (owner, key) DO UPDATE").
		Set("workspace_id = excluded.workspace_id").Set("body_hash = excluded.body_hash").
		Set("status = 0").Set("body = NULL").Set("expires_at = excluded.expires_at").
		Set("server_id = excluded.server_id").Set("epoch = excluded.epoch").Set("made_kind = ''").Set("made_id = ''").
		Where("k.expires_at <= ?", instant(s.now())).Exec(ctx)
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n == 1, err
}

// CompleteKey stores the response to the request of this server that holds a key. Errors: NotFound if no request holds it;
// StorageUnavailable if a request of another server does, because that server took over.
func (s *Store) CompleteKey(ctx context.Context, owner, key string, status int, body []byte) error {
	if body == nil {
		body = []byte{}
	}
	by := s.identity.Load()
	result, err := s.write.NewUpdate().Model((*keyRow)(nil)).Set("status = ?", status).Set("body = ?", body).
		Where("k.owner = ?", owner).Where("k.key = ?", key).Where("k.server_id = ?", by.server).Where("k.epoch = ?", by.epoch).Exec(ctx)
	if err != nil {
		return wrap("complete idempotency key", err)
	}
	none := errors.New("none")
	if err := expectRow(result, none); !errors.Is(err, none) {
		return wrap("complete idempotency key", err)
	}
	taken, err := s.write.NewSelect().Model((*keyRow)(nil)).Where("k.owner = ?", owner).Where("k.key = ?", key).Exists(ctx)
	switch {
	case err != nil:
		return wrap("complete idempotency key", err)
	case taken:
		return keyTaken()
	}
	return fault.New(fault.NotFound, "Idempotency key not found.")
}

// ReleaseKey removes the key of a request of this server that created nothing, so that the request can be repeated. A
// completed key stays, and one that another server reserved meanwhile.
func (s *Store) ReleaseKey(ctx context.Context, owner, key string) error {
	by := s.identity.Load()
	_, err := s.write.NewDelete().Model((*keyRow)(nil)).Where("k.owner = ?", owner).Where("k.key = ?", key).
		Where("k.server_id = ?", by.server).Where("k.epoch = ?", by.epoch).Where("k.status = 0").Where("k.made_id = ''").Exec(ctx)
	return wrap("release idempotency key", err)
}

// ReleaseKeys removes the keys, in all workspaces, of requests that created nothing before their server ended, and
// returns their number. The key of a request that created something stays, so that a repeated request gets the result.
func (s *Store) ReleaseKeys(ctx context.Context) (int, error) {
	return s.deleteKeys(ctx, "k.status = 0 AND k.made_id = '' AND NOT "+atWork("k"))
}

// markKey records in the key of a request, if ctx has one, what the request creates in this transaction. The key must
// still belong to this server. Otherwise another server took over the database and may serve the same request.
func (s *Store) markKey(ctx context.Context, tx bun.Tx, made registry.Made) error {
	ref, ok := registry.KeyOf(ctx)
	if !ok {
		return nil
	}
	by := s.identity.Load()
	result, err := tx.NewUpdate().Model((*keyRow)(nil)).Set("made_kind = ?", string(made.Kind)).Set("made_id = ?", made.ID).
		Where("k.owner = ?", ref.Owner).Where("k.key = ?", ref.Key).Where("k.status = 0").
		Where("k.server_id = ?", by.server).Where("k.epoch = ?", by.epoch).Exec(ctx)
	if err != nil {
		return err
	}
	return expectRow(result, keyTaken())
}

// keyTaken returns the error for a request whose idempotency key another server has released.
func keyTaken() error {
	return fault.New(fault.StorageUnavailable, "Another server took over the database while the request was in progress.")
}

// SweepKeys removes expired keys in all workspaces and returns their number.
func (s *Store) SweepKeys(ctx context.Context, now time.Time) (int, error) {
	return s.deleteKeys(ctx, "k.expires_at <= ?", instant(now))
}

func (s *Store) deleteKeys(ctx context.Context, condition string, args ...any) (int, error) {
	result, err := s.write.NewDelete().Model((*keyRow)(nil)).Where(condition, args...).Exec(ctx)
	if err != nil {
		return 0, wrap("delete idempotency keys", err)
	}
	n, err := result.RowsAffected()
	return int(n), wrap("delete idempotency keys", err)
}

type keyRow struct {
	bun.BaseModel `bun:"table:idempotency_keys,alias:k"`

	Owner       string    `bun:"owner,pk"`
	Key         string    `bun:"key,pk"`
	WorkspaceID string    `bun:"workspace_id"`
	BodyHash    string    `bun:"body_hash"`
	Status      int       `bun:"status"`
	ExpiresAt   time.Time `bun:"expires_at"`
	ServerID    string    `bun:"server_id"`
	Epoch       int64     `bun:"epoch"`
	MadeKind    string    `bun:"made_kind"`
	MadeID      string    `bun:"made_id"`
	Body        []byte    `bun:"body"`
}

func (row keyRow) idempotencyKey() *registry.IdempotencyKey {
	k := &registry.IdempotencyKey{
		Workspace: row.WorkspaceID, Owner: row.Owner, Key: row.Key, BodyHash: row.BodyHash, Status: row.Status, ExpiresAt: row.ExpiresAt.UTC(),
		Made: registry.Made{Kind: registry.MadeKind(row.MadeKind), ID: row.MadeID},
	}
	if row.Status != 0 {
		k.Body = append([]byte{}, row.Body...)
	}
	return k
}
