package gate

import (
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"
)

// LoginPath is the path of the one-time link. HEAD does not follow it: previews of links use HEAD, and the link works once.
const LoginPath = "/login"

// RoutedPath returns the path of a request as the router reads it.
func RoutedPath(r *http.Request) string {
	if r.URL.RawPath != "" {
		return r.URL.RawPath
	}
	return r.URL.Path
}

// Allow returns the Allow header of a path: the methods that routes have for it, "" for none.
func Allow(routes chi.Routes, r *http.Request) string {
	path := RoutedPath(r)
	var methods []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		if !routes.Match(chi.NewRouteContext(), method, path) {
			continue
		}
		methods = append(methods, method)
		if method == http.MethodGet && path != LoginPath {
			methods = append(methods, http.MethodHead)
		}
	}
	return strings.Join(methods, ", ")
}
