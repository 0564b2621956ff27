package gate

import (
	"net/http"

	"github.com/atelier-run/atelier/internal/fault"
)

// checkMethod refuses the methods TRACE and CONNECT. It runs before all other checks, so that the answer is the same
// for every path.
func (g *Gate) checkMethod(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodTrace || r.Method == http.MethodConnect {
			w.Header().Set("Allow", Allow(g.Routes, r))
			g.Refuse.Write(w, r, fault.New(fault.MethodNotAllowed, "This server does not support this HTTP method."))
			return
		}
		next.ServeHTTP(w, r)
	})
}
