package packages

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/atelier-run/atelier/internal/bytesize"
)

// Archive is a downloaded archive that no installed lock lists.
type Archive struct {
	Name  string // hash of the archive
	Bytes int64
}

// CollectArchives removes the archives that no installed lock of any workspace lists and that no installation has used
// since before. Such an archive is only needed if its package is installed again. It ignores locks of the workspace
// whose digests are in gone. It does not remove the private archives of other workspaces. If dry is true, it only lists
// the archives.
func (m *Manager) CollectArchives(before time.Time, workspace string, gone map[string]bool, dry bool) ([]Archive, error) {
	if err := m.open(); err != nil {
		return nil, err
	}
	kept, err := m.installedArchives(workspace, gone)
	if err != nil {
		return nil, err
	}
	found := []Archive{}
	root := filepath.Join(m.options.Dir, "archives")
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // the folder was removed meanwhile
		}
		if err == nil && entry.IsDir() && path != root && path != filepath.Join(root, folder(workspace)) {
			return fs.SkipDir // private archives of another workspace
		}
		if err != nil || entry.IsDir() || kept[entry.Name()] {
			return err
		}
		info, err := entry.Info()
		if err != nil || info.ModTime().After(before) {
			return nil //nolint:nilerr // the archive was removed meanwhile
		}
		if !dry {
			if err := os.Remove(path); errors.Is(err, fs.ErrNotExist) {
				return nil
			} else if err != nil {
				return err
			}
		}
		found = append(found, Archive{Name: strings.Replace(entry.Name(), "-", ":", 1), Bytes: info.Size()})
		return nil
	})
	return found, err
}

// installedArchives returns the file names of the archives that installed locks list. It ignores locks of the workspace
// whose digests are in gone.
func (m *Manager) installedArchives(workspace string, gone map[string]bool) (map[string]bool, error) {
	kept := map[string]bool{}
	manifests, err := filepath.Glob(filepath.Join(m.options.Dir, "locks", "*", "*", manifestFile))
	for _, path := range manifests {
		manifest, err := readManifest(filepath.Dir(path))
		if err != nil {
			continue // the lock was removed meanwhile
		}
		if manifest.Workspace == workspace && gone[manifest.Digest] {
			continue
		}
		for _, p := range manifest.Lock.Packages {
			kept[strings.ReplaceAll(p.Hash, ":", "-")] = true
		}
	}
	return kept, err
}

// Removable reports whether an installed lock may be removed now: no run uses the lock, and it is not being installed.
func (m *Manager) Removable(workspace, digest string) bool {
	dir := filepath.Join(m.options.Dir, "locks", folder(workspace), filepath.Base(strings.TrimPrefix(digest, "sha256:")))
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.inUse[dir] == 0 && m.installs[dir] == nil
}

// Installing is an installation that is in progress.
type Installing struct {
	Digest string `json:"digest" doc:"Digest of the lock."`
	Step   string `json:"step" enum:"waiting,downloading,building,unpacking"`
	Done   int    `json:"done" doc:"Packages that have completed this step."`
	Total  int    `json:"total"`
}

// Running lists the installations of a workspace that are in progress.
func (m *Manager) Running(workspace string) []Installing {
	parent := filepath.Join(m.options.Dir, "locks", folder(workspace))
	m.mu.Lock()
	defer m.mu.Unlock()
	found := []Installing{}
	for dir, one := range m.installs {
		if filepath.Dir(dir) != parent {
			continue
		}
		now := Installing{Digest: "sha256:" + filepath.Base(dir), Step: "waiting"}
		one.mu.Lock()
		if one.last != nil {
			now.Step, now.Done, now.Total = one.last.Step, one.last.Done, one.last.Total
		}
		one.mu.Unlock()
		found = append(found, now)
	}
	return found
}

// room returns the maximum size of a new lock in bytes: the limit of one lock, or the remaining quota of the workspace
// if that is smaller.
func (m *Manager) room(workspace string) (int64, error) {
	installed, err := m.Installed(workspace)
	left := m.options.Quota
	for _, one := range installed {
		left -= one.Bytes
	}
	return min(left, m.options.Bytes), err
}

func (m *Manager) quotaReached() *Problem {
	return &Problem{
		Code: "quota", Message: fmt.Sprintf("The installed packages of the workspace would exceed its quota of %s.", bytesize.Text(m.options.Quota)),
		Remedy: "Remove unused packages with `atelier packages gc`, or ask the operator of the server to raise --packages-quota.",
	}
}
