package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"golang.org/x/sys/unix"
)

// ErrInUse reports that another process has exclusive use of the database.
var ErrInUse = errors.New("in use by another atelier")

const (
	// serverLock is the key of PostgreSQL's advisory lock: "atelier" in ASCII. Such locks are per database.
	// A server that is alone takes it exclusively; servers that share the database take it in shared mode.
	serverLock = 0x6174656c696572
	// lockPatience is the time for which a new server waits for the lock. PostgreSQL may need it to notice that the previous server has died.
	lockPatience = 2 * time.Second
)

// exclusive is the lock on a database. It lasts until it is released or this process ends. The lock of a data directory
// does not suffice, because two directories may use one database. The lock is necessary because a server that opens the
// database marks unfinished runs as interrupted.
type exclusive struct {
	connect func(context.Context) (*pgx.Conn, error) // opens the connection that holds the lock of PostgreSQL; nil for SQLite
	file    *fileLock                                // the lock of SQLite; nil for PostgreSQL
	shared  bool                                     // other servers may hold the lock in the same mode

	mu   sync.Mutex
	conn *pgx.Conn // connection that holds the lock; nil while the lock is lost
}

// lockDatabase takes the lock of PostgreSQL. The lock of SQLite is taken with the connection.
func (s *Store) lockDatabase(ctx context.Context) error {
	if s.exclusive.connect == nil {
		return nil
	}
	late := time.NewTimer(lockPatience)
	defer late.Stop()
	for {
		taken, err := s.exclusive.take(ctx)
		if err != nil || taken {
			return err
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-late.C:
			return fmt.Errorf("the database is %w", ErrInUse)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// take tries to get the lock of PostgreSQL. It uses a separate connection, because the lock ends with its connection.
func (x *exclusive) take(ctx context.Context) (bool, error) {
	conn, err := x.connect(ctx)
	if err != nil {
		return false, err
	}
	var taken bool
	if err := conn.QueryRow(ctx, "SELECT "+x.function("pg_try_advisory_lock")+"($1)", int64(serverLock)).Scan(&taken); err != nil || !taken {
		return false, errors.Join(err, conn.Close(ctx))
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.conn = conn
	return true, nil
}

// function returns the name of PostgreSQL's function for the lock's mode, exclusive or shared.
func (x *exclusive) function(name string) string {
	if x.shared {
		return name + "_shared"
	}
	return name
}

// held reports whether the connection with PostgreSQL's lock still exists, and executes a statement on it. It closes a
// connection that does not respond. It returns the number of rows, and the error of a statement that was rejected.
func (x *exclusive) held(ctx context.Context, statement string, args ...any) (held bool, rows int64, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.conn == nil {
		return false, 0, nil
	}
	done, err := x.conn.Exec(ctx, statement, args...)
	var refused *pgconn.PgError
	if err == nil || errors.As(err, &refused) && !x.conn.IsClosed() {
		return true, done.RowsAffected(), err
	}
	_ = x.conn.Close(ctx) // the connection is unusable
	x.conn = nil
	return false, 0, nil
}

// release unlocks before it closes the connection, because PostgreSQL notices a closed connection with a delay.
func (x *exclusive) release() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.file != nil {
		err := x.file.release()
		x.file = nil
		return err
	}
	if x.conn == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), watchFor)
	defer cancel()
	// Errors do not matter: the lock ends with its connection.
	_, _ = x.conn.Exec(ctx, "SELECT "+x.function("pg_advisory_unlock")+"($1)", int64(serverLock))
	_ = x.conn.Close(ctx)
	x.conn = nil
	return nil
}

// fileLock locks the file of a SQLite database itself, so that every path to the file finds the lock. SQLite uses
// another kind of lock, which a process loses when it closes any descriptor of the file. So the lock is taken before
// SQLite opens the file, and released after SQLite has closed it.
type fileLock struct{ file *os.File }

func lockFile(file *os.File) (*fileLock, error) {
	err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = fmt.Errorf("the database is %w", ErrInUse)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &fileLock{file}, nil
}

func (l *fileLock) release() error {
	// Closing alone is not enough: a forked process has the file open until it calls exec.
	return errors.Join(unix.Flock(int(l.file.Fd()), unix.LOCK_UN), l.file.Close())
}
