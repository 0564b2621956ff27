package store

import (
	"context"
	"database/sql/driver"
	"errors"

	"modernc.org/sqlite"
)

// writingConnector opens SQLite's writing connection.
type writingConnector struct {
	driver.Connector
	refuse  func(context.Context) error  // returns an error while every statement would only wait for a lock
	noticed func(context.Context, error) // receives the errors of the database while the connection is still in use
}

// Connect implements driver.Connector.
func (c writingConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	full, ok := conn.(sqliteConn)
	if !ok {
		return nil, errors.Join(errors.New("the SQLite driver does not implement every method of sqliteConn"), conn.Close())
	}
	// SQLite keeps the log and its index when the database is closed. A server that starts on a full disk could not create
	// them, and without them it could not even read the database.
	if _, err := full.FileControlPersistWAL("main", 1); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return &writingConn{sqliteConn: full, refuse: c.refuse, noticed: c.noticed}, nil
}

// sqliteConn contains the methods of the SQLite driver's connections that database/sql uses.
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

// writingConn is the writing connection of SQLite. It rejects transactions and statements while they would only wait
// for a lock.
type writingConn struct {
	sqliteConn
	refuse  func(context.Context) error
	noticed func(context.Context, error)
}

// BeginTx implements driver.ConnBeginTx.
func (c *writingConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	if err := c.refuse(ctx); err != nil {
		return nil, err
	}
	tx, err := c.sqliteConn.BeginTx(ctx, o)
	c.noticed(ctx, err)
	return tx, err
}

// ExecContext implements driver.ExecerContext.
func (c *writingConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if err := c.refuse(ctx); err != nil {
		return nil, err
	}
	result, err := c.sqliteConn.ExecContext(ctx, query, args)
	c.noticed(ctx, err)
	return result, err
}

// QueryContext implements driver.QueryerContext.
func (c *writingConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if err := c.refuse(ctx); err != nil {
		return nil, err
	}
	rows, err := c.sqliteConn.QueryContext(ctx, query, args)
	c.noticed(ctx, err)
	return rows, err
}
