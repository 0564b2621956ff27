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
	// A SQLite database in memory is not supported: it has only one connection, so it would hide locking bugs, and it
	// loses its data.
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
	// writes many runs. auto_vacuum(INCREMENTAL) lets SQLite return the space of removed rows in steps. It has an effect
	// only before the first table exists. It is set only for an empty file, because setting it writes to the file, and the
	// disk may be full.
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
	s.write = bun.NewDB(write, sqlitedialect.New(), bun.WithDiscardUnknownColumns()) // ignores columns that a newer release has added
	s.read = bun.NewDB(read, sqlitedialect.New(), bun.WithDiscardUnknownColumns())
	return nil
}

// These constants limit how long a connection to SQLite waits for a lock that another process holds. Commands wait
// patiently. A server waits briefly, because its clients wait too. While the probe knows that the database is locked,
// it waits hardly at all.
const (
	patiently = 10 * time.Second
	briefly   = 400 * time.Millisecond
	hardly    = 20 * time.Millisecond
)

// waitOn sets how long a connection waits for a lock that another process holds.
func waitOn(ctx context.Context, conn bun.Conn, wait time.Duration) error {
	_, err := conn.ExecContext(ctx, "PRAGMA busy_timeout = "+strconv.FormatInt(wait.Milliseconds(), 10))
	return err
}

// sqliteConnector opens connections that wait for another process up to a time limit. Each commit syncs the log; with
// synchronous(NORMAL), a power failure would lose acknowledged commits. Times are written in bun's format, so that
// comparing them as text is correct. The pragma first runs before the pragma for the journal mode, because setting the
// journal mode writes the first page of a new file.
func sqliteConnector(path string, wait time.Duration, option, first string) (driver.Connector, error) {
	address := url.URL{Scheme: "file", Path: path, RawQuery: "_time_format=sqlite" +
		"&_pragma=busy_timeout(" + strconv.FormatInt(wait.Milliseconds(), 10) + ")" + first + "&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)" +
		"&_pragma=journal_size_limit(67108864)&" + option}
	return sqlite.NewConnector(address.String())
}

// openFile creates the database file if it is missing, and syncs its directory entry. Only the file's owner can read a
// new file.
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
	// bun writes values into the text of a statement, so a cache of prepared statements would be useless.
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
	s.write = bun.NewDB(db, pgdialect.New(), bun.WithDiscardUnknownColumns()) // ignores columns that a newer release has added
	s.read = s.write
	return nil
}

// durable ensures that PostgreSQL acknowledges a commit only when it is on disk, even if a setting of the database
// server or role says otherwise. It does not change stricter settings.
func durable(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, `SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'`)
	if err != nil {
		return fmt.Errorf("ask for durable commits: %w", err)
	}
	return nil
}
