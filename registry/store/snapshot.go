package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"modernc.org/sqlite"
)

// Snapshot describes a copy of a database as it was at one moment.
type Snapshot struct {
	Database   string          `json:"database"` // sqlite or postgres
	Migrations []string        `json:"migrations"`
	Tables     []SnapshotTable `json:"tables,omitempty"` // tables of PostgreSQL, in the order in which rows can be inserted
	Counts     map[string]int  `json:"counts"`           // numbers of agents, versions, runs and secrets
	SecretKeys map[string]int  `json:"secretKeys"`       // number of secrets by the ID of the key that encrypts them
	Blobs      []SnapshotBlob  `json:"blobs,omitempty"`  // files of large versions, which are stored outside the database
}

// SnapshotTable is a table of PostgreSQL. The copy has a file with the name of the table, which contains its rows.
type SnapshotTable struct {
	Name    string   `json:"name"`
	Columns []string `json:"columns"`
	Rows    int64    `json:"rows"`
}

// SnapshotBlob identifies the blob that contains the files of a version.
type SnapshotBlob struct {
	Name   string `json:"name"` // ID of the agent, a slash and the version
	Digest string `json:"digest"`
}

// SnapshotFile is the name of the copy of a SQLite database.
const SnapshotFile = "atelier.db"

// WriteSnapshot writes a copy of the database, as it is at one moment, to an empty directory. A server may change the
// database at the same time.
func (s *Store) WriteSnapshot(ctx context.Context, dir string) (Snapshot, error) {
	if s.dialect == postgresDialect {
		taken, err := s.copyTables(ctx, dir)
		return taken, wrap("copy database", err)
	}
	path := filepath.Join(dir, SnapshotFile)
	if _, err := s.write.ExecContext(ctx, "VACUUM INTO ?", path); err != nil {
		return Snapshot{}, wrap("copy database", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return Snapshot{}, err
	}
	return CheckSnapshot(ctx, dir)
}

// CheckSnapshot checks a copy of a SQLite database: the pages, the indexes and the foreign keys.
func CheckSnapshot(ctx context.Context, dir string) (taken Snapshot, err error) {
	address := url.URL{Scheme: "file", Path: filepath.Join(dir, SnapshotFile), RawQuery: "mode=ro&immutable=1"}
	connector, err := sqlite.NewConnector(address.String())
	if err != nil {
		return taken, err
	}
	db := sql.OpenDB(connector)
	defer func() { err = errors.Join(err, db.Close()) }()
	ask := func(statement string) ([][2]string, error) {
		rows, err := db.QueryContext(ctx, statement)
		if err != nil {
			return nil, err
		}
		defer func() { _ = rows.Close() }() // Err returns the errors of the iteration
		var all [][2]string
		for rows.Next() {
			var pair [2]string
			if err := rows.Scan(&pair[0], &pair[1]); err != nil {
				return nil, err
			}
			all = append(all, pair)
		}
		return all, rows.Err()
	}
	faults, err := ask("SELECT integrity_check, '' FROM pragma_integrity_check WHERE integrity_check <> 'ok' " +
		"UNION ALL SELECT 'a row of ' || \"table\" || ' has no parent', '' FROM pragma_foreign_key_check LIMIT 3")
	if err == nil && len(faults) > 0 {
		err = errors.New(faults[0][0])
	}
	if err == nil {
		taken, err = contents(sqliteDialect, ask)
	}
	if err != nil {
		return taken, fmt.Errorf("the copy of the database is damaged: %w", err)
	}
	return taken, nil
}

// contents returns the migrations, counts and secret keys of a copy. ask executes a query whose rows have two text
// columns, and returns the rows.
func contents(d dialect, ask func(statement string) ([][2]string, error)) (Snapshot, error) {
	taken := Snapshot{Database: string(d), Counts: map[string]int{}, SecretKeys: map[string]int{}}
	names, err := ask("SELECT name, '' FROM bun_migrations ORDER BY name")
	if err != nil {
		return taken, err
	}
	for _, row := range names {
		taken.Migrations = append(taken.Migrations, row[0])
	}
	files, err := ask("SELECT agent_id || '/' || version, files_digest FROM versions WHERE files_digest IS NOT NULL ORDER BY 1")
	if err != nil {
		return taken, err
	}
	for _, row := range files {
		taken.Blobs = append(taken.Blobs, SnapshotBlob{Name: row[0], Digest: row[1]})
	}
	counts := "SELECT 'agents', CAST(count(*) AS text) FROM agents UNION ALL SELECT 'versions', CAST(count(*) AS text) FROM versions " +
		"UNION ALL SELECT 'runs', CAST(count(*) AS text) FROM runs UNION ALL SELECT 'secrets', CAST(count(*) AS text) FROM secrets"
	for statement, into := range map[string]map[string]int{counts: taken.Counts, "SELECT key_id, CAST(count(*) AS text) FROM secrets GROUP BY key_id": taken.SecretKeys} {
		rows, err := ask(statement)
		if err != nil {
			return taken, err
		}
		for _, row := range rows {
			if into[row[0]], err = strconv.Atoi(row[1]); err != nil {
				return taken, err
			}
		}
	}
	return taken, nil
}

// copyTables writes every table of PostgreSQL to a file. All tables are copied as they are at one moment.
func (s *Store) copyTables(ctx context.Context, dir string) (taken Snapshot, err error) {
	err = s.onPostgres(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", func(conn *pgx.Conn) error {
		tables, err := tablesOf(ctx, conn)
		if err != nil {
			return err
		}
		taken, err = contents(postgresDialect, func(statement string) ([][2]string, error) { return pairs(ctx, conn, statement) })
		if err != nil {
			return err
		}
		for n := range tables {
			t := &tables[n]
			if t.Rows, err = toFile(filepath.Join(dir, t.Name), func(w io.Writer) (pgconn.CommandTag, error) {
				return conn.PgConn().CopyTo(ctx, w, "COPY "+t.columns()+" TO STDOUT")
			}); err != nil {
				return fmt.Errorf("table %s: %w", t.Name, err)
			}
		}
		taken.Tables = tables
		return nil
	})
	return taken, err
}

