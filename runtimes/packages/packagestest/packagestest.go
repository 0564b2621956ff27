// Package packagestest makes wheels and serves them as a package index on loopback, for tests.
package packagestest

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"html"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// UV returns the path of uv. If uv is not installed, UV skips the test. If the environment variable CI is true, it
// fails the test instead.
func UV(tb testing.TB) string {
	tb.Helper()
	paths := []string{"/usr/bin/uv", "/usr/local/bin/uv"}
	if cache, err := os.UserCacheDir(); err == nil {
		// Cannot fail, because the pattern is valid.
		found, _ := filepath.Glob(filepath.Join(cache, "atelier", "uv-*", "uv"))
		paths = append(paths, found...)
	}
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.Mode()&0o111 != 0 {
			return path
		}
	}
	if os.Getenv("CI") == "true" {
		tb.Fatal("uv is missing; run scripts/uv.sh")
	}
	tb.Skip("uv is missing; run scripts/uv.sh")
	return ""
}

// Dir returns a temporary directory that the users of sandboxes can enter. They cannot enter the directory of
// testing.TB.TempDir.
func Dir(tb testing.TB) string {
	tb.Helper()
	dir, err := os.MkdirTemp("", "atelier-packages-")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = os.RemoveAll(dir) }) // if the removal fails, only temporary files remain
	if err := os.Chmod(dir, 0o755); err != nil {
		tb.Fatal(err)
	}
	return dir
}

// Wheel describes a Python wheel. Bytes makes the file.
type Wheel struct {
	Name, Version string
	Files         map[string]string
	Requires      []string
	License       string
	Claims        string // wrong name for the metadata; "": the correct name
	ClaimsVersion string // wrong version for the metadata; "": the correct version
	Tag           string // tag in the file name; default py3-none-any
	// Members are added to the archive unchanged, after Files.
	Members []Member
}

// Member is one member of a wheel, with any name and mode.
type Member struct {
	Name, Content string
	Mode          os.FileMode
}

// Filename returns the name of the wheel's file.
func (w Wheel) Filename() string {
	tag := w.Tag
	if tag == "" {
		tag = "py3-none-any"
	}
	return strings.ReplaceAll(w.Name, "-", "_") + "-" + w.Version + "-" + tag + ".whl"
}

// Hash returns the SHA-256 of the wheel.
func (w Wheel) Hash(tb testing.TB) string {
	tb.Helper()
	sum := sha256.Sum256(w.Bytes(tb))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Bytes returns the wheel, which is a ZIP archive.
func (w Wheel) Bytes(tb testing.TB) []byte {
	tb.Helper()
	var text bytes.Buffer
	archive := zip.NewWriter(&text)
	add := func(m Member) {
		header := &zip.FileHeader{Name: m.Name, Method: zip.Deflate}
		if m.Mode != 0 {
			header.SetMode(m.Mode)
		}
		out, err := archive.CreateHeader(header)
		if err == nil {
			_, err = out.Write([]byte(m.Content))
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.Files)) {
		add(Member{Name: name, Content: w.Files[name]})
	}
	for _, m := range w.Members {
		add(m)
	}
	info := strings.ReplaceAll(w.Name, "-", "_") + "-" + w.Version + ".dist-info/"
	add(Member{Name: info + "METADATA", Content: w.metadata()})
	add(Member{Name: info + "WHEEL", Content: "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"})
	add(Member{Name: info + "RECORD", Content: ""})
	if err := archive.Close(); err != nil {
		tb.Fatal(err)
	}
	return text.Bytes()
}

func (w Wheel) metadata() string {
	name := w.Name
	if w.Claims != "" {
		name = w.Claims
	}
	version := w.Version
	if w.ClaimsVersion != "" {
		version = w.ClaimsVersion
	}
	text := "Metadata-Version: 2.1\nName: " + name + "\nVersion: " + version + "\n"
	if w.License != "" {
		text += "License: " + w.License + "\n"
	}
	for _, requirement := range w.Requires {
		text += "Requires-Dist: " + requirement + "\n"
	}
	return text + "\nA package for tests.\n"
}

// Index is a package index on loopback.
type Index struct {
	*httptest.Server
	Downloads atomic.Int64 // number of archives that were sent

	mu    sync.Mutex
	auth  string                     // value of the header Authorization that requests need; "" for none
	files map[string]map[string]file // keys: project, name of the file
	npm   map[string][]Tarball       // key: name
}

type file struct {
	content []byte
	digest  string // SHA-256 that the index announces; "": the correct one
	serve   http.HandlerFunc
}

// NewIndex serves wheels until the test ends.
func NewIndex(tb testing.TB, wheels ...Wheel) *Index {
	tb.Helper()
	i := Open()
	tb.Cleanup(i.Close)
	for _, wheel := range wheels {
		i.Add(tb, wheel)
	}
	return i
}

// Require makes the index refuse requests unless their Authorization header equals header, for example "Bearer TOKEN".
func (i *Index) Require(header string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.auth = header
}

// Simple returns the address of the index for Python packages.
func (i *Index) Simple() string { return i.URL + "/simple/" }

// Add publishes a wheel.
func (i *Index) Add(tb testing.TB, wheel Wheel) {
	tb.Helper()
	i.AddFile(wheel.Name, wheel.Filename(), wheel.Bytes(tb), "")
}

// AddFile publishes any file. digest is the SHA-256 that the index announces; "" stands for the correct one.
func (i *Index) AddFile(project, name string, content []byte, digest string) {
	i.put(project, name, file{content: content, digest: digest})
}

// AddHandler publishes a file that a handler serves.
func (i *Index) AddHandler(project, name, digest string, serve http.HandlerFunc) {
	i.put(project, name, file{digest: digest, serve: serve})
}

func (i *Index) put(project, name string, f file) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.files[project] == nil {
		i.files[project] = map[string]file{}
	}
	i.files[project][name] = f
}

// ServeHTTP implements http.Handler with the simple API of Python indexes.
func (i *Index) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	if i.auth != "" && r.Header.Get("Authorization") != i.auth {
		i.mu.Unlock()
		w.Header().Set("WWW-Authenticate", "Basic")
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	var listed map[string]file
	var found file
	var ok bool
	switch {
	case len(parts) == 2 && parts[0] == "simple":
		listed, ok = i.files[parts[1]]
		listed = maps.Clone(listed)
	case len(parts) == 3 && parts[0] == "files":
		found, ok = i.files[parts[1]][parts[2]]
	}
	i.mu.Unlock()
	switch {
	case len(parts) > 1 && parts[0] == "npm":
		i.serveNPM(w, r, strings.Join(parts[1:], "/"))
	case !ok:
		http.NotFound(w, r)
	case listed != nil:
		w.Header().Set("Content-Type", "text/html")
		for _, name := range slices.Sorted(maps.Keys(listed)) {
			digest := listed[name].digest
			if digest == "" {
				sum := sha256.Sum256(listed[name].content)
				digest = hex.EncodeToString(sum[:])
			}
			_, _ = fmt.Fprintf(w, "<a href=\"/files/%s/%s#sha256=%s\">%s</a>\n", parts[1], html.EscapeString(name), digest, html.EscapeString(name))
		}
	case found.serve != nil:
		i.Downloads.Add(1)
		found.serve(w, r)
	default:
		i.Downloads.Add(1)
		http.ServeContent(w, r, parts[2], time.Time{}, bytes.NewReader(found.content))
	}
}
