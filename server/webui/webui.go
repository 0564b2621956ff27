// Package webui serves the Studio. The files of the Studio were compressed when the Studio was built. Assets with a
// hash in their name are cached permanently; browsers must always revalidate the page. The package does not depend on
// the API.
package webui

import (
	"compress/gzip"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/server/problem"
)

// Base is the base path of the Studio.
const Base = "/studio/"

// formatter is the prefix of the name of the worker script that formats programs. Only this worker may compile
// WebAssembly. A worker has the policy of its own HTTP answer, so the policy of the page does not need
// 'wasm-unsafe-eval'.
const (
	formatter       = "assets/formatter.worker-"
	formatterPolicy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'"
)

// page is the file that is served for every path of the Studio without a file extension.
const page = "index.html"

// New returns the handler of all paths under Base. base is the path of the Studio as browsers see it. If dist has no
// index.html, the Studio was not built. In this case, the handler serves a page that explains how to build the Studio.
func New(dist fs.FS, base string, refuse problem.Writer) http.Handler {
	if dist == nil || !has(dist, page) {
		return notBuilt(base)
	}
	return studio{dist: dist, base: base, refuse: refuse}
}

type studio struct {
	dist   fs.FS
	base   string
	refuse problem.Writer
}

func (s studio) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(path.Clean("/"+strings.TrimPrefix(r.URL.Path, Base)), "/")
	// Serve the page, because its scripts resolve paths within the Studio. The path of a version, such as a/weather@1.0.0,
	// only looks like the name of a file.
	if path.Ext(name) == "" || strings.HasPrefix(name, "a/") {
		name = page
	}
	if !fs.ValidPath(name) || compressed(name) || !s.exists(name) {
		s.refuse.Write(w, r, fault.New(fault.NotFound, "File of the Studio not found."))
		return
	}
	s.serve(w, r, name)
}

// exists reports whether the build has written a file, compressed or not.
func (s studio) exists(name string) bool {
	return has(s.dist, name) || has(s.dist, name+".gz")
}

func (s studio) serve(w http.ResponseWriter, r *http.Request, name string) {
	h := w.Header()
	h.Set("Content-Type", contentType(name))
	h.Set("Cache-Control", caching(name))
	h.Add("Vary", "Accept-Encoding")
	if strings.HasPrefix(name, formatter) {
		h.Set("Content-Security-Policy", formatterPolicy)
	}
	accepts := r.Header.Get("Accept-Encoding")
	switch {
	case name == page && s.base != "":
		s.sendMoved(w, r)
	case accepted(accepts, "br") && has(s.dist, name+".br"):
		h.Set("Content-Encoding", "br")
		s.send(w, r, name+".br")
	case accepted(accepts, "gzip") && has(s.dist, name+".gz"):
		h.Set("Content-Encoding", "gzip")
		s.send(w, r, name+".gz")
	case has(s.dist, name):
		s.send(w, r, name)
	default:
		s.sendInflated(w, r, name+".gz")
	}
}

func (s studio) send(w http.ResponseWriter, r *http.Request, name string) {
	file, err := s.dist.Open(name)
	if err != nil {
		s.refuse.Write(w, r, err)
		return
	}
	defer func() { _ = file.Close() }() // The file was read, so an error of Close has no effect.
	if info, err := file.Stat(); err == nil {
		w.Header().Set("Content-Length", strconv.FormatInt(info.Size(), 10))
	}
	copyTo(w, r, file)
}

// sendMoved serves the page for a server with a base path. The page refers to its files from the root and passes the
// base path to its scripts. All other files use relative references.
func (s studio) sendMoved(w http.ResponseWriter, r *http.Request) {
	text, err := fs.ReadFile(s.dist, page)
	if err != nil {
		s.refuse.Write(w, r, err)
		return
	}
	moved := strings.NewReplacer(`="`+Base, `="`+s.base+Base, `name="base-path" content="`, `name="base-path" content="`+s.base).Replace(string(text))
	copyTo(w, r, strings.NewReader(moved))
}

// sendInflated decompresses a file for a client that does not accept compression. It is needed if the build has kept
// only compressed files.
func (s studio) sendInflated(w http.ResponseWriter, r *http.Request, name string) {
	file, err := s.dist.Open(name)
	if err != nil {
		s.refuse.Write(w, r, err)
		return
	}
	defer func() { _ = file.Close() }() // The file was read, so an error of Close has no effect.
	plain, err := gzip.NewReader(file)
	if err != nil {
		s.refuse.Write(w, r, err)
		return
	}
	copyTo(w, r, plain)
}

func copyTo(w http.ResponseWriter, r *http.Request, from io.Reader) {
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = io.Copy(w, from) // The client may have disconnected.
	}
}

// caching returns the Cache-Control of a file. Files with a hash in their name may be cached permanently; all other
// files must be revalidated.
func caching(name string) string {
	if strings.HasPrefix(name, "assets/") {
		return "public, max-age=31536000, immutable"
	}
	return "no-cache"
}

// contentType returns the content type for a file extension. For types that browsers check strictly, the result does
// not depend on the machine.
func contentType(name string) string {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".js", ".mjs":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".json", ".map":
		return "application/json"
	case ".svg":
		return "image/svg+xml"
	case ".wasm":
		return "application/wasm"
	case ".woff2":
		return "font/woff2"
	case ".ttf":
		return "font/ttf"
	}
	if known := mime.TypeByExtension(path.Ext(name)); known != "" {
		return known
	}
	return "application/octet-stream"
}

func compressed(name string) bool {
	return strings.HasSuffix(name, ".br") || strings.HasSuffix(name, ".gz")
}

func has(dist fs.FS, name string) bool {
	info, err := fs.Stat(dist, name)
	return err == nil && info.Mode().IsRegular()
}
