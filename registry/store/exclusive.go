package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrInUse says that another process has the database for itself.
var ErrInUse = errors.New("in use by another atelier")

// serverLock is the key of PostgreSQL's advisory lock: "atelier" in ASCII. Such locks are per database.
const serverLock = 0x6174656c696572

// lockDatabase keeps others that want the database for themselves out, until it is released or this process is dead.
// The lock of a data directory does not: two of them may name one database, and whoever opens it settles what the last
// server left undone, which would take the other's running programs for dead.
func (s *Store) lockDatabase(ctx context.Context, address string) (release func() error, err error) {
	if s.dialect == postgresDialect {
		return s.lockPostgres(ctx)
	}
	path, err := filepath.Abs(strings.TrimPrefix(address, "sqlite:"))
	if err != nil {
		return nil, err
	}
	return lockFile(path + ".lock")
}

// lockPostgres holds the lock on a connection of its own: it lasts as long as that.
func (s *Store) lockPostgres(ctx context.Context) (func() error, error) {
	conn, err := s.write.DB.Conn(ctx)
	if err != nil {
		return nil, err
	}
	var taken bool
	err = conn.QueryRowContext(ctx, "SELECT pg_try_advisory_lock($1)", int64(serverLock)).Scan(&taken)
	if err == nil && !taken {
		err = fmt.Errorf("the database is %w", ErrInUse)
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return func() error { return unlockPostgres(conn) }, nil
}

// unlockPostgres gives the lock back itself: closing returns the connection to the pool.
func unlockPostgres(conn *sql.Conn) error {
	_, err := conn.ExecContext(context.Background(), "SELECT pg_advisory_unlock($1)", int64(serverLock))
	return errors.Join(err, conn.Close())
}

// lockFile locks a file beside the database. SQLite's own locks are on the database file, and closing any descriptor of
// that would give them up.
func lockFile(path string) (func() error, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = fmt.Errorf("the database is %w", ErrInUse)
		}
		return nil, errors.Join(err, file.Close())
	}
	// Closing alone would not do: a process that is being forked has the file open until it executes.
	return func() error { return errors.Join(unix.Flock(int(file.Fd()), unix.LOCK_UN), file.Close()) }, nil
}
