package hostpattern

import "net/http"

// Framing reports whether a header controls message framing. Programs must not set such headers, and they never carry
// secrets.
func Framing(name string) bool {
	switch http.CanonicalHeaderKey(name) {
	case "Host", "Connection", "Content-Length", "Transfer-Encoding", "Te", "Trailer", "Upgrade", "Keep-Alive", "Proxy-Authorization", "Proxy-Connection", "Expect":
		return true
	}
	return false
}
