package store

import (
	"context"
	"database/sql/driver"
	"errors"

	"modernc.org/sqlite"
)

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
	return &writingConn{sqliteConn: full, refuse: c.refuse}, nil
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

// writingConn is a writing connection. It refuses transactions and statements that would only wait.
type writingConn struct {
	sqliteConn
	refuse func(context.Context) error
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
