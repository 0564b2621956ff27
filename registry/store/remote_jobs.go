package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/uptrace/bun"

	"github.com/atelier-run/atelier/registry"
)

type remoteJobRow struct {
	bun.BaseModel `bun:"table:remote_jobs,alias:j"`

	RunID       string    `bun:"run_id,pk"`
	WorkspaceID string    `bun:"workspace_id"`
	Handle      string    `bun:"handle"`
	Request     []byte    `bun:"request"`
	CreatedAt   time.Time `bun:"created_at"`
}

// KeepRemoteJob stores the job of a run at another service. If the server then stops, the run is not marked as
// interrupted. It stays unfinished until a server continues or ends it.
func (s *Store) KeepRemoteJob(ctx context.Context, job registry.RemoteJob) error {
	row := remoteJobRow{RunID: job.RunID, WorkspaceID: job.Workspace, Handle: job.Handle, Request: job.Request, CreatedAt: instant(s.now())}
	_, err := s.write.NewInsert().Model(&row).On("CONFLICT (run_id) DO NOTHING").Exec(ctx)
	return wrap("keep a remote job", err)
}

// RemoteJobs lists the stored jobs at other services, oldest first. It omits their handles and requests.
func (s *Store) RemoteJobs(ctx context.Context) ([]registry.RemoteJob, error) {
	return s.listJobs(ctx, "TRUE")
}

// LeftJobs lists the jobs that this server may continue, in the same form as RemoteJobs. These are jobs of runs that
// have ended, of runs of this server, and of runs whose server has ended.
func (s *Store) LeftJobs(ctx context.Context) ([]registry.RemoteJob, error) {
	by := *s.identity.Load()
	return s.listJobs(ctx, "NOT EXISTS (SELECT 1 FROM runs AS r WHERE r.id = j.run_id AND r.status IN ("+unfinished+") AND "+atWork("r")+
		" AND NOT (r.server_id = ? AND r.epoch = ?))", by.server, by.epoch)
}

func (s *Store) listJobs(ctx context.Context, condition string, args ...any) ([]registry.RemoteJob, error) {
	var rows []remoteJobRow
	if err := s.read.NewSelect().Model(&rows).Column("run_id", "workspace_id").Where(condition, args...).OrderExpr("j.created_at, j.run_id").Scan(ctx); err != nil {
		return nil, wrap("list remote jobs", err)
	}
	jobs := make([]registry.RemoteJob, 0, len(rows))
	for _, row := range rows {
		jobs = append(jobs, registry.RemoteJob{RunID: row.RunID, Workspace: row.WorkspaceID})
	}
	return jobs, nil
}

// RemoteJob returns the job of a run. Error: NotFound.
func (s *Store) RemoteJob(ctx context.Context, runID string) (registry.RemoteJob, error) {
	var row remoteJobRow
	err := s.read.NewSelect().Model(&row).Where("j.run_id = ?", runID).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return registry.RemoteJob{}, noRun(runID)
	}
	if err != nil {
		return registry.RemoteJob{}, wrap("read a remote job", err)
	}
	return registry.RemoteJob{RunID: row.RunID, Workspace: row.WorkspaceID, Handle: row.Handle, Request: json.RawMessage(row.Request)}, nil
}

// HasRemoteJob reports whether a job at another service is stored for a run.
func (s *Store) HasRemoteJob(ctx context.Context, runID string) (bool, error) {
	has, err := s.write.NewSelect().Model((*remoteJobRow)(nil)).Where("j.run_id = ?", runID).Exists(ctx)
	return has, wrap("find a remote job", err)
}

// ForgetRemoteJob removes the job of a run that has ended.
func (s *Store) ForgetRemoteJob(ctx context.Context, runID string) error {
	_, err := s.write.NewDelete().Model((*remoteJobRow)(nil)).Where("run_id = ?", runID).Exec(ctx)
	return wrap("forget a remote job", err)
}

// AdoptRun makes this server the owner of an unfinished run, if the run's server has ended and the run's job is stored.
// It reports whether this server now owns the run. It returns false if the lease of this server has ended, even if the
// server has not noticed this yet.
func (s *Store) AdoptRun(ctx context.Context, workspace, id string) (bool, error) {
	owned, err := s.adoptRun(ctx, s.write, workspace, id)
	return owned, wrap("adopt run", err)
}

// AdoptAndForget is like AdoptRun, for a run whose stored job is no longer needed. It adopts the run and removes the
// job in one transaction, so that no other server continues the program from this job.
func (s *Store) AdoptAndForget(ctx context.Context, workspace, id string) (owned bool, err error) {
	err = s.write.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
		if owned, err = s.adoptRun(ctx, tx, workspace, id); err != nil || !owned {
			return err
		}
		_, err := tx.NewDelete().Model((*remoteJobRow)(nil)).Where("run_id = ?", id).Exec(ctx)
		return err
	})
	return owned && err == nil, wrap("adopt run", err)
}

func (s *Store) adoptRun(ctx context.Context, db bun.IDB, workspace, id string) (bool, error) {
	by := *s.identity.Load()
	result, err := db.NewUpdate().Model((*runRow)(nil)).Set("server_id = ?", by.server).Set("epoch = ?", by.epoch).
		Where("r.id = ?", id).Where("r.workspace_id = ?", workspace).
		Where("EXISTS (SELECT 1 FROM remote_jobs AS j WHERE j.run_id = r.id)").
		Where("EXISTS (SELECT 1 FROM servers AS me WHERE me.id = ? AND me.epoch = ?)", by.server, by.epoch).
		Where("("+unattended+" OR r.server_id = ? AND r.epoch = ? AND r.status IN ("+unfinished+"))", by.server, by.epoch).Exec(ctx)
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n > 0, err
}
