package gate

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/atelier-run/atelier/registry"
)

// anonymous returns the caller of requests that have no credential and come from an allowed network. This caller may
// only execute skills.
func anonymous() registry.Caller {
	return registry.Caller{
		Actor:     registry.Actor{ID: "anonymous", Type: registry.AnonymousActor, Name: "anonymous", Workspace: registry.DefaultWorkspace},
		Workspace: registry.Workspace{ID: registry.DefaultWorkspace, Name: registry.DefaultWorkspace},
		Scopes:    []registry.Scope{registry.RunScope},
	}
}

// anonymous reports whether a request without a credential may call a skill, because existing clients send no
// credential. The Origin header must not show that a web page sent the request. The Host header must name this server.
// The address must be in an allowed network. Requests with headers that proxies add are refused, because their address
// is that of the proxy and not of the client.
func (g *Gate) anonymous(r *http.Request) bool {
	if len(g.Anonymous) == 0 || !strings.HasPrefix(r.URL.Path, "/skills/") && r.URL.Path != "/v1/skills/run" {
		return false
	}
	for name := range r.Header {
		switch {
		case strings.HasPrefix(name, "X-Forwarded-"), name == "Forwarded", name == "X-Real-Ip", name == "Via":
			return false
		}
	}
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return false
	}
	from := peer.Addr().Unmap().WithZone("")
	named := !from.IsLoopback() || loopbackName(hostName(r.Host)) // For other networks, checkHost has checked the name.
	return named && g.ours(r) && slices.ContainsFunc(g.Anonymous, func(p netip.Prefix) bool { return p.Contains(from) })
}

func loopbackName(name string) bool {
	if name == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(name)
	return err == nil && addr.IsLoopback()
}
