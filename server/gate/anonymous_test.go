package gate_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/atelier-run/atelier/internal/telemetry"
	"github.com/atelier-run/atelier/server/gate"
	"github.com/atelier-run/atelier/server/problem"
)

// TestWhoIsAnonymous checks that callers without a credential may call skills only from the networks that the setting
// names.
func TestWhoIsAnonymous(t *testing.T) {
	t.Parallel()
	traces, err := telemetry.NewTraces(t.Context(), "test", false)
	if err != nil {
		t.Fatal(err)
	}
	attempts := newAttempts(t, nowhere{}, time.Now)
	guard := func(networks []netip.Prefix) http.Handler {
		log, r := slog.New(slog.DiscardHandler), chi.NewRouter()
		for _, path := range []string{"/skills/list", "/v1/skills/run", "/v1/skills", "/v1/contracts/run", "/api/v1/runs"} {
			r.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
				caller, _ := gate.CallerOf(r.Context())
				_, _ = w.Write([]byte(caller.Actor.Type))
			})
		}
		return gate.New(gate.Options{
			Anonymous: networks, Names: []string{"studio.example.com"}, Access: keys{}, Rights: keys{}, Attempts: attempts, Routes: r, Refuse: problem.Writer{Log: log}, Meter: telemetry.NewMetrics("test"),
			Tracer: traces.Tracer("gate"), Propagate: traces.Propagator(), Log: log, NewID: func() string { return "id" },
		}).Guard(r)
	}
	settings := map[string][]netip.Prefix{
		"":        {netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")},
		"network": {netip.MustParsePrefix("10.0.0.0/8")},
		"off":     nil,
	}
	for name, tt := range map[string]struct {
		path, from, host string
		method           string
		headers          map[string]string
		setting          string // networks of anonymous callers; "" means loopback
		want             int
	}{
		"this machine":                   {path: "/skills/list", want: 200},
		"IPv6":                           {path: "/skills/list", from: "[::1]:9", host: "[::1]:8002", want: 200},
		"IPv4 in IPv6":                   {path: "/skills/list", from: "[::ffff:127.0.0.1]:9", want: 200},
		"run by action":                  {path: "/v1/skills/run", method: "POST", want: 200},
		"turned off":                     {path: "/skills/list", setting: "off", want: 401},
		"another machine":                {path: "/skills/list", from: "192.0.2.7:9", want: 401},
		"a pipe":                         {path: "/skills/list", from: "pipe", want: 401},
		"by the server's name":           {path: "/skills/list", host: "studio.example.com", want: 401},
		"a proxy":                        {path: "/skills/list", headers: map[string]string{"X-Forwarded-For": ""}, want: 401},
		"a standard proxy":               {path: "/skills/list", headers: map[string]string{"Forwarded": "for=192.0.2.7"}, want: 401},
		"a proxy for TLS":                {path: "/skills/list", headers: map[string]string{"X-Forwarded-Proto": "https"}, want: 401},
		"a page":                         {path: "/skills/list", headers: map[string]string{"Origin": "http://evil.example"}, want: 401},
		"no origin":                      {path: "/skills/list", headers: map[string]string{"Origin": "null"}, want: 401},
		"other routes":                   {path: "/v1/skills", want: 401},
		"a longer path":                  {path: "/v1/skills/run/x", want: 401},
		"the API":                        {path: "/api/v1/runs", want: 401},
		"a path that climbs":             {path: "/skills/../api/v1/runs", want: 404}, // No route matches, because the router does not clean paths.
		"a wrong token":                  {path: "/skills/list", headers: map[string]string{"Authorization": "Bearer wrong"}, want: 401},
		"a container":                    {path: "/skills/list", setting: "network", from: "10.1.2.3:9", host: "studio.example.com", want: 200},
		"a container, IPv4 in IPv6":      {path: "/v1/skills/run", setting: "network", method: "POST", from: "[::ffff:10.1.2.3]:9", host: "studio.example.com:8002", want: 200},
		"a container, other routes":      {path: "/api/v1/runs", setting: "network", from: "10.1.2.3:9", host: "studio.example.com", want: 401},
		"a container, wrong token":       {path: "/skills/list", setting: "network", from: "10.1.2.3:9", host: "studio.example.com", headers: map[string]string{"Authorization": "Bearer wrong"}, want: 401},
		"a container, another name":      {path: "/skills/list", setting: "network", from: "10.1.2.3:9", host: "evil.example", want: 403},
		"a page shown in a container":    {path: "/skills/list", setting: "network", from: "10.1.2.3:9", host: "studio.example.com", headers: map[string]string{"Origin": "http://evil.example"}, want: 401},
		"a proxy in a container":         {path: "/skills/list", setting: "network", from: "10.1.2.3:9", host: "studio.example.com", headers: map[string]string{"X-Forwarded-For": "192.0.2.7"}, want: 401},
		"a network that is not named":    {path: "/skills/list", setting: "network", from: "192.0.2.7:9", host: "studio.example.com", want: 401},
		"this machine, not named either": {path: "/skills/list", setting: "network", want: 401},
		"contracts":                      {path: "/v1/contracts/run", setting: "off", want: 200},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest(tt.method, "http://localhost"+tt.path, nil)
			r.RemoteAddr, r.Host = "127.0.0.1:4711", "localhost:8002"
			if tt.from != "" {
				r.RemoteAddr = tt.from
			}
			if tt.host != "" {
				r.Host = tt.host
			}
			for key, value := range tt.headers {
				r.Header.Set(key, value)
			}
			w := httptest.NewRecorder()
			guard(settings[tt.setting]).ServeHTTP(w, r)
			if w.Code != tt.want {
				t.Errorf("answered with %d, want %d: %s", w.Code, tt.want, w.Body)
			}
		})
	}
}
