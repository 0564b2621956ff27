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

// ErrInUse reports that another process uses the database exclusively.
var ErrInUse = errors.New("in use by another atelier")

const (
	// serverLock is the key of the advisory lock in PostgreSQL: "atelier" in ASCII. Each database has its own advisory
	// locks. A server that does not share the database takes the lock in exclusive mode. Servers that share the database
	// take it in shared mode.
	serverLock = 0x6174656c696572
	// lockPatience is the time for which a new server waits for the lock. PostgreSQL may need this time to notice that the
	// previous server has crashed.
	lockPatience = 2 * time.Second
)

// exclusive is the lock on a database. A process holds it until it releases the lock or ends. The lock of the data
// directory is not sufficient, because two directories may use the same database. A lock is necessary because a server
// that opens the database marks unfinished runs as interrupted.
type exclusive struct {
	connect func(context.Context) (*pgx.Conn, error) // opens the connection that holds the lock in PostgreSQL; nil for SQLite
	file    *fileLock                                // lock of the SQLite file; nil for PostgreSQL
	shared  bool                                     // shared mode: other servers may hold the lock at the same time

	mu   sync.Mutex
	conn *pgx.Conn // connection that holds the lock; nil while the lock is lost
}

// lockDatabase takes the lock in PostgreSQL. For SQLite it does nothing, because opening the file takes the lock.
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

// take tries to get the lock in PostgreSQL. It uses a separate connection, because the lock ends with the connection.
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

// function returns the name of the PostgreSQL function for the mode of the lock: exclusive or shared.
func (x *exclusive) function(name string) string {
	if x.shared {
		return name + "_shared"
	}
	return name
}

// held executes a statement on the connection that holds the lock in PostgreSQL. It reports whether this connection
// still exists. It closes a connection that does not respond. It returns the number of affected rows, and the error if
// PostgreSQL rejected the statement.
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
	_ = x.conn.Close(ctx) // the connection is broken, so an error does not matter
	x.conn = nil
	return false, 0, nil
}

// release unlocks before it closes the connection, because PostgreSQL notices a closed connection only after a delay.
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
	// Errors do not matter, because the lock ends with its connection.
	_, _ = x.conn.Exec(ctx, "SELECT "+x.function("pg_advisory_unlock")+"($1)", int64(serverLock))
	_ = x.conn.Close(ctx)
	x.conn = nil
	return nil
}

// fileLock locks the file of a SQLite database. It locks the file itself, so that a process finds the lock under every
// path of the file. SQLite uses another kind of lock, which a process loses when it closes any descriptor of the file.
// So fileLock is taken before SQLite opens the file, and released after SQLite has closed the file.
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
	// Unlock explicitly. Closing is not enough, because a forked process keeps the file open until it calls exec.
	return errors.Join(unix.Flock(int(l.file.Fd()), unix.LOCK_UN), l.file.Close())
}
