package store

import (
	"context"
	"time"

	"github.com/uptrace/bun"
)

// identity names the server that writes with a store. The epoch is its fencing token: a server that takes the database gets
// a higher one than every server before it, and a row that names another server or epoch cannot be written.
type identity struct {
	server string
	epoch  int64
}

// Settled counts the work of earlier servers that Settle ended.
type Settled struct{ Runs, Keys int }

// Settle registers this server as the one that has the database and ends the work of servers that have it no longer: their
// unfinished runs are interrupted, and their unfinished idempotency keys are released. A server calls it when it starts.
func (s *Store) Settle(ctx context.Context) (Settled, error) {
	if err := s.register(ctx); err != nil {
		return Settled{}, err
	}
	return s.settle(ctx)
}

func (s *Store) settle(ctx context.Context) (done Settled, err error) {
	if done.Runs, err = s.InterruptRuns(ctx, s.now()); err != nil {
		return done, err
	}
	done.Keys, err = s.ReleaseKeys(ctx)
	return done, err
}

// register gives this server a new epoch and removes the others: who has the database for itself is the only one.
func (s *Store) register(ctx context.Context) error {
	now := *s.identity.Load()
	err := s.change(ctx, "register server", func(ctx context.Context, tx bun.Tx) error {
		var last int64
		if err := tx.NewSelect().Model((*serverRow)(nil)).ColumnExpr("COALESCE(MAX(s.epoch), 0)").Scan(ctx, &last); err != nil {
			return err
		}
		if _, err := tx.NewDelete().Model((*serverRow)(nil)).Where("TRUE").Exec(ctx); err != nil {
			return err
		}
		now.epoch = last + 1
		_, err := tx.NewInsert().Model(&serverRow{ID: now.server, Epoch: now.epoch, StartedAt: instant(s.now())}).Exec(ctx)
		return err
	})
	if err == nil {
		s.identity.Store(&now)
	}
	return err
}

// registered reports whether this server's epoch is still the one in the database: no other server took it meanwhile.
func (s *Store) registered(ctx context.Context) (bool, error) {
	now := s.identity.Load()
	found, err := s.write.NewSelect().Model((*serverRow)(nil)).Where("s.id = ?", now.server).Where("s.epoch = ?", now.epoch).Exists(ctx)
	return found, wrap("read servers", err)
}

// atWork is a condition on a table with an alias: the server that its rows name has the database.
func atWork(alias string) string {
	return "EXISTS (SELECT 1 FROM servers AS s WHERE s.id = " + alias + ".server_id AND s.epoch = " + alias + ".epoch)"
}

type serverRow struct {
	bun.BaseModel `bun:"table:servers,alias:s"`

	ID        string    `bun:"id,pk"`
	Epoch     int64     `bun:"epoch"`
	StartedAt time.Time `bun:"started_at"`
}
