package packages

import (
	"context"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/packages"
)

// Installed is a lock that is installed in a workspace.
type Installed struct {
	Digest      string                   `json:"digest" doc:"Digest of the lock."`
	Ecosystem   runtimes.Ecosystem       `json:"ecosystem" enum:"pypi,npm"`
	Platform    string                   `json:"platform"`
	Packages    []packages.PackageDetail `json:"packages"`
	Bytes       int64                    `json:"bytes" doc:"Size of the unpacked files."`
	InstalledAt time.Time                `json:"installedAt"`
	UsedAt      time.Time                `json:"usedAt" doc:"About the time of the last run."`
	Versions    bool                     `json:"versions" doc:"true if a version has this lock."`
}

// Installed lists the installed locks of a workspace, the most recently used first.
func (s *Service) Installed(ctx context.Context, workspace string) ([]Installed, error) {
	published, err := s.published(ctx, workspace)
	if err != nil {
		return nil, err
	}
	manifests, err := s.Manager.Installed(workspace)
	all := make([]Installed, 0, len(manifests))
	for _, m := range manifests {
		all = append(all, Installed{
			Digest: m.Digest, Ecosystem: m.Lock.Ecosystem, Platform: m.Lock.Platform, Packages: m.Packages, Bytes: m.Bytes, InstalledAt: m.InstalledAt, UsedAt: m.UsedAt,
			Versions: published[m.Digest],
		})
	}
	return all, err
}

// published returns the digests of the locks of versions.
func (s *Service) published(ctx context.Context, workspace string) (map[string]bool, error) {
	locks, err := s.Used.VersionLocks(ctx, workspace)
	digests := map[string]bool{}
	for _, lock := range locks {
		digests[lock.Digest()] = true
	}
	return digests, err
}

// Collected counts what was removed.
type Collected struct {
	Locks int   `json:"locks" doc:"Number of removed installations."`
	Bytes int64 `json:"bytes" doc:"Freed bytes."`
}

// leastAge is the time for which an installation is kept after its last use. Interpreters that wait for a run may still
// have it mounted.
const leastAge = time.Hour

// Collect removes the installations that no version has and no draft or inline program used since a time.
func (s *Service) Collect(ctx context.Context, workspace string, unused time.Duration) (Collected, error) {
	var done Collected
	if unused < leastAge {
		return done, fault.Invalid("/unusedHours", "must be at least 1; a run may still use younger installations.")
	}
	before := s.Now().Add(-unused)
	if err := s.Used.DropPackageLocks(ctx, workspace, before); err != nil {
		return done, err
	}
	kept, err := s.published(ctx, workspace)
	if err != nil {
		return done, err
	}
	locks, err := s.Used.PackageLocks(ctx, workspace)
	if err != nil {
		return done, err
	}
	for _, lock := range locks {
		kept[lock.Lock.Digest()] = true
	}
	installed, err := s.Manager.Installed(workspace)
	if err != nil {
		return done, err
	}
	for _, m := range installed {
		if kept[m.Digest] || m.UsedAt.After(before) || m.InstalledAt.After(before) {
			continue
		}
		freed, err := s.Manager.Remove(workspace, m.Digest)
		if err != nil {
			return done, err
		}
		if freed > 0 {
			done.Locks++
			done.Bytes += freed
		}
	}
	return done, nil
}

// Details returns what the packages of a lock say of themselves, by name and version, if the lock is installed.
func (s *Service) details(workspace string, lock runtimes.Lock) map[[2]string]packages.PackageDetail {
	found := map[[2]string]packages.PackageDetail{}
	manifest, ok := s.Manager.Detail(workspace, lock)
	if ok {
		for _, p := range manifest.Packages {
			found[[2]string{p.Name, p.Version}] = p
		}
	}
	return found
}

// SBOM describes the packages of a version in CycloneDX JSON.
func (s *Service) SBOM(workspace string, v registry.Version) BOM {
	var details map[[2]string]packages.PackageDetail
	if v.Lock != nil {
		details = s.details(workspace, *v.Lock)
	}
	return bomOf(v, details)
}
