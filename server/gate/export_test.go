package gate

import "net/http"

// ClientOf returns the address of a request's client, as determined behind the trusted proxies.
func ClientOf(g *Gate, r *http.Request) (client string) {
	g.forwarded(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { client = r.RemoteAddr })).ServeHTTP(nil, r)
	return client
}
