package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"sync/atomic"
	"time"

	"github.com/uptrace/bun"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/blobs"
)

// Exec executes a test's SQL on the writing connection.
func (s *Store) Exec(ctx context.Context, statement string, args ...any) error {
	_, err := s.write.ExecContext(ctx, statement, args...)
	return err
}

// Rollback reverts the last group of migrations and returns their number.
func (s *Store) Rollback(ctx context.Context) (int, error) {
	m, err := s.migrator()
	if err != nil {
		return 0, err
	}
	group, err := m.Rollback(ctx)
	return len(group.Migrations), err
}

// Panic makes transactions of runs panic until the returned function is called.
func (s *Store) Panic() (end func()) {
	kept := s.runs.ledger
	s.runs.ledger = panicking{}
	return func() { s.runs.ledger = kept }
}

// Transactions counts the transactions of runs from now on.
func (s *Store) Transactions() *atomic.Int64 {
	var n atomic.Int64
	s.runs.ledger = counting{s.runs.ledger, &n}
	return &n
}

// Statements counts the statements of the transactions of runs from now on, by their keys.
func (s *Store) Statements() map[string]int {
	n := map[string]int{}
	s.runs.ledger = counted{s.runs.ledger, n}
	return n
}

// counted is a ledger that counts statements. It supports only one caller at a time.
type counted struct {
	ledger
	n map[string]int
}

func (c counted) transact(ctx context.Context, apply func(exec) error) error {
	return c.ledger.transact(ctx, func(run exec) error {
		return apply(func(key string, args ...any) (int64, error) {
			c.n[key]++
			return run(key, args...)
		})
	})
}

type counting struct {
	ledger
	n *atomic.Int64
}

func (c counting) transact(ctx context.Context, apply func(exec) error) error {
	c.n.Add(1)
	return c.ledger.transact(ctx, apply)
}

// Hold stops transactions of runs before they begin until release is called. entered counts the transactions that it
// has stopped. patience is the time after which a waiting write may start another transaction.
func (s *Store) Hold(patience time.Duration) (entered *atomic.Int64, release func()) {
	h := held{ledger: s.runs.ledger, n: new(atomic.Int64), released: make(chan struct{})}
	s.runs.ledger, s.runs.patience = h, patience
	return h.n, func() { close(h.released) }
}

type held struct {
	ledger
	n        *atomic.Int64
	released chan struct{}
}

func (h held) transact(ctx context.Context, apply func(exec) error) error {
	h.n.Add(1)
	<-h.released
	return h.ledger.transact(ctx, apply)
}

type panicking struct{}

func (panicking) transact(context.Context, func(exec) error) error { panic("on purpose") }

func (panicking) close() error { return nil }

// HoldWriter reserves SQLite's only writing connection until release is called.
func (s *Store) HoldWriter(ctx context.Context) (release func() error, err error) {
	conn, err := s.write.DB.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return conn.Close, nil
}

// Exclusively calls do while the database is locked against writes of other processes.
func (s *Store) Exclusively(ctx context.Context, do func() error) error {
	tx, err := s.write.BeginTx(ctx, nil) // an immediate transaction
	if err != nil {
		return err
	}
	return errors.Join(do(), tx.Rollback())
}

// Deep is the number of waiting writes from which another transaction may run at the same time.
const Deep = deep

// Waiting returns how many writes of runs wait for the committing caller.
func (s *Store) Waiting() int {
	s.runs.mu.Lock()
	defer s.runs.mu.Unlock()
	return len(s.runs.queue)
}

// LoseWriter closes SQLite's writing connection, as a failure would.
func (s *Store) LoseWriter(ctx context.Context) error {
	conn, err := s.write.DB.Conn(ctx)
	if err != nil {
		return err
	}
	if err := conn.Raw(func(any) error { return driver.ErrBadConn }); !errors.Is(err, driver.ErrBadConn) {
		return err
	}
	return nil
}

// Tables lists the tables of the schema, without the migrator's own.
func (s *Store) Tables(ctx context.Context) ([]string, error) {
	catalogue := "SELECT name FROM sqlite_master WHERE type = 'table'"
	if s.dialect == postgresDialect {
		catalogue = "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'"
	}
	var names []string
	err := s.write.NewRaw("SELECT name FROM ("+catalogue+") AS t WHERE name NOT LIKE 'bun_%' AND name NOT LIKE 'sqlite_%' ORDER BY name").Scan(ctx, &names)
	return names, err
}

// EmptyTables lists the tables that have no rows.
func (s *Store) EmptyTables(ctx context.Context) ([]string, error) {
	names, err := s.Tables(ctx)
	if err != nil {
		return nil, err
	}
	var empty []string
	for _, name := range names {
		some, err := s.write.NewSelect().TableExpr("?", bun.Ident(name)).Exists(ctx)
		if err != nil {
			return nil, err
		}
		if !some {
			empty = append(empty, name)
		}
	}
	return empty, nil
}

