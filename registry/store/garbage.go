package store

import (
	"context"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/blobs"
)

// endedOverlay is the SQL condition that an overlay o was rejected or expired before a time. If the overlay has a task,
// the task must have ended before that time too. All three parameters are this time.
const endedOverlay = "((o.status = 'rejected' AND o.decided_at < ? OR o.status = 'expired' AND o.expires_at < ?) AND " +
	"NOT EXISTS (SELECT 1 FROM tasks AS t WHERE t.overlay_id = o.id AND t.overlay_id <> '' AND (t.finished_at IS NULL OR t.finished_at >= ?)))"

// SweepTasks removes the tasks of a workspace that ended before a time, with their events. If dry is set, it only
// counts the tasks.
func (s *Store) SweepTasks(ctx context.Context, workspace string, before time.Time, dry bool) (registry.Garbage, error) {
	g := registry.Garbage{Kind: registry.TaskGarbage}
	err := s.change(ctx, "sweep tasks", func(ctx context.Context, tx bun.Tx) error {
		// Only ended tasks have finished_at.
		ended := tx.NewSelect().TableExpr("tasks AS t").Where("t.workspace_id = ?", workspace).Where("t.finished_at < ?", instant(before))
		err := ended.Clone().ColumnExpr("COUNT(*), COALESCE(SUM(OCTET_LENGTH(t.input) + OCTET_LENGTH(t.feedback) + OCTET_LENGTH(t.description) + OCTET_LENGTH(t.program) + (SELECT COALESCE(SUM(OCTET_LENGTH(te.data)), 0) FROM task_events AS te WHERE te.task_id = t.id)), 0)").
			Scan(ctx, &g.Count, &g.Bytes)
		if err != nil || dry || g.Count == 0 {
			return err
		}
		ids := ended.Column("t.id")
		if _, err := tx.NewDelete().TableExpr("task_events").Where("task_id IN (?)", ids).Exec(ctx); err != nil {
			return err
		}
		_, err = tx.NewDelete().TableExpr("tasks").Where("id IN (?)", ids).Exec(ctx)
		return err
	})
	return g, err
}

// SweepOverlays removes the overlays of a workspace that were rejected or expired before a time. It keeps an overlay
// whose task had not ended before that time. If dry is set, it only counts the overlays.
func (s *Store) SweepOverlays(ctx context.Context, workspace string, before time.Time, dry bool) (registry.Garbage, error) {
	g := registry.Garbage{Kind: registry.OverlayGarbage}
	err := s.change(ctx, "sweep overlays", func(ctx context.Context, tx bun.Tx) error {
		ended := tx.NewSelect().TableExpr("overlays AS o").Where("o.workspace_id = ?", workspace).Where(endedOverlay, instant(before), instant(before), instant(before))
		err := ended.Clone().ColumnExpr("COUNT(*), COALESCE(SUM(OCTET_LENGTH(o.entries)), 0)").Scan(ctx, &g.Count, &g.Bytes)
		if err != nil || dry || g.Count == 0 {
			return err
		}
		_, err = tx.NewDelete().TableExpr("overlays").Where("id IN (?)", ended.Column("o.id")).Exec(ctx)
		return err
	})
	return g, err
}

// SweepDraftHistory removes the saves of drafts from before a time, and the contents that only these saves use. It
// keeps the newest save of each agent and all saves with a label. If dry is set, it only counts the saves.
func (s *Store) SweepDraftHistory(ctx context.Context, workspace string, before time.Time, dry bool) (registry.Garbage, error) {
	g := registry.Garbage{Kind: registry.DraftGarbage}
	var agents []string
	err := s.read.NewSelect().Model((*draftSaveRow)(nil)).ColumnExpr("DISTINCT h.agent_id").Where("h.workspace_id = ?", workspace).Where("h.label = ''").Where("h.saved_at < ?", instant(before)).
		OrderExpr("h.agent_id").Scan(ctx, &agents)
	if err != nil {
		return g, wrap("sweep history of drafts", err)
	}
	for _, agent := range agents {
		err := s.change(ctx, "sweep history of drafts", func(ctx context.Context, tx bun.Tx) error {
			return sweepHistory(ctx, tx, agent, before, dry, &g)
		})
		if err != nil {
			return g, err
		}
	}
	return g, nil
}

