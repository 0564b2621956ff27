package gate

import (
	"net/http"
	"net/url"
	"strings"
)

// beneath takes the base path off a request, so that nothing behind it knows of one. Proxies pass the path on or strip it,
// and programs on this machine need none: a request without it is as good.
func beneath(base string, next http.Handler) http.Handler {
	if base == "" {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, found := below(base, r.URL.Path)
		raw := r.URL.RawPath
		if raw != "" { // only where the escapes are not the usual ones
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

func below(base, path string) (string, bool) {
	if path == base {
		return "/", true
	}
	rest, ok := strings.CutPrefix(path, base+"/")
	return "/" + rest, ok
}
