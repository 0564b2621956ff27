package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// pipeline runs shared transactions on PostgreSQL. It sends the statements of a transaction together, so that they need
// one round trip. It assumes that they write the usual number of rows, and reads the numbers before the commit. If one
// is different, it rolls the transaction back and runs it again with one round trip for each statement.
type pipeline struct{ *statements }

// queued is a statement of a transaction.
type queued struct {
	key  string
	args []any
}

// transact runs apply in a transaction. It implements ledger.
func (p pipeline) transact(ctx context.Context, apply func(exec) error) error {
	var all []queued
	err := apply(func(key string, args ...any) (int64, error) {
		all = append(all, queued{key, args})
		return usualRows(key), nil
	})
	if err != nil || len(all) == 0 {
		return err
	}
	if err := p.send(ctx, all); !errors.Is(err, errUnusual) {
		return err
	}
	return p.statements.transact(ctx, apply)
}

// usualRows returns the number of rows that a statement usually writes.
func usualRows(key string) int64 {
	n, err := strconv.ParseInt(key[strings.LastIndexByte(key, ' ')+1:], 10, 64)
	if err != nil {
		return 1
	}
	return n
}

// errUnusual reports that a statement wrote fewer rows than usual.
var errUnusual = errors.New("a statement wrote another number of rows than usual")

// send runs statements in a transaction and commits it.
func (p pipeline) send(ctx context.Context, all []queued) error {
	conn, err := p.db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", errNotBegun, err)
	}
	defer func() { _ = conn.Close() }() // returns the connection to the pool; an error only means that it is broken
	return conn.Raw(func(own any) error {
		c := own.(*stdlib.Conn).Conn()
		if c.IsClosed() {
			return fmt.Errorf("%w: %w", errNotBegun, driver.ErrBadConn)
		}
		if err := p.write(ctx, c, all); err != nil {
			if _, failed := c.Exec(ctx, "rollback"); failed != nil {
				_ = c.Close(ctx) // the server rolls the transaction back
			}
			return err
		}
		tag, err := c.Exec(ctx, "commit")
		if err == nil && tag.String() != "COMMIT" {
			err = pgx.ErrTxCommitRollback
		}
		return err
	})
}

// write begins a transaction and runs statements in it.
func (p pipeline) write(ctx context.Context, c *pgx.Conn, all []queued) error {
	var batch pgx.Batch
	batch.Queue("begin")
	for _, one := range all {
		if _, err := c.Prepare(ctx, p.text[one.key], p.text[one.key]); err != nil { // has no effect if the connection has prepared it before
			return fmt.Errorf("%w: %w", errNotBegun, err)
		}
		batch.Queue(p.text[one.key], one.args...)
	}
	results := c.SendBatch(ctx, &batch)
	_, err := results.Exec()
	if outageOf(err) != "" {
		err = fmt.Errorf("%w: %w", errNotBegun, err)
	}
	for _, one := range all {
		if err != nil {
			break
		}
		tag, failed := results.Exec()
		if err = failed; err == nil && mustMatch(one.key) && tag.RowsAffected() != usualRows(one.key) {
			err = errUnusual
		}
	}
	if closed := results.Close(); err == nil {
		err = closed
	}
	return err
}

// mustMatch reports whether a statement must write the usual number of rows.
func mustMatch(key string) bool {
	return key == findOwn || key == markKey || strings.HasPrefix(key, putRuns) || strings.HasPrefix(key, reserveKeys)
}