// Value returns the single value of a query on the writing connection.
func (s *Store) Value(ctx context.Context, query string) (string, error) {
	var value string
	err := s.write.DB.QueryRowContext(ctx, query).Scan(&value)
	return value, err
}

// Asked returns the queries that ask sends to the database.
func (s *Store) Asked(ask func(s *Store)) []string {
	var heard listener
	watched := &Store{dialect: s.dialect, blobs: s.blobs, now: s.now, log: s.log, runs: s.runs, orphans: s.orphans, probe: s.probe}
	watched.identity.Store(s.identity.Load())
	watched.read, watched.write = s.read.WithQueryHook(&heard), s.write.WithQueryHook(&heard)
	ask(watched)
	return heard.queries
}

type listener struct{ queries []string }

func (l *listener) BeforeQuery(ctx context.Context, _ *bun.QueryEvent) context.Context { return ctx }

func (l *listener) AfterQuery(_ context.Context, e *bun.QueryEvent) {
	if e.Query == "BEGIN" || e.Query == "COMMIT" { // they have no plan
		return
	}
	l.queries = append(l.queries, e.Query)
}

// Plan returns the steps of the database's plan for a query.
func (s *Store) Plan(ctx context.Context, query string) (steps []string, err error) {
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, tx.Rollback()) }()
	if s.dialect == postgresDialect {
		if _, err := tx.ExecContext(ctx, "SET LOCAL enable_seqscan = off"); err != nil {
			return nil, err
		}
		return steps, tx.NewRaw("EXPLAIN "+query).Scan(ctx, &steps)
	}
	var rows []struct {
		ID, Parent, Notused int
		Detail              string
	}
	err = tx.NewRaw("EXPLAIN QUERY PLAN "+query).Scan(ctx, &rows)
	for _, row := range rows {
		steps = append(steps, row.Detail)
	}
	return steps, err
}

// UnusedBlobs returns the blobs that no version has.
func (s *Store) UnusedBlobs(ctx context.Context, all []blobs.Stored) ([]blobs.Stored, error) {
	return s.unusedBlobs(ctx, all)
}

// Check checks the lock of an exclusive store.
func (s *Store) Check(ctx context.Context) { s.check(ctx) }

// DropLock ends the connection with PostgreSQL's lock and waits until the lock is free.
func (s *Store) DropLock(ctx context.Context) error {
	if _, err := s.exclusive.conn.Exec(ctx, "SELECT "+s.exclusive.function("pg_advisory_unlock")+"($1)", int64(serverLock)); err != nil {
		return err
	}
	return s.exclusive.conn.Close(ctx)
}

// OneConnection makes PostgreSQL execute every statement in the same session, so that a test can change its settings.
func (s *Store) OneConnection() { s.write.SetMaxOpenConns(1) }

// StopWatch ends the regular checks of an exclusive store.
func (s *Store) StopWatch() { s.stopWatch() }

// ProbeIsAsked reports whether an immediate check was requested.
func (s *Store) ProbeIsAsked() bool { return len(s.probe.wake) > 0 }

// SetNotice sets the function that makes webhooks.
func (s *Store) SetNotice(notice registry.Notice) { s.notice = notice }

// WithdrawOrphans exports withdrawOrphans, a step of Settle.
func (s *Store) WithdrawOrphans(ctx context.Context, at time.Time) (int, error) {
	return s.withdrawOrphans(ctx, at)
}

// LimitArrears replaces the limits of records that wait for the database.
func (s *Store) LimitArrears(memory, bytes int64, count int) {
	s.arrears.mu.Lock()
	defer s.arrears.mu.Unlock()
	s.arrears.limits = arrearsLimits{memory: memory, bytes: bytes, count: count}
}

// Attend checks the other servers now, even if the last check was recent.
func (s *Store) Attend(ctx context.Context) error {
	s.member.mu.Lock()
	s.member.looked, s.member.settled = time.Time{}, time.Time{}
	s.member.mu.Unlock()
	return s.attend(ctx)
}

// AgeMembership makes it appear that the server has renewed its lease in time for an hour longer.
func (s *Store) AgeMembership() {
	s.member.mu.Lock()
	defer s.member.mu.Unlock()
	s.member.steady = s.member.steady.Add(-time.Hour)
}

// AgeRenewal sets the time of the last renewal of the server's lease to that long ago.
func (s *Store) AgeRenewal(age time.Duration) {
	s.member.mu.Lock()
	defer s.member.mu.Unlock()
	s.member.renewed = time.Now().Add(-age)
}

// BusyProbe makes checks wait until the returned function is called.
func (s *Store) BusyProbe() (end func()) {
	s.probe.checking.Lock()
	return s.probe.checking.Unlock
}

// KeepLease renews the lease if the probe has not renewed it in time.
func (s *Store) KeepLease(ctx context.Context) { s.keepOnce(ctx) }

// LetProbeBeDue makes the next check write to the database.
func (s *Store) LetProbeBeDue() { s.probe.written = time.Time{} }
