package store

import (
	"context"
	"time"

	"github.com/uptrace/bun"
)

// identity identifies the server that writes with a store. The epoch is a fencing token: each server that registers
// gets a higher epoch than all servers before. A server cannot write rows that contain another server or epoch.
type identity struct {
	server string
	epoch  int64
}

// Settled holds the numbers of runs, idempotency keys and requests for approval that Settle ended because their servers
// no longer exist.
type Settled struct{ Runs, Keys, Approvals int }

// Settle registers this server as the owner of the database and cleans up after earlier servers. It interrupts their
// unfinished runs and releases their unfinished idempotency keys. It withdraws requests for approval whose runs were
// never recorded. A server calls Settle when it starts. If the database cannot be written, the store refuses runs and
// repeats Settle until it succeeds.
func (s *Store) Settle(ctx context.Context) (done Settled, err error) {
	defer func() { s.probe.unsettled.Store(err != nil) }()
	if err := s.register(ctx); err != nil {
		return done, err
	}
	if err := s.payArrears(ctx); err != nil { // without this step, settle would mark the runs of the waiting records as interrupted
		return done, err
	}
	if done, err = s.settle(ctx); err != nil {
		return done, err
	}
	return done, s.attend(ctx)
}

func (s *Store) settle(ctx context.Context) (done Settled, err error) {
	if done.Runs, err = s.InterruptRuns(ctx, s.now()); err != nil {
		return done, err
	}
	if done.Approvals, err = s.withdrawOrphans(ctx, s.now()); err != nil {
		return done, err
	}
	if done.Keys, err = s.ReleaseKeys(ctx); err != nil || s.member == nil {
		return done, err
	}
	return done, s.dropShares(ctx)
}

// register gives this server a new epoch. A server that does not share the database removes the rows of all other
// servers. A member of a group only removes the row of an earlier process with the same data directory. That process
// has ended, because this process holds the lock of the directory.
func (s *Store) register(ctx context.Context) error {
	now := *s.identity.Load()
	err := s.change(ctx, "register server", func(ctx context.Context, tx bun.Tx) error {
		if s.member != nil {
			return s.join(ctx, tx, &now)
		}
		var last int64
		if err := tx.NewSelect().Model((*serverRow)(nil)).ColumnExpr("COALESCE(MAX(s.epoch), 0)").Scan(ctx, &last); err != nil {
			return err
		}
		if _, err := tx.NewDelete().Model((*serverRow)(nil)).Where("TRUE").Exec(ctx); err != nil {
			return err
		}
		now.epoch = last + 1
		_, err := tx.NewInsert().Model(&serverRow{ID: now.server, Epoch: now.epoch, StartedAt: instant(s.now()), SeenAt: instant(s.now())}).Exec(ctx)
		return err
	})
	if err == nil {
		s.identity.Store(&now)
	}
	return err
}

// registered reports whether this server's epoch is still in the database. If it is, no other server has taken over the
// database.
func (s *Store) registered(ctx context.Context) (bool, error) {
	now := s.identity.Load()
	found, err := s.write.NewSelect().Model((*serverRow)(nil)).Where("s.id = ?", now.server).Where("s.epoch = ?", now.epoch).Exists(ctx)
	return found, wrap("read servers", err)
}

// atWork returns the SQL condition that the server and epoch in a row of an aliased table are still registered. Then
// that server still works on the row.
func atWork(alias string) string {
	return "EXISTS (SELECT 1 FROM servers AS s WHERE s.id = " + alias + ".server_id AND s.epoch = " + alias + ".epoch)"
}

type serverRow struct {
	bun.BaseModel `bun:"table:servers,alias:s"`

	ID         string     `bun:"id,pk"`
	Epoch      int64      `bun:"epoch"`
	StartedAt  time.Time  `bun:"started_at"`
	SeenAt     time.Time  `bun:"seen_at"` // time of the last test write
	Address    string     `bun:"address"`
	LeaseUntil *time.Time `bun:"lease_until"`
}
