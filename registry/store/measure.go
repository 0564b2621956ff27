package store

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// Size describes the size of a database.
type Size struct {
	Bytes     int64     // bytes of the SQLite file, or of the database in PostgreSQL
	OldestRun time.Time // time at which the oldest run was requested; zero if there are no runs
}

// Measure returns the size of the database.
func (s *Store) Measure(ctx context.Context) (size Size, err error) {
	if s.dialect == postgresDialect {
		err = s.read.NewRaw("SELECT pg_database_size(current_database())").Scan(ctx, &size.Bytes)
	} else {
		var space fileSpace
		space, err = s.fileSpace(ctx)
		size.Bytes = space.pages * space.pageSize
	}
	if err != nil {
		return size, wrap("measure database", err)
	}
	var oldest runRow
	err = s.read.NewSelect().Model(&oldest).Column("created_at").OrderExpr("r.id").Limit(1).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return size, nil
	}
	size.OldestRun = oldest.CreatedAt.UTC()
	return size, wrap("measure database", err)
}
