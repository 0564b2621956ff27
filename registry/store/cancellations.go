package store

import "context"

// AskToCancel stores a request to cancel a run. The server that executes the run reads it. A second request for the
// same run has no effect.
func (s *Store) AskToCancel(ctx context.Context, workspace, runID string) error {
	_, err := s.write.NewRaw("INSERT INTO run_cancellations (run_id, workspace_id, server_id, created_at) "+
		"SELECT r.id, r.workspace_id, r.server_id, ? FROM runs AS r WHERE r.id = ? AND r.workspace_id = ? AND r.status IN ("+unfinished+") ON CONFLICT (run_id) DO NOTHING",
		instant(s.now()), runID, workspace).Exec(ctx)
	if err != nil {
		return wrap("ask to cancel run", err)
	}
	return s.Signal(ctx, "cancel", runID)
}

// TakeCancellations returns the IDs of the runs of this server for which another server has requested a cancellation.
// It removes these requests.
func (s *Store) TakeCancellations(ctx context.Context) ([]string, error) {
	var ids []string
	err := s.write.NewRaw("DELETE FROM run_cancellations WHERE server_id = ? RETURNING run_id", s.identity.Load().server).Scan(ctx, &ids)
	return ids, wrap("read requests to cancel runs", err)
}

// dropShares removes the rows that belong to servers that no longer exist: requests to cancel runs, and counts for
// quotas.
func (s *Store) dropShares(ctx context.Context) error {
	for _, table := range []string{"run_cancellations", "quota_shares"} {
		if _, err := s.write.ExecContext(ctx, "DELETE FROM "+table+" WHERE server_id NOT IN (SELECT id FROM servers)"); err != nil {
			return wrap("remove rows of servers that no longer exist", err)
		}
	}
	return nil
}
