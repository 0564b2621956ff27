package store

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"time"

	"github.com/uptrace/bun"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// ReserveKey reserves a key for a request. If it returns nil, the request has the key and must complete or release it.
// Otherwise it returns the existing key, with the stored response if there is one. An expired key counts as free.
func (s *Store) ReserveKey(ctx context.Context, k registry.IdempotencyKey) (*registry.IdempotencyKey, error) {
	if err := registry.CheckText("/Idempotency-Key", k.Key); err != nil {
		return nil, err
	}
	ref := registry.KeyRef{Owner: k.Owner, Key: k.Key}
	orphan, leave, err := s.orphans.enter(ctx, ref)
	if err != nil {
		return nil, err
	}
	defer leave()
	if orphan {
		if err := s.adopt(ctx, ref); err != nil {
			return nil, err
		}
	}
	// If a key in a shared transaction is taken, the transaction must be split into single ones. So a key of a repeated
	// request is detected first.
	if existing, err := s.FindKey(ctx, k.Owner, k.Key); existing != nil || err != nil {
		return existing, err
	}
	for {
		reserved, err := s.reserve(k)
		if err != nil {
			s.orphans.add(ref) // the database may have stored the key despite the error
		}
		if err != nil || reserved {
			return nil, wrap("reserve idempotency key", err)
		}
		var row keyRow
		// The writing connection sees the row that caused the conflict. If the row no longer exists, the key is free again.
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

// FindKey returns a key that has not expired, or nil if there is none.
func (s *Store) FindKey(ctx context.Context, owner, key string) (*registry.IdempotencyKey, error) {
	if err := registry.CheckText("/Idempotency-Key", key); err != nil {
		return nil, err
	}
	var row keyRow
	err := s.read.NewSelect().Model(&row).ColumnExpr("k.*").ColumnExpr("NOT "+atWork("k")+" AS ended").Where("k.owner = ?", owner).Where("k.key = ?", key).Where("k.expires_at > ?", instant(s.now())).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil //nolint:nilnil // the key is free
	}
	if err != nil {
		return nil, wrap("read idempotency key", err)
	}
	return row.idempotencyKey(), nil
}

// reserve reserves a key, and reports whether the key was free. It shares a transaction with concurrent runs and
// reservations, and so shares the cost of a sync of the disk.
func (s *Store) reserve(k registry.IdempotencyKey) (bool, error) {
	by := *s.identity.Load()
	w := &write{workspace: k.Workspace, by: by, bytes: len(k.Key) + len(k.BodyHash), reservation: s.reservationOf(k, by)}
	if err := s.runs.commit(w); err != nil {
		return false, err
	}
	return !w.reservation.taken, nil
}

// reservationOf returns the reservation of a key as a part of a write.
func (s *Store) reservationOf(k registry.IdempotencyKey, by identity) *reservation {
	return &reservation{
		key: registry.KeyRef{Owner: k.Owner, Key: k.Key},
		row: []any{k.Owner, k.Key, k.Workspace, k.BodyHash, 0, string(k.Made.Kind), k.Made.ID, by.server, by.epoch, instant(k.ExpiresAt)},
		now: instant(s.now()),
	}
}

// reservation is the part of a write that reserves an idempotency key.
type reservation struct {
	key   registry.KeyRef
	row   []any // values in the order of keyColumns
	now   time.Time
	taken bool // another request has reserved the key
}

var keyColumns = []string{"owner", "key", "workspace_id", "body_hash", "status", "made_kind", "made_id", "server_id", "epoch", "expires_at"}

// reserveKeys reserves the keys of all writes in the transaction.
func (b *batch) reserveKeys() error {
	var rows []*reservation
	seen := map[registry.KeyRef]struct{}{}
	for _, w := range b.writes {
		if w.reservation == nil {
			continue
		}
		if _, twice := seen[w.reservation.key]; twice {
			return errApart
		}
		seen[w.reservation.key] = struct{}{}
		rows = append(rows, w.reservation)
	}
	for _, size := range runChunks {
		for len(rows) >= size {
			args := make([]any, 0, size*len(keyColumns)+1)
			for _, r := range rows[:size] {
				args = append(args, r.row...)
			}
			reserved, err := b.exec(reserveKeys+strconv.Itoa(size), append(args, rows[0].now)...)
			if err != nil {
				return err
			}
			if reserved < int64(size) && len(b.writes) > 1 {
				return errApart
			}
			if reserved == 0 && b.writes[0].row != nil {
				return registry.ErrKeyReserved
			}
			rows[0].taken = reserved == 0
			rows = rows[size:]
		}
	}
	return nil
}

// CompleteKey stores the response to the request that reserved a key. Errors: NotFound if the key is not reserved;
// StorageUnavailable if another server has taken over the reservation.
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

// ReleaseKey removes the key of a request of this server that created no resource, so that the client can repeat the
// request. It does not remove a completed key, or a key that another server has reserved in the meantime.
func (s *Store) ReleaseKey(ctx context.Context, owner, key string) error {
	by := s.identity.Load()
	_, err := s.write.NewDelete().Model((*keyRow)(nil)).Where("k.owner = ?", owner).Where("k.key = ?", key).
		Where("k.server_id = ?", by.server).Where("k.epoch = ?", by.epoch).Where("k.status = 0").Where("k.made_id = ''").Exec(ctx)
	if err != nil {
		s.orphans.add(registry.KeyRef{Owner: owner, Key: key})
	}
	return wrap("release idempotency key", err)
}

// ReleaseKeys removes keys, in all workspaces, of requests whose server has ended, and returns their number. It keeps
// the key of a request that created a resource, so that a repeated request finds the resource.
func (s *Store) ReleaseKeys(ctx context.Context) (int, error) {
	return s.deleteKeys(ctx, "k.status = 0 AND k.made_id = '' AND NOT "+atWork("k"))
}

// markKey stores the kind and the ID of the resource that this transaction creates, with the idempotency key in ctx.
// Without a key in ctx, it does nothing. The key must still belong to this server. If it does not, another server has
// taken over the database and may process the same request.
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

// keyTaken returns the error for a request whose idempotency key was released by another server.
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
	Ended       bool      `bun:"ended,scanonly"`
}

func (row keyRow) idempotencyKey() *registry.IdempotencyKey {
	k := &registry.IdempotencyKey{
		Workspace: row.WorkspaceID, Owner: row.Owner, Key: row.Key, BodyHash: row.BodyHash, Status: row.Status, ExpiresAt: row.ExpiresAt.UTC(),
		Made: registry.Made{Kind: registry.MadeKind(row.MadeKind), ID: row.MadeID}, Server: row.ServerID, Ended: row.Ended,
	}
	if row.Status != 0 {
		k.Body = append([]byte{}, row.Body...)
	}
	return k
}
