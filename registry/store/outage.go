package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"os"

	"github.com/jackc/pgx/v5/pgconn"
	"golang.org/x/sys/unix"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/atelier-run/atelier/internal/fault"
)

// outage is the reason why the database cannot be used, as a sentence for people. It is "" if the database can be used.
type outage string

const (
	unreachable outage = "The database does not answer."
	diskFull    outage = "The disk of the database is full. Free some space."
	readOnly    outage = "The database is read-only."
	damaged     outage = "The database is damaged. Stop the server and restore a backup."
	locked      outage = "Another process holds the lock of the database."
	unusable    outage = "The database cannot be read or written."
	lockLost    outage = "The connection that locks the database for this server is lost."
	fenced      outage = "The lease of this server on the database has expired, and another server has interrupted its runs."
	takenOver   outage = "Another server has taken over the database."
	stuck       outage = "A write to the database has not finished in time."
)

// fault returns the error for clients. The cause err is only logged.
func (o outage) fault(err error) *fault.Error {
	return &fault.Error{Code: fault.StorageUnavailable, Message: string(o), Err: err}
}

// outageOf returns the reason why the database failed. It returns "" if the error has another cause, such as a violated
// constraint or a cancelled request.
func outageOf(err error) outage {
	var refused *pgconn.PgError
	var own *sqlite.Error
	switch {
	case err == nil, errors.Is(err, context.Canceled):
		return ""
	case errors.As(err, &refused):
		return postgresOutage(refused.Code)
	case errors.As(err, &own):
		return sqliteOutage(own.Code())
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
		return diskFull
	case errors.Is(err, unix.EROFS):
		return readOnly
	case errors.Is(err, unix.EIO):
		return unusable
	case cutOff(err):
		return unreachable
	}
	return ""
}

// cutOff reports whether an error means that a connection to PostgreSQL could not be opened, was closed or timed out.
func cutOff(err error) bool {
	var network net.Error
	for _, end := range []error{io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, driver.ErrBadConn, os.ErrDeadlineExceeded, context.DeadlineExceeded} {
		if errors.Is(err, end) {
			return true
		}
	}
	return errors.As(err, &network) || pgconn.SafeToRetry(err)
}

// postgresOutage returns the outage that an SQLSTATE code of PostgreSQL means.
func postgresOutage(state string) outage {
	switch state {
	case "53100":
		return diskFull
	case "25006":
		return readOnly
	case "XX001", "XX002":
		return damaged
	case "55P03":
		return locked
	case "57P01", "57P02", "57P03":
		return unreachable
	}
	switch state[:min(2, len(state))] {
	case "08", "53":
		return unreachable
	case "58":
		return unusable
	}
	return ""
}

// sqliteOutage returns the outage that a result code of SQLite means. The low byte of the code is the primary code.
func sqliteOutage(code int) outage {
	switch code & 0xff {
	case sqlite3.SQLITE_FULL:
		return diskFull
	case sqlite3.SQLITE_READONLY:
		return readOnly
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return damaged
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return locked
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PROTOCOL:
		return unusable
	}
	return ""
}
