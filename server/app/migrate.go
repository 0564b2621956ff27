package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/atelier-run/atelier/internal/config"
	"github.com/atelier-run/atelier/registry/store"
)

// Migrate applies the missing migrations to the configured database and returns their names. The server must not be
// running.
func Migrate(ctx context.Context, c config.Config, log *slog.Logger) (applied []string, err error) {
	err = withStore(ctx, c, log, func(s *store.Store) error {
		applied, err = s.Migrate(ctx)
		return err
	})
	return applied, err
}

// MigrationStatus lists all migrations. For an applied migration it returns the time at which it was applied.
func MigrationStatus(ctx context.Context, c config.Config, log *slog.Logger) (steps []store.Migration, err error) {
	err = withStore(ctx, c, log, func(s *store.Store) error {
		steps, err = s.MigrationStatus(ctx)
		return err
	})
	return steps, err
}

func withStore(ctx context.Context, c config.Config, log *slog.Logger, use func(*store.Store) error) (err error) {
	a := &App{Options: Options{Config: c, Log: log, Now: time.Now}}
	defer func() { err = joinClose(err, a.closers.close()) }()
	if err := a.openData(ctx); err != nil {
		return err
	}
	files, err := openBlobs(ctx, a.Config)
	if err != nil {
		return err
	}
	s, err := store.Open(ctx, store.Options{URL: DatabaseURL(a.Config), Blobs: files, Log: log, NoMigrate: true, Exclusive: true})
	if err != nil {
		return err
	}
	a.closers.add("store", s.Close)
	return use(s)
}
