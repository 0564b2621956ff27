package store

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// Quota returns the limits that a workspace has instead of the server's default quota.
func (s *Store) Quota(ctx context.Context, workspace string) (registry.OwnQuota, error) {
	var row quotaRow
	err := s.read.NewSelect().Model(&row).Where("q.workspace_id = ?", workspace).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return registry.OwnQuota{}, nil
	}
	return registry.OwnQuota{
		ConcurrentRuns: row.ConcurrentRuns, RunsPerDay: row.RunsPerDay, CPUSecondsPerDay: row.CPUSecondsPerDay, StorageBytes: row.StorageBytes,
	}, wrap("read quota", err)
}

// PutQuota stores the limits that a workspace has instead of the server's default quota.
func (s *Store) PutQuota(ctx context.Context, workspace string, q registry.OwnQuota) error {
	row := quotaRow{
		WorkspaceID: workspace, ConcurrentRuns: q.ConcurrentRuns, RunsPerDay: q.RunsPerDay, CPUSecondsPerDay: q.CPUSecondsPerDay, StorageBytes: q.StorageBytes,
	}
	_, err := s.write.NewInsert().Model(&row).On("CONFLICT (workspace_id) DO UPDATE").
		Set("concurrent_runs = excluded.concurrent_runs").Set("runs_per_day = excluded.runs_per_day").
		Set("cpu_seconds_per_day = excluded.cpu_seconds_per_day").Set("storage_bytes = excluded.storage_bytes").Exec(ctx)
	return wrap("store quota", err)
}

// RunsSince returns the number of a workspace's runs that were requested at or after a time, and their total CPU time.
func (s *Store) RunsSince(ctx context.Context, workspace string, from time.Time) (registry.DayUse, error) {
	var use registry.DayUse
	err := s.read.NewSelect().TableExpr("runs AS r").ColumnExpr("count(*), COALESCE(sum(r.cpu_ms), 0.0)").
		Where("r.workspace_id = ?", workspace).Where("r.created_at >= ?", instant(from)).Scan(ctx, &use.Runs, &use.CPUMs)
	return use, wrap("count runs", err)
}

// Stored returns the total size in bytes of a workspace's stored data: code of drafts, their history and versions;
// files, changes and overlays of projects; inputs, outputs and events of runs; stored responses to repeated requests.
// If several versions share a content, it counts once for each version. Stored reads the sizes of all rows of the
// workspace, so it is too slow for every request.
func (s *Store) Stored(ctx context.Context, workspace string) (int64, error) {
	var total int64
	for table, columns := range map[string][]string{
		"approvals": {"input", "request"}, "rule_packs": {"source"}, "drafts": {"spec", "files"}, "draft_saves": {"spec", "files"}, "draft_contents": {"content"}, "versions": {"spec", "files"}, "runs": {"input", "output", "error", "stdout", "stderr"},
		"idempotency_keys": {"body"}, "package_locks": {"lock"}, "contents": {"bytes"},
	} {
		var bytes int64
		err := s.read.NewSelect().TableExpr(table+" AS t").ColumnExpr(s.sizeOf("t", columns)).Where("t.workspace_id = ?", workspace).Scan(ctx, &bytes)
		if err != nil {
			return 0, wrap("measure "+table, err)
		}
		total += bytes
	}
	var events int64
	err := s.read.NewSelect().TableExpr("runs AS r").Join("JOIN run_events AS t ON t.run_id = r.id").ColumnExpr(s.sizeOf("t", []string{"data"})).
		Where("r.workspace_id = ?", workspace).Scan(ctx, &events)
	if err != nil {
		return 0, wrap("measure events", err)
	}
	records, err := s.storedProjects(ctx, workspace)
	if err != nil {
		return 0, err
	}
	blobs, err := s.storedBlobs(ctx, workspace)
	return total + events + records + blobs, err
}

// storedProjects returns the total size of the changes, overlays and tasks of a workspace's projects. It does not
// include the files of projects, which Stored counts as contents.
func (s *Store) storedProjects(ctx context.Context, workspace string) (total int64, err error) {
	for table, columns := range map[string][]string{"project_changes": {"summary", "paths"}, "overlays": {"summary", "entries"}, "tasks": {"input", "feedback", "summary", "description", "program"}} {
		var bytes int64
		err := s.read.NewSelect().TableExpr("projects AS p").Join("JOIN "+table+" AS t ON t.project_id = p.id").ColumnExpr(s.sizeOf("t", columns)).
			Where("p.workspace_id = ?", workspace).Scan(ctx, &bytes)
		if err != nil {
			return 0, wrap("measure "+table, err)
		}
		total += bytes
	}
	return total, nil
}

func (s *Store) sizeOf(alias string, columns []string) string {
	sizes := make([]string, len(columns))
	for i, column := range columns {
		sizes[i] = "COALESCE(" + s.dialect.size() + "(" + alias + "." + column + "), 0)"
	}
	return "COALESCE(sum(" + strings.Join(sizes, " + ") + "), 0)"
}

// storedBlobs returns the total size of the blobs of a workspace's versions.
func (s *Store) storedBlobs(ctx context.Context, workspace string) (int64, error) {
	var rows []versionRow
	err := s.read.NewSelect().Model(&rows).Column("agent_id", "version", "files_digest").
		Where("v.workspace_id = ?", workspace).Where("v.files_digest IS NOT NULL").Scan(ctx)
	if err != nil {
		return 0, wrap("measure blobs", err)
	}
	var total int64
	for _, row := range rows {
		size, err := s.blobs.Size(ctx, blobName(row.AgentID, row.Version), row.FilesDigest)
		if err != nil && !fault.Is(err, fault.NotFound) { // a missing blob uses no space
			return 0, wrap("measure blobs", err)
		}
		total += size
	}
	return total, nil
}

type quotaRow struct {
	bun.BaseModel `bun:"table:quotas,alias:q"`

	WorkspaceID      string `bun:"workspace_id,pk"`
	ConcurrentRuns   *int64 `bun:"concurrent_runs"`
	RunsPerDay       *int64 `bun:"runs_per_day"`
	CPUSecondsPerDay *int64 `bun:"cpu_seconds_per_day"`
	StorageBytes     *int64 `bun:"storage_bytes"`
}
