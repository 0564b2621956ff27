package gate

import (
	"maps"
	"net/http"
)

// policy is the Content-Security-Policy of pages. Pages may load from this server and connect to this server only, and
// may not evaluate text as code. Inline styles are allowed because the Monaco editor needs them.
const policy = "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self' 'unsafe-inline'; " +
	"img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// secure sets the security headers of every answer, including errors and the scripts of web workers.
func secure(next http.Handler) http.Handler {
	fixed := http.Header{ // All answers share these lists. This is safe, because setting a header replaces its list, and adding to a header creates a new list.
		"Content-Security-Policy":      {policy},
		"X-Content-Type-Options":       {"nosniff"},
		"Referrer-Policy":              {"no-referrer"},
		"Cross-Origin-Opener-Policy":   {"same-origin"},
		"Cross-Origin-Resource-Policy": {"same-origin"},
		"Permissions-Policy":           {"accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), magnetometer=(), microphone=(), midi=(), payment=(), usb=()"},
		"X-Frame-Options":              {"DENY"},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		maps.Copy(w.Header(), fixed)
		next.ServeHTTP(w, r)
	})
}
