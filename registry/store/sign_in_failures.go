package store

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/atelier-run/atelier/registry"
)

// PutSignInFailures stores the number of failed sign-ins of a source. It ignores a value that has neither a later
// expiry nor a higher number than the stored row.
func (s *Store) PutSignInFailures(ctx context.Context, f registry.SignInFailures) error {
	row := failuresRow{Source: f.Source, Failures: f.Count, Until: instant(f.Until)}
	_, err := s.write.NewInsert().Model(&row).On("CONFLICT (source) DO UPDATE").
		Set("failures = excluded.failures").Set("until = excluded.until").
		Where("f.until < excluded.until OR f.failures < excluded.failures").Exec(ctx)
	return wrap("store failed sign-ins", err)
}

// SignInFailures returns the counts of failed sign-ins that have not expired.
func (s *Store) SignInFailures(ctx context.Context, now time.Time) ([]registry.SignInFailures, error) {
	var rows []failuresRow
	if err := s.read.NewSelect().Model(&rows).Where("f.until > ?", instant(now)).OrderExpr("f.source").Scan(ctx); err != nil {
		return nil, wrap("read failed sign-ins", err)
	}
	failures := make([]registry.SignInFailures, 0, len(rows))
	for _, row := range rows {
		failures = append(failures, registry.SignInFailures{Source: row.Source, Count: row.Failures, Until: row.Until.UTC()})
	}
	return failures, nil
}

type failuresRow struct {
	bun.BaseModel `bun:"table:login_failures,alias:f"`

	Source   string    `bun:"source,pk"`
	Failures int       `bun:"failures"`
	Until    time.Time `bun:"until"`
}
