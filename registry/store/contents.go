package store

import (
	"context"
	"encoding/json"
	"time"

	"github.com/uptrace/bun"

	"github.com/atelier-run/atelier/registry"
)

// ContentOwners returns the IDs of the workspaces that have stored contents of project files.
func (s *Store) ContentOwners(ctx context.Context) ([]string, error) {
	var all []string
	err := s.read.NewSelect().Model((*contentRow)(nil)).ColumnExpr("DISTINCT c.workspace_id").Scan(ctx, &all)
	return all, wrap("list owners of contents", err)
}

// Roots returns the digests to which the projects of a workspace refer: digests of trees, which list files, and digests
// of files in overlays. It omits overlays that SweepOverlays would remove.
func (s *Store) Roots(ctx context.Context, workspace string, ended time.Time) (trees, files []string, err error) {
	err = s.read.NewSelect().TableExpr("projects AS p").Join("JOIN project_changes AS pc ON pc.project_id = p.id").ColumnExpr("DISTINCT pc.tree").
		Where("p.workspace_id = ?", workspace).Scan(ctx, &trees)
	if err != nil {
		return nil, nil, wrap("list trees", err)
	}
	rows, err := s.read.NewSelect().TableExpr("projects AS p").Join("JOIN overlays AS o ON o.project_id = p.id").ColumnExpr("o.base_tree, o.entries").
		Where("p.workspace_id = ?", workspace).Where("NOT "+endedOverlay, instant(ended), instant(ended), instant(ended)).Rows(ctx)
	if err != nil {
		return nil, nil, wrap("list files of overlays", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var tree, text string
		var entries []registry.OverlayEntry
		if err := rows.Scan(&tree, &text); err != nil {
			return nil, nil, wrap("list files of overlays", err)
		}
		if err := json.Unmarshal([]byte(text), &entries); err != nil {
			return nil, nil, wrap("list files of overlays", err)
		}
		trees = append(trees, tree)
		for _, entry := range entries {
			if entry.Digest != "" {
				files = append(files, entry.Digest)
			}
		}
	}
	return trees, files, wrap("list files of overlays", rows.Err())
}

// ContentBytes returns the total size of the contents of a workspace that have the given digests.
func (s *Store) ContentBytes(ctx context.Context, workspace string, digests []string) (sum int64, err error) {
	if len(digests) == 0 {
		return 0, nil
	}
	err = s.read.NewSelect().Model((*contentRow)(nil)).ColumnExpr("COALESCE(SUM(OCTET_LENGTH(c.bytes)), 0)").Where("c.workspace_id = ?", workspace).Where("c.digest IN (?)", bun.List(digests)).Scan(ctx, &sum)
	return sum, wrap("measure contents", err)
}

// OldContents lists the digests of a workspace's contents that were stored before a time, in order. It returns at most
// limit digests that are greater than after; "" starts at the beginning.
func (s *Store) OldContents(ctx context.Context, workspace, after string, before time.Time, limit int) ([]string, error) {
	var digests []string
	err := s.read.NewSelect().Model((*contentRow)(nil)).Column("digest").Where("c.workspace_id = ?", workspace).Where("c.digest > ?", after).
		Where("c.stored_at < ?", instant(before)).OrderExpr("c.digest").Limit(int64(limit)).Scan(ctx, &digests)
	return digests, wrap("list old contents", err)
}

// DeleteContents removes contents of a workspace. It does not remove contents that were stored at the given time or
// later.
func (s *Store) DeleteContents(ctx context.Context, workspace string, digests []string, before time.Time) error {
	if len(digests) == 0 {
		return nil
	}
	return s.change(ctx, "delete contents", func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewDelete().Model((*contentRow)(nil)).Where("c.workspace_id = ?", workspace).Where("c.digest IN (?)", bun.List(digests)).
			Where("c.stored_at < ?", instant(before)).Exec(ctx)
		return err
	})
}