// sweepHistory removes old saves from the history of one draft. It locks the draft first. Otherwise a concurrent save
// could refer to a content that sweepHistory removes, or a concurrent request could add a label to a save that it
// removes.
func sweepHistory(ctx context.Context, tx bun.Tx, agent string, before time.Time, dry bool, g *registry.Garbage) error {
	if _, err := tx.NewUpdate().Model((*draftRow)(nil)).Set("revision = revision").Where("agent_id = ?", agent).Exec(ctx); err != nil {
		return err
	}
	var old []draftSaveRow
	err := tx.NewSelect().Model(&old).Column("h.agent_id", "h.revision", "h.files").Where("h.agent_id = ?", agent).Where("h.label = ''").Where("h.saved_at < ?", instant(before)).
		Where("h.revision < (SELECT MAX(newer.revision) FROM draft_saves AS newer WHERE newer.agent_id = h.agent_id)").Scan(ctx)
	if err != nil || len(old) == 0 {
		return err
	}
	unused, err := unusedContents(ctx, tx, agent, old)
	if err != nil {
		return err
	}
	var bytes int64
	err = tx.NewSelect().Model((*draftContentRow)(nil)).ColumnExpr("COALESCE(SUM(OCTET_LENGTH(c.content)), 0)").Where("c.agent_id = ?", agent).
		Where("c.digest IN (?)", bun.List(unused)).Scan(ctx, &bytes)
	if err != nil {
		return err
	}
	g.Count, g.Bytes = g.Count+len(old), g.Bytes+bytes
	if dry {
		return nil
	}
	return sweepSaves(ctx, tx, agent, old, nil)
}

// SweepBlobs removes the blobs that were stored before a time and that no version of any workspace uses. A publication
// stores its blob before its version. So a blob that is named after an agent and a version number must stay while a
// publication of that number may still succeed: while the agent exists and has no such version. If dry is set,
// SweepBlobs only counts the blobs.
func (s *Store) SweepBlobs(ctx context.Context, before time.Time, dry bool) (registry.Garbage, error) {
	g := registry.Garbage{Kind: registry.BlobGarbage}
	var old []blobs.Stored
	sweep := func() error {
		unused, err := s.unusedBlobs(ctx, old)
		if err != nil {
			return err
		}
		old = old[:0]
		for _, b := range unused {
			removed := dry
			if !dry {
				if removed, err = s.blobs.Remove(ctx, b, before); err != nil {
					return err
				}
			}
			if removed {
				g.Count, g.Bytes = g.Count+1, g.Bytes+b.Bytes
			}
		}
		return nil
	}
	err := s.blobs.List(ctx, func(b blobs.Stored) error {
		if b.At.Before(before) {
			old = append(old, b)
		}
		if len(old) < sweptBlobs {
			return nil
		}
		return sweep()
	})
	if err == nil {
		err = sweep()
	}
	return g, wrap("sweep blobs", err)
}

// sweptBlobs is the maximum number of blobs that one query checks.
const sweptBlobs = 200

// unusedBlobs returns the blobs that no version uses. It omits blobs that a publication in progress may still use.
func (s *Store) unusedBlobs(ctx context.Context, all []blobs.Stored) (unused []blobs.Stored, err error) {
	if len(all) == 0 {
		return nil, nil
	}
	digests := make([]string, 0, len(all))
	for _, b := range all {
		digests = append(digests, b.Digest)
	}
	var rows []versionRow
	if err := s.read.NewSelect().Model(&rows).Column("agent_id", "version", "files_digest").Where("v.files_digest IN (?)", bun.List(digests)).Scan(ctx); err != nil {
		return nil, err
	}
	used := make(map[[2]string]bool, 2*len(rows))
	for _, row := range rows {
		used[[2]string{blobName(row.AgentID, row.Version), row.FilesDigest}], used[[2]string{"", row.FilesDigest}] = true, true
	}
	for _, b := range all {
		free := !used[[2]string{b.Name, b.Digest}]
		if free && b.Name != "" {
			if free, err = s.settled(ctx, b.Name); err != nil {
				return nil, err
			}
		}
		if free {
			unused = append(unused, b)
		}
	}
	return unused, nil
}

// settled reports whether no publication under the name of a blob can succeed in the future. It returns false if the
// agent does not exist in this database, because the blob may belong to another database that uses the same bucket.
func (s *Store) settled(ctx context.Context, name string) (bool, error) {
	agent, version, _ := strings.Cut(name, "/")
	known, err := s.read.NewSelect().TableExpr("agents").Where("id = ?", agent).Exists(ctx)
	if err != nil || !known {
		return false, err
	}
	return s.read.NewSelect().TableExpr("versions").Where("agent_id = ?", agent).Where("version = ?", version).Exists(ctx)
}
