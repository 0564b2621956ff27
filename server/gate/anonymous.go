package gate

import (
	"net/http"
	"net/netip"
	"strings"

	"github.com/atelier-run/atelier/registry"
)

// anonymous is whoever calls skills from this machine without saying who they are. They may run, and nothing else.
func anonymous() registry.Caller {
	return registry.Caller{
		Actor:     registry.Actor{ID: "anonymous", Type: registry.AnonymousActor, Name: "anonymous", Workspace: registry.DefaultWorkspace},
		Workspace: registry.Workspace{ID: registry.DefaultWorkspace, Name: registry.DefaultWorkspace},
		Scopes:    []registry.Scope{registry.RunScope},
	}
}

// anonymous says whether a request without a credential may call a skill. Existing clients send none; what tells them from
// a web page is its origin, from a page of another name the Host header, from another machine the address, and from
// somebody behind a proxy on this machine the headers that proxies add.
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
