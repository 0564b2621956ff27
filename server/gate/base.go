package gate

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-chi/chi/v5"
)

// beneath removes the base path from the path of a request, so that later handlers need not know the base path. A
// request without the base path is accepted too, because some proxies remove it and local programs do not send it.
func beneath(base string, next http.Handler) http.Handler {
	if base == "" {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, found := below(base, r.URL.Path)
		raw := r.URL.RawPath
		if raw != "" { // RawPath is set only if the path is escaped in an unusual way.
			var alike bool
			raw, alike = below(base, raw)
			found = found && alike
		}
		if !found {
			next.ServeHTTP(w, r)
			return
		}
		moved := *r
		moved.URL = new(url.URL)
		*moved.URL = *r.URL
		moved.URL.Path, moved.URL.RawPath = path, raw
		next.ServeHTTP(w, &moved)
	})
}

// CheckBase rejects a base path whose first segment is also the first segment of a route. Some proxies remove the base
// path; beneath would then remove the segment from requests for this route.
func (g *Gate) CheckBase() error {
	if g.BasePath == "" {
		return nil
	}
	return chi.Walk(g.Routes, func(_, pattern string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		if first(pattern) == first(g.BasePath) {
			return fmt.Errorf("--base-path %s must not begin with %s, which the server uses itself; choose another, for example /atelier", g.BasePath, pattern)
		}
		return nil
	})
}

// first returns the first segment of a path.
func first(path string) string {
	part, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return part
}

func below(base, path string) (string, bool) {
	if path == base {
		return "/", true
	}
	rest, ok := strings.CutPrefix(path, base+"/")
	return "/" + rest, ok
}
