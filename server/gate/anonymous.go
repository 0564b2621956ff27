package gate

import (
	"net/http"
	"net/netip"
	"strings"

	"github.com/atelier-run/atelier/registry"
)

// anonymous returns the caller for requests from this machine without a credential. It may execute skills and do
// nothing else.
func anonymous() registry.Caller {
	return registry.Caller{
		Actor:     registry.Actor{ID: "anonymous", Type: registry.AnonymousActor, Name: "anonymous", Workspace: registry.DefaultWorkspace},
		Workspace: registry.Workspace{ID: registry.DefaultWorkspace, Name: registry.DefaultWorkspace},
		Scopes:    []registry.Scope{registry.RunScope},
	}
}

// anonymous reports whether a request without a credential may call a skill. Existing clients send no credential. Web
// pages are recognised by the Origin header, pages of another name by the Host header and other machines by their
// address. Requests through a proxy on this machine are recognised by the headers that proxies add.
func (g *Gate) anonymous(r *http.Request) bool {
	if !g.Anonymous || !strings.HasPrefix(r.URL.Path, "/skills/") && r.URL.Path != "/v1/skills/run" {
		return false
	}
	for name := range r.Header {
		switch {
		case strings.HasPrefix(name, "X-Forwarded-"), name == "Forwarded", name == "X-Real-Ip", name == "Via":
			return false
		}
	}
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && from.Addr().Unmap().IsLoopback() && loopbackName(hostName(r.Host)) && g.ours(r)
}

func loopbackName(name string) bool {
	if name == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(name)
	return err == nil && addr.IsLoopback()
}
