package httpapi

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/atelier-run/atelier/server/gate"
)

// headAsGet routes HEAD requests to the handlers of GET; the server omits the body. The sign-in link is excluded,
// because previews of links send HEAD and the link works only once.
func headAsGet(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead && r.URL.Path != gate.SignInPath {
			chi.RouteContext(r.Context()).RouteMethod = http.MethodGet
		}
		next.ServeHTTP(w, r)
	})
}
