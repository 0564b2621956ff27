package gate

import (
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"
)

// SignInPath is the path of the one-time sign-in link. A HEAD request does not use up the link, because previews of
// links send HEAD.
const SignInPath = "/login"

// RoutedPath returns the path of a request in the form in which the router reads it.
func RoutedPath(r *http.Request) string {
	if r.URL.RawPath != "" {
		return r.URL.RawPath
	}
	return r.URL.Path
}

// Allow returns the Allow header of a path, which lists the methods of the most specific route. If no route matches, it
// returns "". For example, /skills/execute also matches /skills/{id}, but only the methods of /skills/execute are
// listed, as in OpenAPI.
func Allow(routes chi.Routes, r *http.Request) string {
	path := RoutedPath(r)
	patterns := map[string]string{}
	best, fewest := "", 0
	for _, method := range routeMethods() {
		pattern := routes.Find(chi.NewRouteContext(), method, path)
		if pattern == "" {
			continue
		}
		patterns[method] = pattern
		if variables := strings.Count(pattern, "{"); best == "" || variables < fewest {
			best, fewest = pattern, variables
		}
	}
	var methods []string
	for _, method := range routeMethods() {
		if best == "" || patterns[method] != best {
			continue
		}
		methods = append(methods, method)
		if method == http.MethodGet && path != SignInPath {
			methods = append(methods, http.MethodHead)
		}
	}
	return strings.Join(methods, ", ")
}

func routeMethods() []string {
	return []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}
}
