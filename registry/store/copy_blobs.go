package store

import (
	"context"
	"fmt"

	"github.com/atelier-run/atelier/internal/fault"
)

// CopyBlobs copies the files of large versions of all workspaces from another blob store, and returns how many it
// copied. It skips files that already exist.
func (s *Store) CopyBlobs(ctx context.Context, from Blobs) (copied int, err error) {
	var rows []versionRow
	err = s.read.NewSelect().Model(&rows).Column("agent_id", "version", "files_digest").
		Where("v.files_digest IS NOT NULL").OrderExpr("v.agent_id, v.version").Scan(ctx)
	if err != nil {
		return 0, wrap("list blobs", err)
	}
	for _, row := range rows {
		name := blobName(row.AgentID, row.Version)
		_, err := s.blobs.Get(ctx, name, row.FilesDigest)
		if err == nil {
			continue
		}
		if !fault.Is(err, fault.NotFound) {
			return copied, err
		}
		content, err := from.Get(ctx, name, row.FilesDigest)
		if err != nil {
			return copied, fmt.Errorf("copy the files of %s: %w", name, err)
		}
		if _, err := s.blobs.Put(ctx, name, content); err != nil {
			return copied, err
		}
		copied++
	}
	return copied, nil
}
