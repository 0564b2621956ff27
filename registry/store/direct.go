package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	"modernc.org/sqlite"
)

// direct runs the run path's transactions directly on SQLite's writing connection. It is faster than database/sql,
// which starts a goroutine for each transaction that waits for its end and is woken twice without need. Its statements
// also repeat locking and copying that the driver already does.
type direct struct {
	db   *sql.DB
	text map[string]string
}

// errNotBegun reports that the database accepts no transaction, because another process holds it or it cannot be
// written.
var errNotBegun = errors.New("no transaction could begin")

// These statements begin and end a transaction.
const (
	undo     = "undo"
	begin    = "begin"
	commit   = "commit"
	rollback = "rollback"
)

func newDirect(db *sql.DB, text map[string]string) *direct {
	text[undo] = "PRAGMA temp_store = MEMORY"
	text[begin], text[commit], text[rollback] = "BEGIN IMMEDIATE", "COMMIT", "ROLLBACK"
	return &direct{db: db, text: text}
}

// transact implements ledger.
func (d *direct) transact(ctx context.Context, apply func(exec) error) error {
	conn, err := d.db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", errNotBegun, err)
	}
	defer conn.Close() // returns the connection to the pool
	return conn.Raw(func(raw any) error {
		own, ok := raw.(*writingConn)
		if !ok {
			return errors.New("the writing connection is another driver's")
		}
		return d.on(ctx, own, apply)
	})
}

func (d *direct) on(ctx context.Context, conn *writingConn, apply func(exec) error) error {
	if err := conn.refuse(ctx); err != nil {
		return fmt.Errorf("%w: %w", errNotBegun, err)
	}
	run := func(key string, args ...any) (int64, error) { return conn.run(ctx, key, d.text[key], args) }
	if conn.prepared[begin] == nil {
		// The undo log of a statement with many runs has a few pages. SQLite would create, write and delete a file for
		// it each time, so it is kept in memory. Migrations run before this setting, so that an index over all runs is
		// not sorted in memory.
		if _, err := run(undo); err != nil {
			return fmt.Errorf("%w: %w", errNotBegun, err)
		}
	}
	if _, err := run(begin); err != nil {
		return fmt.Errorf("%w: %w", errNotBegun, err)
	}
	err := apply(run)
	if err == nil {
		_, err = run(commit)
	}
	if err == nil {
		return nil
	}
	if _, undone := run(rollback); undone != nil {
		return errors.Join(err, driver.ErrBadConn) // a new connection has no open transaction, even if the rollback failed
	}
	return err
}

// close implements ledger. The statements are closed with their connection.
func (d *direct) close() error { return nil }

// writingConnector opens writing connections.
type writingConnector struct {
	driver.Connector
	refuse func(context.Context) error // returns why a statement would only wait, nil if it would not
}

// Connect implements driver.Connector.
func (c writingConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	full, ok := conn.(sqliteConn)
	if !ok {
		return nil, errors.Join(errors.New("the driver of SQLite lacks a method"), conn.Close())
	}
	// The log and its index stay when the database is closed, because a server that starts on a full disk could not
	// create them, and could then not even read.
	if _, err := full.FileControlPersistWAL("main", 1); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return &writingConn{sqliteConn: full, refuse: c.refuse, prepared: map[string]runStatement{}}, nil
}

// sqliteConn is the interface of SQLite's driver that database/sql uses.
type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
	sqlite.FileControl
}

type runStatement interface {
	driver.Stmt
	driver.StmtExecContext
}

// writingConn is a connection with prepared statements that stay open as long as the connection. database/sql lets one
// goroutine use it at a time.
type writingConn struct {
	sqliteConn
	refuse   func(context.Context) error
	prepared map[string]runStatement
	named    []driver.NamedValue // reused arguments of one statement
}

func (c *writingConn) run(ctx context.Context, key, text string, args []any) (int64, error) {
	statement := c.prepared[key]
	if statement == nil {
		made, err := c.PrepareContext(ctx, text)
		if err != nil {
			return 0, err
		}
		var ok bool
		if statement, ok = made.(runStatement); !ok {
			return 0, errors.Join(errors.New("the driver of SQLite lacks a method of statements"), made.Close())
		}
		c.prepared[key] = statement
	}
	c.named = c.named[:0]
	for i, arg := range args {
		value, err := driver.DefaultParameterConverter.ConvertValue(arg)
		if err != nil {
			return 0, err
		}
		c.named = append(c.named, driver.NamedValue{Ordinal: i + 1, Value: value})
	}
	result, err := statement.ExecContext(ctx, c.named)
	clear(c.named)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// BeginTx implements driver.ConnBeginTx.
func (c *writingConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	if err := c.refuse(ctx); err != nil {
		return nil, err
	}
	return c.sqliteConn.BeginTx(ctx, o)
}

// ExecContext implements driver.ExecerContext.
func (c *writingConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if err := c.refuse(ctx); err != nil {
		return nil, err
	}
	return c.sqliteConn.ExecContext(ctx, query, args)
}

// QueryContext implements driver.QueryerContext.
func (c *writingConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if err := c.refuse(ctx); err != nil {
		return nil, err
	}
	return c.sqliteConn.QueryContext(ctx, query, args)
}

// Close implements driver.Conn.
func (c *writingConn) Close() error {
	var errs []error
	for _, statement := range c.prepared {
		errs = append(errs, statement.Close())
	}
	clear(c.prepared)
	return errors.Join(append(errs, c.sqliteConn.Close())...)
}