func toFile(path string, write func(io.Writer) (pgconn.CommandTag, error)) (rows int64, err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	tag, err := write(file)
	return tag.RowsAffected(), errors.Join(err, file.Close())
}

// onPostgres runs f in a transaction on one connection. begin is the SQL statement that starts the transaction.
func (s *Store) onPostgres(ctx context.Context, begin string, f func(conn *pgx.Conn) error) (err error) {
	conn, err := s.write.DB.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	return conn.Raw(func(driver any) error {
		c, ok := driver.(*stdlib.Conn)
		if !ok {
			return errors.New("the PostgreSQL driver does not support COPY")
		}
		if _, err := c.Conn().Exec(ctx, begin); err != nil {
			return err
		}
		if err := f(c.Conn()); err != nil {
			_, undone := c.Conn().Exec(context.WithoutCancel(ctx), "ROLLBACK")
			return errors.Join(err, undone)
		}
		_, err := c.Conn().Exec(ctx, "COMMIT")
		return err
	})
}

func pairs(ctx context.Context, conn *pgx.Conn, statement string, args ...any) ([][2]string, error) {
	rows, err := conn.Query(ctx, statement, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (pair [2]string, err error) {
		return pair, row.Scan(&pair[0], &pair[1])
	})
}

func (t SnapshotTable) columns() string {
	text := pgx.Identifier{t.Name}.Sanitize() + " ("
	for n, column := range t.Columns {
		if n > 0 {
			text += ", "
		}
		text += pgx.Identifier{column}.Sanitize()
	}
	return text + ")"
}

// tablesOf returns the tables with their columns, in an order in which their rows can be inserted. It omits the tables
// of the migrator, because they describe the schema.
func tablesOf(ctx context.Context, conn *pgx.Conn) ([]SnapshotTable, error) {
	columns, err := pairs(ctx, conn, "SELECT c.table_name::text, c.column_name::text FROM information_schema.columns AS c JOIN information_schema.tables AS t USING (table_schema, table_name) "+
		"WHERE c.table_schema = current_schema() AND t.table_type = 'BASE TABLE' AND c.is_generated = 'NEVER' AND c.table_name NOT LIKE 'bun\\_%' ORDER BY c.table_name, c.ordinal_position")
	if err != nil {
		return nil, err
	}
	parents, err := pairs(ctx, conn, "SELECT child.relname::text, parent.relname::text FROM pg_constraint AS k JOIN pg_class AS child ON child.oid = k.conrelid JOIN pg_class AS parent ON parent.oid = k.confrelid "+
		"JOIN pg_namespace AS n ON n.oid = child.relnamespace WHERE k.contype = 'f' AND n.nspname = current_schema() AND child.oid <> parent.oid")
	if err != nil {
		return nil, err
	}
	var waiting []SnapshotTable
	for _, c := range columns {
		if len(waiting) == 0 || waiting[len(waiting)-1].Name != c[0] {
			waiting = append(waiting, SnapshotTable{Name: c[0]})
		}
		last := &waiting[len(waiting)-1]
		last.Columns = append(last.Columns, c[1])
	}
	return ordered(waiting, parents)
}

