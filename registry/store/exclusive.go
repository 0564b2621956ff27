package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/internal/fault"
)

// ErrInUse reports that another process has exclusive use of the database.
var ErrInUse = errors.New("in use by another atelier")

const (
	// serverLock is the key of PostgreSQL's advisory lock: "atelier" in ASCII. Such locks are per database.
	serverLock = 0x6174656c696572
	// lockPatience is how long PostgreSQL may take to notice that the server before has died.
	lockPatience = 2 * time.Second
	// watchEvery and watchFor are how often the lock is checked, and for how long a check may last.
	watchEvery = time.Second
	watchFor   = 2 * time.Second
)

// exclusive is the exclusive use of a database. It keeps out other servers that want the same, until it is released or
// this process is dead. The lock of a data directory does not: two of them may name one database, and a server that
// opens it ends the runs of the server before.
type exclusive struct {
	connect func(context.Context) (*pgx.Conn, error) // connects for the lock of PostgreSQL; nil for SQLite
	file    *fileLock                                // the lock of SQLite; nil for PostgreSQL

	mu   sync.Mutex
	conn *pgx.Conn // connection that holds the lock; nil while the lock is lost
}

// Ready returns why this server cannot record runs now, nil if it can. Error: StorageUnavailable.
func (s *Store) Ready() error {
	if why := s.trouble.Load(); why != nil {
		return why
	}
	return nil
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

// take tries to get the lock of PostgreSQL on a separate connection, because the lock ends with the connection.
func (x *exclusive) take(ctx context.Context) (bool, error) {
	conn, err := x.connect(ctx)
	if err != nil {
		return false, err
	}
	var taken bool
	if err := conn.QueryRow(ctx, "SELECT pg_try_advisory_lock($1)", int64(serverLock)).Scan(&taken); err != nil || !taken {
		return false, errors.Join(err, conn.Close(ctx))
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.conn = conn
	return true, nil
}

// held asks PostgreSQL whether the session of the lock is still there. A session that does not answer is given up.
func (x *exclusive) held(ctx context.Context) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.conn == nil {
		return false
	}
	if _, err := x.conn.Exec(ctx, "SELECT 1"); err != nil {
		_ = x.conn.Close(ctx) // it is of no use any more
		x.conn = nil
		return false
	}
	return true
}

// release unlocks before it closes: PostgreSQL notices the end of a session a moment later.
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
	// Neither can fail in a way that matters: the lock ends with its session.
	_, _ = x.conn.Exec(ctx, "SELECT pg_advisory_unlock($1)", int64(serverLock))
	_ = x.conn.Close(ctx)
	x.conn = nil
	return nil
}

// watch checks every so often that the database is still this server's, until ctx ends.
func (s *Store) watch(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		s.check(ctx)
	}
}

// check finds out whether this server still has the database, and tries to take it back if not. Meanwhile Ready says
// why no run can be recorded.
func (s *Store) check(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, watchFor)
	defer cancel()
	if s.exclusive.connect == nil {
		return
	}
	if !s.exclusive.held(ctx) {
		if s.trouble.Load() == nil {
			s.log.LogAttrs(ctx, slog.LevelError, "the lock of the database is lost; no run is started until it is taken again")
			s.trouble.Store(fault.New(fault.StorageUnavailable, "The connection that keeps the database for this server is lost."))
		}
		taken, err := s.exclusive.take(ctx)
		if err == nil && !taken {
			s.trouble.Store(fault.New(fault.StorageUnavailable, "Another server has taken over the database."))
		}
		if err != nil || !taken {
			return
		}
	}
	if s.trouble.Load() == nil {
		return
	}
	if err := s.resume(ctx); err != nil {
		s.log.LogAttrs(ctx, slog.LevelError, "resume after the lock of the database was lost", slog.Any("error", err))
		return
	}
	s.trouble.Store(nil)
	s.log.LogAttrs(ctx, slog.LevelInfo, "the lock of the database is taken again")
}

// resume begins a new epoch if another server had the database meanwhile.
func (s *Store) resume(ctx context.Context) error {
	if s.identity.Load().epoch == 0 { // it never settled
		return nil
	}
	same, err := s.registered(ctx)
	if err != nil || same {
		return err
	}
	done, err := s.Settle(ctx)
	if err == nil {
		s.log.LogAttrs(ctx, slog.LevelWarn, "another server had the database meanwhile", slog.Int("runs_interrupted", done.Runs), slog.Int("keys_released", done.Keys))
	}
	return err
}

// fileLock locks the file of a SQLite database itself, so that every path that leads to it finds the lock. SQLite's own
// locks are of another kind. The process gives those up when it closes any descriptor of the file, so the lock is taken
// before SQLite opens the file and released after SQLite has closed it.
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
