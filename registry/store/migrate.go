package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/migrate"

	"github.com/atelier-run/atelier/migrations"
)

// Migration is one change of the database schema. AppliedAt is nil while it is pending.
type Migration struct {
	Name      string // timestamp and subject, for example 20261121010000_create_agents
	AppliedAt *time.Time
}

// migrationLock is the key of the advisory lock in PostgreSQL for migrations. If several servers start at the same
// time, they migrate one after the other.
const migrationLock = 0x6174656c

// Migrate applies pending migrations and returns their names. It returns an error if the schema has migrations that
// this program does not contain.
func (s *Store) Migrate(ctx context.Context) ([]string, error) {
	var applied []string
	err := s.alone(ctx, func(ctx context.Context) error {
		m, err := s.migrator(migrate.AfterMigration(markApplied))
		if err != nil {
			return err
		}
		if err := m.Init(ctx); err != nil {
			return err
		}
		if err := refuseUnknown(ctx, m); err != nil {
			return err
		}
		group, err := m.Migrate(ctx)
		done := group.Migrations
		if err != nil && len(done) > 0 {
			done = done[:len(done)-1] // the last migration failed
		}
		for _, one := range done {
			applied = append(applied, one.String())
		}
		return err
	})
	return applied, wrap("migrate database", err)
}

// MigrationStatus lists all migrations, oldest first. It returns an error if the schema has migrations that this
// program does not contain.
func (s *Store) MigrationStatus(ctx context.Context) ([]Migration, error) {
	m, err := s.migrator()
	if err != nil {
		return nil, wrap("read migrations", err)
	}
	if err := m.Init(ctx); err != nil {
		return nil, wrap("read migrations", err)
	}
	if err := refuseUnknown(ctx, m); err != nil {
		return nil, err
	}
	all, err := m.MigrationsWithStatus(ctx)
	if err != nil {
		return nil, wrap("read migrations", err)
	}
	status := make([]Migration, 0, len(all))
	for _, one := range all {
		found := Migration{Name: one.String()}
		if one.IsApplied() {
			at := instant(one.MigratedAt)
			found.AppliedAt = &at
		}
		status = append(status, found)
	}
	return status, nil
}

func (s *Store) migrator(options ...migrate.MigratorOption) (*migrate.Migrator, error) {
	files, err := fs.Sub(migrations.Files, string(s.dialect))
	if err != nil {
		return nil, err
	}
	all := migrate.NewMigrations()
	if err := all.Discover(files); err != nil {
		return nil, err
	}
	options = append(options, migrate.WithMarkAppliedOnSuccess(true), migrate.WithUpsert(true))
	return migrate.NewMigrator(s.write, all, options...), nil
}

// markApplied records a migration in the migration's own transaction. The migrator records it only after the commit. If
// the process were killed in between, the applied migration would count as pending.
func markApplied(ctx context.Context, tx bun.IConn, m *migrate.Migration) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO bun_migrations (name, group_id) VALUES (?, ?) ON CONFLICT (name) DO NOTHING", m.Name, m.GroupID)
	return err
}

// refuseUnknown returns an error if the database has migrations that this program does not contain.
func refuseUnknown(ctx context.Context, m *migrate.Migrator) error {
	missing, err := m.MissingMigrations(ctx)
	if err != nil || len(missing) == 0 {
		return err
	}
	known, err := m.MigrationsWithStatus(ctx)
	if err != nil {
		return err
	}
	newest := slices.MaxFunc(missing, func(a, b migrate.Migration) int { return strings.Compare(a.Name, b.Name) })
	if newest.Name < known[0].Name {
		return fmt.Errorf("the database was made by a development version before the first release: its migration %s no longer exists; use an empty database or data directory. "+
			"To keep agents, run \"atelier archive export\" with the program that made the database, then \"atelier archive import\" with this one", newest.Name)
	}
	return fmt.Errorf("the database was written by a newer Atelier: this one does not know its migration %s; run the newer one, or restore a backup from before it",
		newest.Name)
}

// alone runs f while no other process migrates. SQLite needs no additional lock, because every migration locks the file
// for writing and only one server uses the data directory.
func (s *Store) alone(ctx context.Context, f func(context.Context) error) (err error) {
	if s.dialect != postgresDialect {
		// Migrations may use temporary files, because sorting an index over all runs may need much memory.
		if _, err := s.write.ExecContext(ctx, "PRAGMA temp_store = FILE"); err != nil {
			return err
		}
		err := f(ctx)
		_, memoryErr := s.write.ExecContext(context.WithoutCancel(ctx), "PRAGMA temp_store = MEMORY")
		return errors.Join(err, memoryErr)
	}
	conn, err := s.write.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(?)", migrationLock); err != nil {
		return err
	}
	err = f(ctx)
	_, unlockErr := conn.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock(?)", migrationLock)
	return errors.Join(err, unlockErr)
}
