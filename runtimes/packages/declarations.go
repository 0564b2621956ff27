package packages

import (
	"cmp"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/atelier-run/atelier/runtimes"
)

// Limits of the declarations that are sent to an editor.
const (
	maxDeclared      = 4 << 20
	maxDeclaredFile  = 512 << 10
	maxDeclaredFiles = 1500
)

// Declarations returns the files of an installed lock from which an editor reads types: declarations of npm packages,
// and stubs and sources of Python packages. Packages in named come first; the others follow up to the limits. If the
// lock is not installed, installed is false. If files were left out, complete is false.
func (m *Manager) Declarations(workspace string, lock runtimes.Lock, named []string) (files map[string]string, installed, complete bool, err error) {
	dir := m.dirOf(workspace, lock.Digest())
	m.hold(dir, 1) // prevents the removal of the lock while its files are read
	defer m.hold(dir, -1)
	if _, err := readManifest(dir); err != nil {
		return map[string]string{}, false, false, nil //nolint:nilerr // the lock is not installed
	}
	root, err := os.OpenRoot(filepath.Join(dir, filesDir))
	if err != nil {
		return nil, true, false, err
	}
	defer root.Close()
	all, err := typed(root.FS(), lock.Ecosystem, named)
	if err != nil {
		return nil, true, false, err
	}
	files, complete = map[string]string{}, true
	left := int64(maxDeclared)
	for _, one := range all {
		if one.size > min(left, maxDeclaredFile) || len(files) >= maxDeclaredFiles {
			complete = false
			continue
		}
		text, err := root.ReadFile(one.path)
		if err != nil {
			return nil, true, false, err
		}
		left -= int64(len(text))
		files[one.path] = strings.ToValidUTF8(string(text), "\uFFFD")
	}
	return files, true, complete, nil
}

type declared struct {
	path string
	size int64
	rank int // files with a lower rank come first
}

// typed lists the files that contain types. The most useful files come first.
func typed(files fs.FS, ecosystem runtimes.Ecosystem, named []string) ([]declared, error) {
	var all []declared
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if slices.Contains([]string{"__pycache__", "tests", "test", "_vendor", "vendored"}, entry.Name()) || strings.HasSuffix(entry.Name(), ".dist-info") {
				return fs.SkipDir
			}
			return nil
		}
		rank := rankOf(ecosystem, name, named)
		if rank < 0 {
			return nil
		}
		info, err := entry.Info()
		if err == nil {
			all = append(all, declared{name, info.Size(), rank})
		}
		return err
	})
	slices.SortFunc(all, func(a, b declared) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(strings.Count(a.path, "/"), strings.Count(b.path, "/")), strings.Compare(a.path, b.path))
	})
	return all, err
}

// rankOf returns the sort key of a file. Files of the packages in named have the lowest keys. It returns -1 for a file
// without types.
func rankOf(ecosystem runtimes.Ecosystem, name string, named []string) int {
	rank := 10
	if ecosystem == runtimes.NPM {
		base := path.Base(name)
		if base != "package.json" && !strings.HasSuffix(base, ".d.ts") && !strings.HasSuffix(base, ".d.mts") && !strings.HasSuffix(base, ".d.cts") {
			return -1
		}
		if slices.ContainsFunc(named, func(n string) bool {
			return strings.HasPrefix(name, "node_modules/"+n+"/") || strings.HasPrefix(name, "node_modules/@types/"+strings.Replace(strings.TrimPrefix(n, "@"), "/", "__", 1)+"/")
		}) {
			rank = 0
		}
		if base == "package.json" {
			rank--
		}
		return rank + 1
	}
	switch path.Ext(name) {
	case ".pyi":
	case ".py":
		rank++
	default:
		if path.Base(name) != "py.typed" {
			return -1
		}
	}
	top, _, _ := strings.Cut(name, "/")
	top = strings.ToLower(separators.ReplaceAllString(strings.TrimSuffix(strings.TrimSuffix(top, path.Ext(top)), "-stubs"), "-"))
	if slices.Contains(named, top) {
		rank -= 10
	}
	return rank
}
