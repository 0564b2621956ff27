// Package garbage removes data that a workspace no longer needs. It may run while the server is in use: all removed
// data belongs to ended runs and tasks, or has not been used for some time.
package garbage

import (
	"context"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/packages"
)

// Store removes old records of a workspace. If dry is set, it only counts them.
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

// Packages removes installed packages that are not used.
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

// Cleanup reports what was removed. For a dry run it reports the items that would be removed.
type Cleanup struct {
	DryRun bool               `json:"dryRun" doc:"true if nothing was removed."`
	Bytes  int64              `json:"bytes" doc:"Bytes of all items. Freed space in the database is reused; it is returned to the file system later."`
	Items  []registry.Garbage `json:"items" doc:"One item for each kind of data."`
}

// leastAge is the minimum age of data that may be removed. A run or an import may still need younger data.
const leastAge = time.Hour

// Collect removes the garbage of a workspace that is older than the given age. For the default workspace it also
// removes the unused blobs of all workspaces. If dry is set, it only counts.
func (s *Service) Collect(ctx context.Context, workspace string, age time.Duration, dry bool) (Cleanup, error) {
	done := Cleanup{DryRun: dry, Items: []registry.Garbage{}}
	if age < leastAge {
		return done, fault.Invalid("/olderThanHours", "must be at least 1, because a run may still use newer data.")
	}
	before := s.Now().Add(-age)
	// Tasks are removed first, because they reference overlays. Contents are removed last, because overlays reference
	// them.
	sweeps := []func() (registry.Garbage, error){
		func() (registry.Garbage, error) { return s.Store.SweepTasks(ctx, workspace, before, dry) },
		func() (registry.Garbage, error) { return s.Store.SweepOverlays(ctx, workspace, before, dry) },
		func() (registry.Garbage, error) { return s.Contents.CollectWorkspace(ctx, workspace, before, dry) },
		func() (registry.Garbage, error) { return s.Store.SweepDraftHistory(ctx, workspace, before, dry) },
		func() (registry.Garbage, error) { return s.packages(ctx, workspace, age, dry) },
	}
	if workspace == registry.DefaultWorkspace { // The administrators of the default workspace are the administrators of the server.
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
