package packagestest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Tarball describes an npm package. Bytes makes its tarball.
type Tarball struct {
	Name, Version string
	Files         map[string]string // content by path; package.json is added
	Dependencies  map[string]string
	Manifest      map[string]any // further fields of package.json
	Headers       []tar.Header   // headers of tar entries without content, written unchanged
	content       []byte
}

func (p Tarball) manifest() map[string]any {
	all := map[string]any{"name": p.Name, "version": p.Version, "dependencies": p.Dependencies}
	maps.Copy(all, p.Manifest)
	return all
}

// Bytes returns the tarball, compressed with gzip.
func (p Tarball) Bytes(tb testing.TB) []byte {
	tb.Helper()
	manifest, err := json.Marshal(p.manifest())
	if err != nil {
		tb.Fatal(err)
	}
	var text bytes.Buffer
	zipped := gzip.NewWriter(&text)
	archive := tar.NewWriter(zipped)
	files := maps.Clone(p.Files)
	if files == nil {
		files = map[string]string{}
	}
	files["package.json"] = string(manifest)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := archive.WriteHeader(&tar.Header{Name: "package/" + name, Mode: 0o644, Size: int64(len(files[name]))}); err != nil {
			tb.Fatal(err)
		}
		if _, err := archive.Write([]byte(files[name])); err != nil {
			tb.Fatal(err)
		}
	}
	for _, header := range p.Headers {
		if err := archive.WriteHeader(&header); err != nil {
			tb.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		tb.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		tb.Fatal(err)
	}
	return text.Bytes()
}

// Integrity returns the SHA-512 of the tarball as npm writes it.
func (p Tarball) Integrity(tb testing.TB) string {
	tb.Helper()
	sum := sha512.Sum512(p.Bytes(tb))
	return "sha512-" + base64.StdEncoding.EncodeToString(sum[:])
}

// NPM returns the address of the index for npm.
func (i *Index) NPM() string { return i.URL + "/npm/" }

// AddNPM publishes an npm package.
func (i *Index) AddNPM(tb testing.TB, p Tarball) {
	tb.Helper()
	p.content = p.Bytes(tb)
	i.mu.Lock()
	defer i.mu.Unlock()
	i.npm[p.Name] = append(i.npm[p.Name], p)
}

func (i *Index) serveNPM(w http.ResponseWriter, r *http.Request, rest string) {
	rest = strings.ReplaceAll(rest, "%2f", "/")
	if rest == "-/v1/search" {
		i.searchNPM(w, r.URL.Query().Get("text"))
		return
	}
	name, file, archived := strings.Cut(rest, "/-/")
	i.mu.Lock()
	versions := slices.Clone(i.npm[name])
	i.mu.Unlock()
	if len(versions) == 0 {
		http.NotFound(w, r)
		return
	}
	listed := map[string]any{}
	for _, p := range versions {
		// The usual file name of npm, because some clients derive it from name and version.
		tarball := path.Base(name) + "-" + p.Version + ".tgz"
		if archived && file == tarball {
			i.Downloads.Add(1)
			_, _ = w.Write(p.content)
			return
		}
		sum := sha512.Sum512(p.content)
		manifest := p.manifest()
		manifest["dist"] = map[string]string{
			"tarball": i.NPM() + name + "/-/" + tarball, "integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:]),
		}
		listed[p.Version] = manifest
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"name": name, "versions": listed, "dist-tags": map[string]string{"latest": versions[len(versions)-1].Version}})
}

// Installed returns an npm package, with its scripts, from the repository's node_modules. If the package is not
// installed, it skips the test.
func Installed(tb testing.TB, name string) Tarball {
	tb.Helper()
	root, err := os.Getwd()
	for err == nil && root != "/" {
		if _, missing := os.Stat(filepath.Join(root, "node_modules", name, "package.json")); missing == nil {
			break
		}
		root = filepath.Dir(root)
	}
	dir := filepath.Join(root, "node_modules", name)
	manifest := map[string]any{}
	text, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err != nil {
		tb.Skipf("the npm package %s is missing; run npm ci", name)
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		tb.Fatal(err)
	}
	version, _ := manifest["version"].(string)
	p := Tarball{Name: name, Version: version, Manifest: manifest, Files: map[string]string{}}
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !slices.Contains([]string{".js", ".cjs", ".mjs", ".json"}, filepath.Ext(path)) {
			return err
		}
		content, err := os.ReadFile(path)
		inside, _ := filepath.Rel(dir, path)
		p.Files[filepath.ToSlash(inside)] = string(content)
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// searchNPM responds with the packages whose name contains a text, sorted by name.
func (i *Index) searchNPM(w http.ResponseWriter, text string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	objects := []map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(i.npm)) {
		if strings.Contains(name, text) {
			newest := i.npm[name][len(i.npm[name])-1]
			objects = append(objects, map[string]any{"package": newest.manifest()})
		}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"objects": objects})
}
