package sandbox

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// usr is a host directory of which programs see only the parts in usrParts.
const usr = "/usr"

// usrParts returns the parts of /usr that programs see: programs, libraries, and the data that interpreters load. It
// does not contain settings (such as tokens in /usr/local/etc), sources and documents.
func usrParts() []string {
	return []string{
		"bin", "sbin", "lib", "lib32", "lib64", "libx32", "libexec",
		"local/bin", "local/sbin", "local/lib", "local/lib64", "local/libexec",
		"share/awk", "share/ca-certificates", "share/fontconfig", "share/fonts", "share/i18n", "share/icu", "share/misc",
		"share/node_modules", "share/nodejs", "share/perl", "share/perl5", "share/terminfo", "share/unicode", "share/zoneinfo",
	}
}

// InUsr reports whether a path is in a part of /usr that every program sees.
func InUsr(name string) bool {
	return slices.ContainsFunc(usrParts(), func(part string) bool { return strings.HasPrefix(name, path.Join(usr, part)+"/") })
}

// splitUsr replaces a mount of /usr with mounts of its parts. A part that is a link stays a link.
func splitUsr(mounts []Mount) (parts []Mount, links map[string]string) {
	links = map[string]string{}
	for _, m := range mounts {
		if m.Host != usr || m.Path != usr {
			parts = append(parts, m)
			continue
		}
		for _, part := range usrParts() {
			name := path.Join(usr, part)
			info, err := os.Lstat(name)
			switch {
			case err != nil: // this part does not exist on this host
			case info.IsDir():
				parts = append(parts, Mount{Host: name, Path: name})
			case info.Mode()&fs.ModeSymlink != 0:
				if target, err := os.Readlink(name); err == nil {
					links[name] = target
				}
			}
		}
	}
	return parts, links
}

// privatePaths is a cache of the private files below each mount.
type privatePaths struct {
	mu    sync.Mutex
	found map[Mount][]string
}

// maxHidden is the maximum number of private files of a jail. Each one needs a mount, which makes the set-up slower.
const maxHidden = 200

// hidden returns the paths in a jail that the server's user may read, but not every user of the host. If the server is
// not root, programs run as the server's user and could read these paths, so the jail must hide them. The result is
// cached for each mount.
func (s *Sandbox) hidden(mounts []Mount) ([]string, error) {
	if s.ids.pool {
		return nil, nil // nothing to hide, because programs run as a user that owns no files
	}
	s.private.mu.Lock()
	defer s.private.mu.Unlock()
	var all []string
	for _, m := range mounts {
		if m.Private {
			continue
		}
		found, known := s.private.found[m]
		if !known {
			found = privateIn(m)
			s.private.found[m] = found
		}
		all = append(all, found...)
	}
	if len(all) > maxHidden {
		return nil, fmt.Errorf("%d files in %s may be read by their owner only; run chmod -R o+rX on directories that programs need", len(all), path.Dir(all[0]))
	}
	return all, nil
}

// privateIn returns the private files and directories below a mount.
func privateIn(m Mount) []string {
	var found []string
	_ = filepath.WalkDir(m.Host, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil // skip a directory that the server cannot read, because programs cannot read it either
		}
		if name == m.Host || entry.Type()&fs.ModeSymlink != 0 {
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return nil // the file was removed meanwhile
		}
		open := fs.FileMode(0o004)
		if entry.IsDir() {
			open = 0o005
		}
		if info.Mode()&open == open || unix.Access(name, unix.R_OK) != nil {
			return nil
		}
		found = append(found, m.Path+strings.TrimPrefix(name, m.Host))
		if entry.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	return found
}
