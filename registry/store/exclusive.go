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
	// lockPatience is the time PostgreSQL may need to notice that the previous server has died.
	lockPatience = 2 * time.Second
	// watchEvery is the interval of checking the lock, and watchFor the timeout of a check.
	watchEvery = time.Second
	watchFor   = 2 * time.Second
)

// exclusive holds the exclusive use of a database until it is released or this process ends. The lock of a data
// directory does not suffice, because two directories may use one database. A server that opens the database ends the
// runs of its predecessor.
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

// held reports whether the connection with PostgreSQL's lock still exists. It closes a connection that does not
// respond.
func (x *exclusive) held(ctx context.Context) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.conn == nil {
		return false
	}
	if _, err := x.conn.Exec(ctx, "SELECT 1"); err != nil {
		_ = x.conn.Close(ctx) // the connection is unusable
		x.conn = nil
		return false
	}
	return true
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
	_, _ = x.conn.Exec(ctx, "SELECT pg_advisory_unlock($1)", int64(serverLock))
	_ = x.conn.Close(ctx)
	x.conn = nil
	return nil
}

// watch checks regularly that this server still holds the database, until ctx ends.
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

// check checks whether this server still holds the database, and tries to lock it again if not. Meanwhile Ready returns
// why runs cannot be recorded.
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

// resume starts a new epoch if another server held the database meanwhile.
func (s *Store) resume(ctx context.Context) error {
	if s.identity.Load().epoch == 0 { // Settle was never called
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
