package gate

import (
	"net/http"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
)

// checkOrigin rejects requests from pages of another origin. It applies to methods that change state and to WebSockets,
// which browsers allow across origins. It uses the headers Origin and Sec-Fetch-Site, which only browsers send.
func (g *Gate) checkOrigin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if (unsafe(r.Method) || upgrades(r)) && !g.ours(r) {
			g.Refuse.Write(w, r, fault.New(fault.BadOrigin, "Requests from pages of another origin are not allowed."))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// ours reports whether a request comes from a page of this server, or not from a page at all. Scheme, host and port
// must be equal. Sandboxed and local pages send the origin "null", which is never allowed.
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
