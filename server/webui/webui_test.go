package webui_test

import (
	"bytes"
	"compress/gzip"
	"io/fs"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/atelier-run/atelier/server/problem"
	"github.com/atelier-run/atelier/server/webui"
)

func built(t *testing.T) fs.FS {
	t.Helper()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write([]byte("only gzip")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return fstest.MapFS{
		"index.html":            {Data: []byte("<page>")},
		"index.html.br":         {Data: []byte("page-br")},
		"index.html.gz":         {Data: []byte("page-gz")},
		"assets/app-ab12.js":    {Data: []byte("plain")},
		"assets/app-ab12.js.br": {Data: []byte("brotli")},
		"assets/app-ab12.js.gz": {Data: []byte("gzipped")},
		"assets/lone-1.js.gz":   {Data: packed.Bytes()},
		"theme.js":              {Data: []byte("theme")},
	}
}

func TestStudio(t *testing.T) {
	t.Parallel()
	const forGood = "public, max-age=31536000, immutable"
	tests := map[string]struct {
		method, path, accepts string
		status                int
		body, kind, encoding  string
		caching               string
	}{
		"page":                     {"GET", "/studio/", "gzip, deflate, br, zstd", 200, "page-br", "text/html; charset=utf-8", "br", "no-cache"},
		"page, plain HTTP":         {"GET", "/studio/", "gzip, deflate", 200, "page-gz", "text/html; charset=utf-8", "gzip", "no-cache"},
		"page, no compression":     {"GET", "/studio/", "", 200, "<page>", "text/html; charset=utf-8", "", "no-cache"},
		"place in the Studio":      {"GET", "/studio/agents/weather", "", 200, "<page>", "text/html; charset=utf-8", "", "no-cache"},
		"place of a version":       {"GET", "/studio/a/weather@1.0.0", "", 200, "<page>", "text/html; charset=utf-8", "", "no-cache"},
		"asset":                    {"GET", "/studio/assets/app-ab12.js", "br", 200, "brotli", "text/javascript; charset=utf-8", "br", forGood},
		"asset, brotli refused":    {"GET", "/studio/assets/app-ab12.js", "br;q=0, gzip;q=0.5", 200, "gzipped", "text/javascript; charset=utf-8", "gzip", forGood},
		"asset kept only packed":   {"GET", "/studio/assets/lone-1.js", "", 200, "only gzip", "text/javascript; charset=utf-8", "", forGood},
		"file without a hash":      {"GET", "/studio/theme.js", "br", 200, "theme", "text/javascript; charset=utf-8", "", "no-cache"},
		"head":                     {"HEAD", "/studio/theme.js", "", 200, "", "text/javascript; charset=utf-8", "", "no-cache"},
		"no such asset":            {"GET", "/studio/assets/gone.js", "", 404, "not_found", problem.MediaType, "", ""},
		"packed file by its name":  {"GET", "/studio/assets/app-ab12.js.br", "", 404, "not_found", problem.MediaType, "", ""},
		"directory":                {"GET", "/studio/assets/", "", 200, "<page>", "text/html; charset=utf-8", "", "no-cache"},
		"out of the house":         {"GET", "/studio/../go.mod", "", 404, "not_found", problem.MediaType, "", ""},
		"out of the house, hidden": {"GET", "/studio/%2e%2e/%2e%2e/etc/passwd.txt", "", 404, "not_found", problem.MediaType, "", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest(tt.method, tt.path, nil)
			r.Header.Set("Accept-Encoding", tt.accepts)
			w := httptest.NewRecorder()
			webui.New(built(t), "", problem.Writer{Log: slog.New(slog.DiscardHandler)}).ServeHTTP(w, r)
			h := w.Header()
			if w.Code != tt.status || h.Get("Content-Type") != tt.kind || h.Get("Content-Encoding") != tt.encoding {
				t.Errorf("got %d, %v", w.Code, h)
			}
			if tt.status == 200 && (w.Body.String() != tt.body || h.Get("Cache-Control") != tt.caching) {
				t.Errorf("got %q, %v", w.Body, h)
			}
			if tt.status != 200 && !strings.Contains(w.Body.String(), tt.body) {
				t.Errorf("got %s", w.Body)
			}
		})
	}
}

// Only the worker that formats programs may compile WebAssembly.
func TestStudio_PolicyOfTheFormatter(t *testing.T) {
	t.Parallel()
	dist := built(t).(fstest.MapFS)
	dist["assets/formatter.worker-ab12.js"] = &fstest.MapFile{Data: []byte("worker")}
	h := webui.New(dist, "", problem.Writer{Log: slog.New(slog.DiscardHandler)})
	for path, compiles := range map[string]bool{
		"/studio/": false, "/studio/assets/app-ab12.js": false, "/studio/assets/formatter.worker-ab12.js": true,
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		policy := w.Header().Get("Content-Security-Policy")
		if got := strings.Contains(policy, "'wasm-unsafe-eval'"); got != compiles {
			t.Errorf("%s: policy %q", path, policy)
		}
		if compiles && (!strings.HasPrefix(policy, "default-src 'none'") || strings.Contains(policy, "'unsafe-eval'")) {
			t.Errorf("%s: policy %q", path, policy)
		}
	}
}

func TestBinaryWithoutTheStudioSaysHowToBuildIt(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	webui.New(fstest.MapFS{}, "", problem.Writer{}).ServeHTTP(w, httptest.NewRequest("GET", "/studio/", nil))
	if w.Code != 200 || !strings.Contains(w.Body.String(), "make build") {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
}
