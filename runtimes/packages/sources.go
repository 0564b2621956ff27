package packages

import (
	"fmt"
	"io/fs"
	"os"
	"path"

	"github.com/atelier-run/atelier/internal/bytesize"
)

// Limits of the source text that the bundler receives from one lock, and of the cache of source texts.
const (
	maxSources      = 24 << 20
	keptSources     = 64
	keptSourceBytes = 96 << 20
)

// sources returns the files of npm packages that a bundler may read. Recently used results are cached, because
// installed files do not change.
func (m *Manager) sources(dir, files string) (map[string]string, error) {
	if known, ok := m.kept.Get(dir); ok {
		return known, nil
	}
	found, total := map[string]string{}, 0
	root, err := os.OpenRoot(files)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !bundled(name) {
			return err
		}
		text, err := root.ReadFile(name)
		if err != nil {
			return err
		}
		if total += len(text); total > maxSources {
			return &Problem{Code: "too_large", Message: fmt.Sprintf("The packages have more than %s of source text, which is too much to bundle.", bytesize.Text(maxSources)), Remedy: "Use fewer or smaller packages."}
		}
		found[name] = string(text)
		return nil
	})
	if err == nil {
		m.kept.Put(dir, found, total)
	}
	return found, err
}

// bundled reports whether a file of a package may be imported.
func bundled(name string) bool {
	switch path.Ext(name) {
	case ".js", ".cjs", ".mjs", ".json":
		return true
	}
	return false
}
