package projects

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/atelier-run/atelier/registry"
)

// Garbage finds and deletes contents that are no longer referenced.
type Garbage interface {
	ContentOwners(ctx context.Context) ([]string, error)
	// Roots returns the trees and files that are still referenced. It ignores overlays that were rejected or that expired
	// before the time ended.
	Roots(ctx context.Context, workspace string, ended time.Time) (trees, files []string, err error)
	ContentBytes(ctx context.Context, workspace string, digests []string) (int64, error)
	OldContents(ctx context.Context, workspace, after string, before time.Time, limit int) ([]string, error)
	DeleteContents(ctx context.Context, workspace string, digests []string, before time.Time) error
}

const (
	// keepContents is how long contents without a reference are kept. An import or a run stores contents before it stores
	// the project or the overlay that references them. If a content exists already, storing it again renews its age.
	keepContents    = 2 * time.Hour
	collectedAtOnce = 200 // maximum number of contents that one transaction deletes
)

// Collect deletes contents that no project references, for example those of deleted projects and failed imports. It
// returns the number of deleted contents.
func (s *Service) Collect(ctx context.Context) (int, error) {
	before := s.Now().Add(-keepContents) // Set the limit before the references are read, so that contents stored in the meantime are kept.
	owners, err := s.Garbage.ContentOwners(ctx)
	if err != nil {
		return 0, err
	}
	total := 0
	for _, workspace := range owners {
		g, err := s.collect(ctx, workspace, before, time.Time{}, false)
		total += g.Count
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

// CollectWorkspace deletes the contents of a workspace that have no reference. Overlays that were rejected or that
// expired before the time ended do not count as references. If dry is set, it only counts the contents.
func (s *Service) CollectWorkspace(ctx context.Context, workspace string, ended time.Time, dry bool) (registry.Garbage, error) {
	return s.collect(ctx, workspace, s.Now().Add(-keepContents), ended, dry)
}

func (s *Service) collect(ctx context.Context, workspace string, before, ended time.Time, dry bool) (registry.Garbage, error) {
	g := registry.Garbage{Kind: registry.ContentGarbage}
	named, err := s.named(ctx, workspace, ended)
	if err != nil {
		return g, err
	}
	after := ""
	for ctx.Err() == nil {
		old, err := s.Garbage.OldContents(ctx, workspace, after, before, collectedAtOnce)
		if err != nil || len(old) == 0 {
			return g, err
		}
		after = old[len(old)-1]
		unnamed := slices.DeleteFunc(old, func(digest string) bool { return named[digest] })
		bytes, err := s.Garbage.ContentBytes(ctx, workspace, unnamed)
		if err != nil {
			return g, err
		}
		if !dry {
			if err := s.Garbage.DeleteContents(ctx, workspace, unnamed, before); err != nil {
				return g, err
			}
		}
		g.Count, g.Bytes = g.Count+len(unnamed), g.Bytes+bytes
	}
	return g, ctx.Err()
}

// named returns the digests of all contents that a workspace references. It reads the trees one by one, so that only
// one tree is in memory.
func (s *Service) named(ctx context.Context, workspace string, ended time.Time) (map[string]bool, error) {
	trees, files, err := s.Garbage.Roots(ctx, workspace, ended)
	if err != nil {
		return nil, err
	}
	named := make(map[string]bool, len(files))
	for _, digest := range files {
		named[digest] = true
	}
	for _, digest := range trees {
		if named[digest] {
			continue
		}
		named[digest] = true
		found, err := s.Contents.Contents(ctx, workspace, []string{digest})
		if err != nil {
			return nil, err
		}
		tree := registry.Tree{}
		if err := json.Unmarshal(found[digest], &tree); err != nil { // Return an error, so that nothing is deleted: without the tree, its files are unknown.
			return nil, fmt.Errorf("read tree %s: %w", digest, err)
		}
		for _, file := range tree {
			named[file.Digest] = true
		}
	}
	return named, nil
}
