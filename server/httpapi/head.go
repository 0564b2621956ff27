package httpapi

import (
	"net/http"

	"github.com/go-chi/chi/v5"
)

const loginPath = "/login"

// headAsGet takes HEAD to the route of GET; the server leaves the body out. The login link is left to GET alone: those
// who only look ahead at a link ask with HEAD, and it opens once.
func headAsGet(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead && r.URL.Path != loginPath {
			chi.RouteContext(r.Context()).RouteMethod = http.MethodGet
		}
		next.ServeHTTP(w, r)
	})
}
