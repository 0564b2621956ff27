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
	UsedAt      time.Time                `json:"usedAt" doc:"Time of the last use, accurate to about a minute."`
	UsedBy      []registry.LockUser      `json:"usedBy" doc:"Versions with this lock, including versions of deleted agents."`
}

// Installed lists the installed locks of a workspace, most recently used first.
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
			UsedBy: append([]registry.LockUser{}, published[m.Digest]...),
		})
	}
	return all, err
}

// published returns the versions that use each lock, by the digest of the lock.
func (s *Service) published(ctx context.Context, workspace string) (map[string][]registry.LockUser, error) {
	locks, err := s.Used.VersionLocks(ctx, workspace)
	users := map[string][]registry.LockUser{}
	for _, one := range locks {
		digest := one.Lock.Digest()
		users[digest] = append(users[digest], one.LockUser)
	}
	return users, err
}

// Collected lists the removed items. For a dry run it lists the items that would be removed.
type Collected struct {
	DryRun bool        `json:"dryRun" doc:"true if nothing was removed."`
	Locks  int         `json:"locks" doc:"Number of removed installations."`
	Bytes  int64       `json:"bytes" doc:"Freed bytes."`
	Items  []Removable `json:"items" doc:"Removed installations and archives."`
}

// Removable is an unused installation or archive.
type Removable struct {
	Kind     string   `json:"kind" enum:"installation,archive"`
	Digest   string   `json:"digest" doc:"Digest of the lock, or hash of the archive."`
	Packages []string `json:"packages" doc:"Names and versions in the lock."`
	Bytes    int64    `json:"bytes"`
}

// leastAge is the minimum time since the last use of an installation before it may be removed. Interpreters that wait
// for a run may still have a younger installation mounted.
const leastAge = time.Hour

// Collect removes installations that no version uses and that no draft or inline program has used for the given time.
// It also removes archives that no installation uses. If dry is set, it only lists these items.
func (s *Service) Collect(ctx context.Context, workspace string, unused time.Duration, dry bool) (Collected, error) {
	done := Collected{DryRun: dry, Items: []Removable{}}
	if unused < leastAge {
		return done, fault.Invalid("/unusedHours", "must be at least 1, because a run may still use newer installations.")
	}
	before := s.Now().Add(-unused)
	kept, err := s.kept(ctx, workspace, before, dry)
	if err != nil {
		return done, err
	}
	installed, err := s.Manager.Installed(workspace)
	if err != nil {
		return done, err
	}
	gone := map[string]bool{}
	for _, m := range installed {
		if kept[m.Digest] || m.UsedAt.After(before) || m.InstalledAt.After(before) {
			continue
		}
		freed := m.Bytes
		if !dry {
			freed, err = s.Manager.Remove(workspace, m.Digest)
		} else if !s.Manager.Removable(workspace, m.Digest) {
			continue
		}
		if err != nil {
			return done, err
		}
		if freed > 0 {
			done.add(Removable{"installation", m.Digest, namesOf(m.Lock), freed})
			done.Locks++
			gone[m.Digest] = true
		}
	}
	archives, err := s.Manager.CollectArchives(before, workspace, gone, dry)
	for _, one := range archives {
		done.add(Removable{"archive", one.Name, []string{}, one.Bytes})
	}
	return done, err
}

func (c *Collected) add(one Removable) {
	c.Items = append(c.Items, one)
	c.Bytes += one.Bytes
}

func namesOf(lock runtimes.Lock) []string {
	names := make([]string, 0, len(lock.Packages))
	for _, p := range lock.Packages {
		names = append(names, p.Name+" "+p.Version)
	}
	return names
}

// kept returns the digests of the locks that must stay: the locks of versions, and those of package lists that were
// used since the given time. Unless dry is set, it deletes the locks of the other package lists.
func (s *Service) kept(ctx context.Context, workspace string, before time.Time, dry bool) (map[string]bool, error) {
	if !dry {
		if err := s.Used.DropPackageLocks(ctx, workspace, before); err != nil {
			return nil, err
		}
	}
	users, err := s.published(ctx, workspace)
	if err != nil {
		return nil, err
	}
	kept := map[string]bool{}
	for digest := range users {
		kept[digest] = true
	}
	locks, err := s.Used.PackageLocks(ctx, workspace)
	for _, lock := range locks {
		if !lock.UsedAt.Before(before) {
			kept[lock.Lock.Digest()] = true
		}
	}
	return kept, err
}

// details returns the metadata of the packages of a lock, by name and version. If the lock is not installed, the result
// is empty.
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

// SBOM returns the bill of materials of a version's packages.
func (s *Service) SBOM(workspace string, v registry.Version) BOM {
	var details map[[2]string]packages.PackageDetail
	if v.Lock != nil {
		details = s.details(workspace, *v.Lock)
	}
	return bomOf(v, details)
}
