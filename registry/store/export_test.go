package store

import "context"

// Exec runs SQL of a test's own on the writing connection.
func (s *Store) Exec(ctx context.Context, statement string, args ...any) error {
	_, err := s.write.ExecContext(ctx, statement, args...)
	return err
}

// Rollback takes the last group of migrations back and returns how many.
func (s *Store) Rollback(ctx context.Context) (int, error) {
	m, err := s.migrator()
	if err != nil {
		return 0, err
	}
	group, err := m.Rollback(ctx)
	return len(group.Migrations), err
}
