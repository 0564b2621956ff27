package hostpattern

import "net/http"

// Framing reports whether a header says how a message travels. Programs do not set those, and secrets are not sent in them.
func Framing(name string) bool {
	switch http.CanonicalHeaderKey(name) {
	case "Host", "Connection", "Content-Length", "Transfer-Encoding", "Te", "Trailer", "Upgrade", "Keep-Alive", "Proxy-Authorization", "Proxy-Connection", "Expect":
		return true
	}
	return false
}
