package httpapi

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/atelier-run/atelier/server/gate"
)

// headAsGet routes HEAD to GET; the server omits the body. It excludes the sign-in link, because link previews use HEAD
// and the link works only once.
func headAsGet(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead && r.URL.Path != gate.SignInPath {
			chi.RouteContext(r.Context()).RouteMethod = http.MethodGet
		}
		next.ServeHTTP(w, r)
	})
}
