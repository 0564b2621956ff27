package gate

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// forwarded replaces the remote address of a request by the address of the client, if the request comes from a trusted
// proxy. It reads X-Forwarded-For from the right, because each proxy appends the address of its peer. The first address
// that is not a trusted proxy is the client. If the number of proxies is configured, the client is the address that the
// outermost proxy appended. If the peer is not a trusted proxy, the header is ignored.
func (g *Gate) forwarded(next http.Handler) http.Handler {
	if len(g.Proxies) == 0 && g.ProxyCount == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if client := g.client(r); client.IsValid() {
			r = r.Clone(r.Context())
			r.RemoteAddr = net.JoinHostPort(client.String(), "0")
		}
		next.ServeHTTP(w, r)
	})
}

// client returns the client's address from X-Forwarded-For. If the header must be ignored, it returns an invalid
// address.
func (g *Gate) client(r *http.Request) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || len(g.Proxies) > 0 && !g.proxy(peer.Addr()) {
		return netip.Addr{}
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	if n := g.ProxyCount; n > 0 {
		if len(hops) < n { // The request did not pass through all proxies.
			return netip.Addr{}
		}
		client, err := hopAddress(strings.TrimSpace(hops[len(hops)-n]))
		if err != nil {
			return netip.Addr{}
		}
		return client
	}
	var client netip.Addr
	for _, hop := range slices.Backward(hops) {
		addr, err := hopAddress(strings.TrimSpace(hop))
		if err != nil {
			break
		}
		if client = addr; !g.proxy(addr) {
			break
		}
	}
	return client
}

// hopAddress parses an address of X-Forwarded-For. Some proxies add a port.
func hopAddress(text string) (netip.Addr, error) {
	if withPort, err := netip.ParseAddrPort(text); err == nil {
		return withPort.Addr().Unmap().WithZone(""), nil
	}
	addr, err := netip.ParseAddr(strings.Trim(text, "[]"))
	return addr.Unmap().WithZone(""), err
}

func (g *Gate) proxy(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	return slices.ContainsFunc(g.Proxies, func(p netip.Prefix) bool { return p.Contains(addr) })
}
