package hostpattern

import "net/http"

// Framing reports whether a header controls where HTTP messages end or how they are forwarded. Programs must not set
// such headers, and secrets cannot be bound to them.
func Framing(name string) bool {
	switch http.CanonicalHeaderKey(name) {
	case "Host", "Connection", "Content-Length", "Transfer-Encoding", "Te", "Trailer", "Upgrade", "Keep-Alive", "Proxy-Authorization", "Proxy-Connection", "Expect":
		return true
	}
	return false
}
