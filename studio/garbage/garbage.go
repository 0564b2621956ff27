// Package garbage removes data of a workspace that is no longer needed. It is safe while the server runs: all removed
// data belongs to ended runs and tasks, or has not been used for some time.
package garbage

import (
	"context"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/packages"
)

// Store removes old records of a workspace. With dry it only counts them.
type Store interface {
	SweepTasks(ctx context.Context, workspace string, before time.Time, dry bool) (registry.Garbage, error)
	SweepOverlays(ctx context.Context, workspace string, before time.Time, dry bool) (registry.Garbage, error)
	// SweepBlobs removes blobs of all workspaces.
	SweepBlobs(ctx context.Context, before time.Time, dry bool) (registry.Garbage, error)
	SweepDraftHistory(ctx context.Context, workspace string, before time.Time, dry bool) (registry.Garbage, error)
}

// Contents removes the files of projects that no record references.
type Contents interface {
	CollectWorkspace(ctx context.Context, workspace string, ended time.Time, dry bool) (registry.Garbage, error)
}

// Packages removes unused installed packages.
type Packages interface {
	Collect(ctx context.Context, workspace string, unused time.Duration, dry bool) (packages.Collected, error)
}

// Options configures a Service.
type Options struct {
	Store    Store
	Contents Contents
	Packages Packages
	Now      func() time.Time
}

// Service removes garbage. It is safe for concurrent use.
type Service struct{ Options }

// New returns the service.
func New(o Options) *Service { return &Service{o} }

// Cleanup reports what was removed. For a dry run it reports what would be removed.
type Cleanup struct {
	DryRun bool               `json:"dryRun" doc:"true if nothing was removed."`
	Bytes  int64              `json:"bytes" doc:"Bytes of all items. Space in the database is used again, and returned to the file system later."`
	Items  []registry.Garbage `json:"items" doc:"One for each kind."`
}

// leastAge is the minimum age of removed data. A run or an import may still use younger data.
const leastAge = time.Hour

// Collect removes the garbage of a workspace that is older than an age. In the default workspace it also removes the
// unused blobs of all workspaces. With dry it only counts.
func (s *Service) Collect(ctx context.Context, workspace string, age time.Duration, dry bool) (Cleanup, error) {
	done := Cleanup{DryRun: dry, Items: []registry.Garbage{}}
	if age < leastAge {
		return done, fault.Invalid("/olderThanHours", "must be at least 1; a run may still use younger data.")
	}
	before := s.Now().Add(-age)
	// Tasks come first, because they reference overlays. Contents come after the overlays that reference them.
	sweeps := []func() (registry.Garbage, error){
		func() (registry.Garbage, error) { return s.Store.SweepTasks(ctx, workspace, before, dry) },
		func() (registry.Garbage, error) { return s.Store.SweepOverlays(ctx, workspace, before, dry) },
		func() (registry.Garbage, error) { return s.Contents.CollectWorkspace(ctx, workspace, before, dry) },
		func() (registry.Garbage, error) { return s.Store.SweepDraftHistory(ctx, workspace, before, dry) },
		func() (registry.Garbage, error) { return s.packages(ctx, workspace, age, dry) },
	}
	if workspace == registry.DefaultWorkspace { // the administrators of this workspace are those of the server
		sweeps = append(sweeps, func() (registry.Garbage, error) { return s.Store.SweepBlobs(ctx, before, dry) })
	}
	for _, sweep := range sweeps {
		g, err := sweep()
		if err != nil {
			return done, err
		}
		done.Items, done.Bytes = append(done.Items, g), done.Bytes+g.Bytes
	}
	return done, nil
}

func (s *Service) packages(ctx context.Context, workspace string, age time.Duration, dry bool) (registry.Garbage, error) {
	done, err := s.Packages.Collect(ctx, workspace, age, dry)
	return registry.Garbage{Kind: registry.PackageGarbage, Count: len(done.Items), Bytes: done.Bytes}, err
}
