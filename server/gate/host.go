package gate

import (
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
)

// checkHost rejects requests whose host name is not allowed (DNS rebinding). Another site can make its own name resolve
// to this machine; browsers then treat its pages as pages of this server. Only the Host header distinguishes these
// pages from the Studio.
func (g *Gate) checkHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !g.names[hostName(r.Host)] {
			g.Refuse.Write(w, r, fault.New(fault.BadHost, "The host name of this request is not allowed. Start the server with --host NAME to allow it."))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// hostName returns the name in a Host header without its port.
func hostName(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return canonicalName(host)
	}
	return canonicalName(hostport)
}

func canonicalName(name string) string {
	return strings.ToLower(strings.TrimSuffix(strings.Trim(name, "[]"), "."))
}

// allowPublicURL allows the host name and the origin of the configured public URL.
func (g *Gate) allowPublicURL() {
	if u, err := url.Parse(g.PublicURL); err == nil && u.Host != "" {
		g.names[canonicalName(u.Hostname())] = true
		g.origins[u.Scheme+"://"+strings.ToLower(u.Host)] = true
	}
}
