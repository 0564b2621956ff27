package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/atelier-run/atelier/server/app"
)

// database contains the flags of commands that open the database directly instead of using a server.
type database struct {
	Data     string `help:"Data directory of the server (default: data; ATELIER_DATA)." placeholder:"DIR"`
	Database string `help:"Database: sqlite:PATH or postgres://… (ATELIER_DATABASE_URL; default: SQLite in the data directory)." placeholder:"URL"`
	Config   string `help:"Settings file (default: atelier.yaml in the working directory, if it exists)." placeholder:"FILE"`
}

func (d database) flags() map[string]string {
	given := map[string]string{}
	for name, value := range map[string]string{"data": d.Data, "database": d.Database} {
		if value != "" {
			given[name] = value
		}
	}
	return given
}

type migrateCommand struct {
	Up     migrateUp     `cmd:"" help:"Apply all pending migrations."`
	Status migrateStatus `cmd:"" help:"List migrations with the time they were applied."`
}

type migrateUp struct {
	printed
	database
}

func (c *migrateUp) run(ctx context.Context, p Process) error {
	settings, err := p.load(c.flags(), c.Config)
	if err != nil {
		return err
	}
	applied, err := app.Migrate(ctx, settings, p.quietLog())
	if err != nil {
		return err
	}
	return c.result(p, append([]string{}, applied...), func() error {
		for _, name := range applied {
			_, _ = fmt.Fprintln(p.Stdout, "applied", name)
		}
		_, err = fmt.Fprintf(p.Stdout, "applied %d migrations; the schema is up to date\n", len(applied))
		return err
	})
}

type migrateStatus struct {
	printed
	database
}

func (c *migrateStatus) run(ctx context.Context, p Process) error {
	settings, err := p.load(c.flags(), c.Config)
	if err != nil {
		return err
	}
	steps, err := app.MigrationStatus(ctx, settings, p.quietLog())
	if err != nil {
		return err
	}
	type migration struct {
		Name      string     `json:"name"`
		AppliedAt *time.Time `json:"appliedAt"`
	}
	all := []migration{}
	for _, step := range steps {
		all = append(all, migration{step.Name, step.AppliedAt})
	}
	return c.result(p, all, func() error {
		t := newTable(p.Stdout, "MIGRATION", "APPLIED")
		for _, one := range all {
			applied := "pending"
			if one.AppliedAt != nil {
				applied = one.AppliedAt.UTC().Format(time.RFC3339)
			}
			t.row(one.Name, applied)
		}
		return t.flush()
	})
}
