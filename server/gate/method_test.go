package gate_test

import (
	"net/http"
	"testing"

	"github.com/atelier-run/atelier/server/gate"
)

// The answer to TRACE and CONNECT must be the same on every path, with and without a credential.
func TestTrace_EveryPath_SameRefusal(t *testing.T) {
	t.Parallel()
	h := open(t)
	for _, method := range []string{http.MethodTrace, http.MethodConnect} {
		bodies := map[string]string{}
		for _, path := range []string{"/", "/api/v1/things/1", "/api/v1/nothing", "/skills/list", "/health", "/login"} {
			for _, token := range []string{"", "right-token", "wrong"} {
				headers := map[string]string{}
				if token != "" {
					headers["Authorization"] = "Bearer " + token
				}
				got := h.do(t, request{method, path, "", headers})
				if got.Code != http.StatusMethodNotAllowed {
					t.Errorf("%s %s with %q: %d", method, path, token, got.Code)
				}
				bodies[got.Body.String()] = path
			}
		}
		if len(bodies) != 1 {
			t.Errorf("%s has %d different answers: %v", method, len(bodies), bodies)
		}
	}
}

func TestCookieName(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ url, base, want string }{
		{"", "", "atelier_session"}, {"http://tools.example.com", "", "atelier_session"},
		{"https://tools.example.com", "", "__Host-atelier_session"}, {"https://tools.example.com/a", "/a", "atelier_session"},
	} {
		if got := gate.CookieName(tt.url, tt.base); got != tt.want {
			t.Errorf("%s %s: %s", tt.url, tt.base, got)
		}
	}
}
