package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	"modernc.org/sqlite"
)

const (
	readers     = 4
	connections = 16
)

func (s *Store) connect(ctx context.Context, address string) error {
	scheme, rest, _ := strings.Cut(address, ":")
	switch scheme {
	case "sqlite":
		return wrap("open database "+rest, s.connectSQLite(ctx, rest))
	case "postgres", "postgresql":
		return wrap("open database", s.connectPostgres(ctx, address))
	}
	return errors.New("open database: the address must be sqlite:PATH or postgres://…")
}

func (s *Store) connectSQLite(ctx context.Context, path string) error {
	// A database in memory has a single connection, so it would hide locking bugs, and it loses its data.
	if path == "" || strings.Contains(path, ":memory:") || strings.HasPrefix(path, "file:") {
		return errors.New("SQLite needs the path of a file")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	if err := s.openFile(path); err != nil {
		return err
	}
	s.probe.dir = filepath.Dir(path)
	wait := patiently
	if s.exclusive != nil {
		wait = briefly
	}
	// Without temp_store(MEMORY), SQLite would create, write and delete a file for the undo log of each statement that
	// writes many runs. auto_vacuum(INCREMENTAL) lets SQLite return the space of removed rows in steps. It has an
	// effect only before the first table exists. It is set only for an empty file, because the pragma writes to the
	// file, and the disk may be full.
	first := ""
	if info, err := os.Stat(path); err == nil && info.Size() == 0 {
		first = "&_pragma=auto_vacuum(INCREMENTAL)"
	}
	writing, err := sqliteConnector(path, wait, "_txlock=immediate&_pragma=temp_store(MEMORY)", first)
	if err != nil {
		return err
	}
	write := sql.OpenDB(writingConnector{writing, s.probe.refuse, s.noticed})
	write.SetMaxOpenConns(1)
	write.SetMaxIdleConns(1)
	if err := write.PingContext(ctx); err != nil {
		return errors.Join(err, write.Close())
	}
	reading, err := sqliteConnector(path, wait, "_pragma=query_only(1)", "")
	if err != nil {
		return errors.Join(err, write.Close())
	}
	read := sql.OpenDB(reading)
	read.SetMaxOpenConns(readers)
	read.SetMaxIdleConns(readers)
	s.dialect = sqliteDialect
	s.write = bun.NewDB(write, sqlitedialect.New(), bun.WithDiscardUnknownColumns()) // columns of a newer release
	s.read = bun.NewDB(read, sqlitedialect.New(), bun.WithDiscardUnknownColumns())
	return nil
}

// These constants limit how long a connection to SQLite waits for the lock of another process. Commands use patiently.
// A server uses briefly, because its clients wait too. Its probe uses hardly while the database is known to be locked.
const (
	patiently = 10 * time.Second
	briefly   = 400 * time.Millisecond
	hardly    = 20 * time.Millisecond
)

// waitOn sets how long a connection waits for the lock of another process.
func waitOn(ctx context.Context, conn bun.Conn, wait time.Duration) error {
	_, err := conn.ExecContext(ctx, "PRAGMA busy_timeout = "+strconv.FormatInt(wait.Milliseconds(), 10))
	return err
}

// sqliteConnector opens connections that wait for another process up to a time limit. They sync the log with every
// commit; with synchronous(NORMAL), a power failure would lose acknowledged commits. Times are written in bun's format,
// so that they compare as text. The pragma in first runs before the journal mode is set, because that writes the first
// page of a new file.
func sqliteConnector(path string, wait time.Duration, option, first string) (driver.Connector, error) {
	address := url.URL{Scheme: "file", Path: path, RawQuery: "_time_format=sqlite" +
		"&_pragma=busy_timeout(" + strconv.FormatInt(wait.Milliseconds(), 10) + ")" + first + "&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)" +
		"&_pragma=journal_size_limit(67108864)&" + option}
	return sqlite.NewConnector(address.String())
}

// openFile makes the database file readable by its owner only, and syncs its directory entry.
func (s *Store) openFile(path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return errors.Join(err, file.Close())
	}
	if err := errors.Join(dir.Sync(), dir.Close()); err != nil || s.exclusive == nil {
		return errors.Join(err, file.Close())
	}
	s.exclusive.file, err = lockFile(file)
	return err
}

func (s *Store) connectPostgres(ctx context.Context, address string) error {
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return err
	}
	// bun writes values into the statement, so caching each statement as a prepared one gains nothing.
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	if s.member != nil {
		config.RuntimeParams["application_name"] = s.serverName()
	}
	if s.exclusive != nil {
		s.links = newLinks(s.probe)
		config.DialFunc = s.links.connect
		s.exclusive.connect = func(ctx context.Context) (*pgx.Conn, error) { return pgx.ConnectConfig(ctx, config) }
	}
	db := stdlib.OpenDB(*config, stdlib.OptionAfterConnect(durable))
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	db.SetConnMaxIdleTime(5 * time.Minute)
	if err := db.PingContext(ctx); err != nil {
		return errors.Join(err, db.Close())
	}
	s.dialect = postgresDialect
	s.write = bun.NewDB(db, pgdialect.New(), bun.WithDiscardUnknownColumns()) // columns of a newer release
	s.read = s.write
	return nil
}

// durable overrides a setting of the server or role by which commits are acknowledged before they are on disk. It does
// not change stricter settings.
func durable(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, `SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'`)
	if err != nil {
		return fmt.Errorf("ask for durable commits: %w", err)
	}
	return nil
}
