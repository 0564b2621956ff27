package gate

import (
	"net/http"

	"github.com/atelier-run/atelier/internal/fault"
)

// checkMethod refuses TRACE and CONNECT with the same answer on every path, before any other check.
func (g *Gate) checkMethod(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodTrace || r.Method == http.MethodConnect {
			w.Header().Set("Allow", Allow(g.Routes, r))
			g.Refuse.Write(w, r, fault.New(fault.MethodNotAllowed, "This server does not accept this method."))
			return
		}
		next.ServeHTTP(w, r)
	})
}
