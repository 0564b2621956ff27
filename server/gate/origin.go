package gate

import (
	"net/http"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
)

// checkOrigin rejects requests sent by a page of another origin: every method that changes state, and every WebSocket
// upgrade, which browsers allow across origins. Clients other than browsers send neither header.
func (g *Gate) checkOrigin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if (unsafe(r.Method) || upgrades(r)) && !g.ours(r) {
			g.Refuse.Write(w, r, fault.New(fault.BadOrigin, "Requests from pages of another origin are not allowed."))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// ours compares scheme, host and port exactly. Sandboxed and local pages send "null", which is never allowed.
func (g *Gate) ours(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
	default:
		return false
	}
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return true
	}
	scheme := "http://"
	if r.TLS != nil {
		scheme = "https://"
	}
	origin := origins[0]
	return len(origins) == 1 && (origin == scheme+strings.ToLower(r.Host) || g.origins[origin])
}

func unsafe(method string) bool {
	return method != http.MethodGet && method != http.MethodHead && method != http.MethodOptions
}

func upgrades(r *http.Request) bool { return r.Header.Get("Upgrade") != "" }
