package packagestest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Folder returns the folder with the real packages that scripts/packages.sh downloads. If the folder is missing, Folder
// skips the test. If the environment variable CI is true, it fails the test instead.
func Folder(tb testing.TB) string {
	tb.Helper()
	dir := os.Getenv("ATELIER_TEST_PACKAGES")
	if dir == "" {
		if cache, err := os.UserCacheDir(); err == nil {
			// Cannot fail, because the pattern is valid.
			found, _ := filepath.Glob(filepath.Join(cache, "atelier", "packages-*", "complete"))
			for _, mark := range found {
				dir = filepath.Dir(mark)
			}
		}
	}
	if dir != "" {
		return dir
	}
	if os.Getenv("CI") == "true" {
		tb.Fatal("real packages are missing; run scripts/packages.sh")
	}
	tb.Skip("real packages are missing; run scripts/packages.sh")
	return ""
}

// Open starts an index without packages. The caller must close it.
func Open() *Index {
	i := &Index{files: map[string]map[string]file{}, npm: map[string][]Tarball{}}
	i.Server = httptest.NewServer(i)
	return i
}

// AddFolder publishes the wheels and the npm tarballs of a folder.
func (i *Index) AddFolder(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			return err
		}
		switch filepath.Ext(entry.Name()) {
		case ".whl":
			name, _, _ := strings.Cut(entry.Name(), "-")
			i.AddFile(strings.ToLower(strings.ReplaceAll(name, "_", "-")), entry.Name(), content, "")
		case ".tgz":
			p := Tarball{content: content}
			if p.Manifest, err = manifestIn(content); err != nil {
				return fmt.Errorf("%s: %w", entry.Name(), err)
			}
			p.Name, _ = p.Manifest["name"].(string)
			p.Version, _ = p.Manifest["version"].(string)
			i.mu.Lock()
			i.npm[p.Name] = append(i.npm[p.Name], p)
			i.mu.Unlock()
		}
	}
	return nil
}

// manifestIn reads package.json of an npm tarball.
func manifestIn(content []byte) (map[string]any, error) {
	zipped, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	for archive := tar.NewReader(zipped); ; {
		header, err := archive.Next()
		if err != nil {
			return nil, err
		}
		if header.Name == "package/package.json" {
			text, err := io.ReadAll(archive)
			if err != nil {
				return nil, err
			}
			manifest := map[string]any{}
			return manifest, json.Unmarshal(text, &manifest)
		}
	}
}