func ordered(waiting []SnapshotTable, parents [][2]string) ([]SnapshotTable, error) {
	var done []SnapshotTable
	for len(waiting) > 0 {
		at := slices.IndexFunc(waiting, func(t SnapshotTable) bool {
			return !slices.ContainsFunc(parents, func(p [2]string) bool {
				return p[0] == t.Name && slices.ContainsFunc(waiting, func(w SnapshotTable) bool { return w.Name == p[1] })
			})
		})
		if at < 0 {
			return nil, errors.New("the tables have circular references")
		}
		done = append(done, waiting[at])
		waiting = slices.Delete(waiting, at, at+1)
	}
	return done, nil
}

// ErrNotEmpty reports that a database contains data, which restoring a copy would replace.
var ErrNotEmpty = errors.New("the database is not empty")

// LoadSnapshot replaces the content of an unused PostgreSQL database by a copy, in one transaction. The database must
// have the same schema as the copy. Error: ErrNotEmpty.
func (s *Store) LoadSnapshot(ctx context.Context, dir string, taken Snapshot) error {
	return wrap("restore database", s.onPostgres(ctx, "BEGIN", func(conn *pgx.Conn) error {
		tables, err := tablesOf(ctx, conn)
		if err != nil {
			return err
		}
		if err := unused(ctx, conn, tables); err != nil {
			return err
		}
		for _, t := range tables {
			if _, err := conn.Exec(ctx, "TRUNCATE "+pgx.Identifier{t.Name}.Sanitize()+" CASCADE"); err != nil {
				return err
			}
		}
		for _, t := range taken.Tables {
			if err := fromFile(ctx, conn, filepath.Join(dir, t.Name), t); err != nil {
				return fmt.Errorf("table %s: %w", t.Name, err)
			}
		}
		return nil
	}))
}

// unused returns ErrNotEmpty if a table has more rows than the migrations have inserted.
func unused(ctx context.Context, conn *pgx.Conn, tables []SnapshotTable) error {
	for _, t := range tables {
		made := map[string]int{"workspaces": 1, "users": 1, "memberships": 1}[t.Name]
		rows, err := pairs(ctx, conn, "SELECT '', '' FROM "+pgx.Identifier{t.Name}.Sanitize()+" LIMIT 2")
		if err != nil {
			return err
		}
		if len(rows) > made {
			return fmt.Errorf("%w: the table %s has rows; name an empty database with --database", ErrNotEmpty, t.Name)
		}
	}
	return nil
}

func fromFile(ctx context.Context, conn *pgx.Conn, path string, t SnapshotTable) (err error) {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	tag, err := conn.PgConn().CopyFrom(ctx, file, "COPY "+t.columns()+" FROM STDIN")
	if err == nil && tag.RowsAffected() != t.Rows {
		err = fmt.Errorf("it has %d rows, not %d", tag.RowsAffected(), t.Rows)
	}
	return err
}

// AppliedMigrations returns the names of the applied migrations, oldest first.
func (s *Store) AppliedMigrations(ctx context.Context) ([]string, error) {
	var names []string
	err := s.read.NewSelect().TableExpr("bun_migrations").Column("name").OrderExpr("name").Scan(ctx, &names)
	return names, wrap("read migrations", err)
}

// GetBlob returns the blob that contains the files of a version in a snapshot.
func (s *Store) GetBlob(ctx context.Context, b SnapshotBlob) ([]byte, error) {
	return s.blobs.Get(ctx, b.Name, b.Digest)
}

// PutBlob stores the blob that contains the files of a version in a snapshot.
func (s *Store) PutBlob(ctx context.Context, b SnapshotBlob, content []byte) error {
	digest, err := s.blobs.Put(ctx, b.Name, content)
	if err == nil && digest != b.Digest {
		err = fmt.Errorf("the files of %s have another digest", b.Name)
	}
	return err
}
