package gate_test

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/telemetry"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/store/storetest"
	"github.com/atelier-run/atelier/server/gate"
	"github.com/atelier-run/atelier/server/problem"
)

// keys is an implementation of Access with one token and one session.
type keys struct{}

func (keys) Fixed(bearer string) (registry.Caller, bool) {
	caller, err := known(bearer, "fixed-token", registry.UserActor)
	return caller, err == nil
}

func (keys) Issued(_ context.Context, bearer string) (registry.Caller, error) {
	return known(bearer, "right-token", registry.TokenActor)
}

func (keys) Changed() <-chan struct{} { return nil }

func (keys) Session(_ context.Context, cookie, _ string) (registry.Caller, error) {
	return known(cookie, "right-cookie", registry.UserActor)
}

func known(got, want string, kind registry.ActorType) (registry.Caller, error) {
	if got != want {
		return registry.Caller{}, fault.New(fault.Unauthenticated, "No.")
	}
	actor := registry.Actor{ID: "a1", Type: kind, Workspace: "default"}
	return registry.Caller{Actor: actor, Scopes: []registry.Scope{registry.AdminScope}}, nil
}

// nowhere implements Failures without storing anything.
type nowhere struct{}

func (nowhere) PutSignInFailures(context.Context, registry.SignInFailures) error { return nil }

func (nowhere) SignInFailures(context.Context, time.Time) ([]registry.SignInFailures, error) {
	return nil, nil
}

type statusProvider struct {
	http.Handler
	log     *bytes.Buffer
	metrics *telemetry.Metrics
	gaveUp  chan struct{}
}

func open(t *testing.T) statusProvider {
	t.Helper()
	return openWith(t, 0)
}

func openWith(t *testing.T, writeTimeout time.Duration, proxies ...netip.Prefix) statusProvider {
	t.Helper()
	h := statusProvider{log: &bytes.Buffer{}, metrics: telemetry.NewMetrics("test"), gaveUp: make(chan struct{})}
	log := telemetry.NewLog(h.log, "text", slog.LevelDebug)
	traces, err := telemetry.NewTraces(t.Context(), "test", false)
	if err != nil {
		t.Fatal(err)
	}
	r := chi.NewRouter()
	r.HandleFunc("/api/v1/things/{thing}", func(w http.ResponseWriter, r *http.Request) {
		caller, _ := gate.CallerOf(r.Context())
		telemetry.Note(r.Context(), slog.String("thing", chi.URLParam(r, "thing")))
		_, _ = w.Write([]byte(caller.Actor.Type))
	})
	r.HandleFunc("/api/v1/session", func(http.ResponseWriter, *http.Request) {})
	r.HandleFunc("/studio/app.js", func(http.ResponseWriter, *http.Request) {})
	r.HandleFunc("/flood", func(w http.ResponseWriter, _ *http.Request) {
		for chunk := make([]byte, 1<<20); ; {
			if _, err := w.Write(chunk); err != nil {
				close(h.gaveUp)
				return
			}
		}
	})
	r.HandleFunc("/panic", func(http.ResponseWriter, *http.Request) { panic("boom") })
	g := gate.New(gate.Options{
		Names: []string{"studio.example.com"}, PublicURL: "https://tools.example.com", Proxies: proxies, Access: keys{}, Rights: keys{}, Attempts: newAttempts(t, nowhere{}, time.Now), Routes: r, Refuse: problem.Writer{Log: log},
		Meter: h.metrics, Tracer: traces.Tracer("gate"), Propagate: traces.Propagator(), Log: log, NewID: func() string { return "id-1" }, WriteTimeout: writeTimeout,
	})
	h.Handler = g.Guard(r)
	return h
}

type request struct {
	method, path, host string
	headers            map[string]string
}

func (h statusProvider) do(t *testing.T, q request) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), q.method, q.path, nil)
	r.Host = q.host
	if q.host == "" {
		r.Host = "127.0.0.1:8002"
	}
	for name, value := range q.headers {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

var token = map[string]string{"Authorization": "Bearer right-token"}

func with(more map[string]string) map[string]string {
	all := map[string]string{}
	for _, m := range []map[string]string{token, more} {
		for k, v := range m {
			all[k] = v
		}
	}
	return all
}

func TestWhoMayPass(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		request request
		status  int
		code    string
	}{
		"loopback":                     {request{"GET", "/api/v1/things/1", "127.0.0.1:8002", token}, 200, ""},
		"loopback, IPv6":               {request{"GET", "/api/v1/things/1", "[::1]:8002", token}, 200, ""},
		"localhost, any case and port": {request{"GET", "/api/v1/things/1", "LocalHost.:9", token}, 200, ""},
		"configured name":              {request{"GET", "/api/v1/things/1", "studio.example.com", token}, 200, ""},
		"public name":                  {request{"GET", "/api/v1/things/1", "tools.example.com", token}, 200, ""},
		"rebound name":                 {request{"GET", "/api/v1/things/1", "evil.example:8002", token}, 403, "bad_host"},
		"rebound name, static":         {request{"GET", "/studio/app.js", "evil.example", nil}, 403, "bad_host"},
		"rebound name, no route":       {request{"GET", "/nowhere", "evil.example", nil}, 403, "bad_host"},
		"name that starts like ours":   {request{"GET", "/", "localhost.evil.example", nil}, 403, "bad_host"},
		"all interfaces":               {request{"GET", "/", "0.0.0.0:8002", nil}, 403, "bad_host"},

		"own page posts":          {request{"POST", "/api/v1/things/1", "", with(map[string]string{"Origin": "http://127.0.0.1:8002", "Sec-Fetch-Site": "same-origin"})}, 200, ""},
		"program posts":           {request{"POST", "/api/v1/things/1", "", token}, 200, ""},
		"public page posts":       {request{"POST", "/api/v1/things/1", "tools.example.com", with(map[string]string{"Origin": "https://tools.example.com"})}, 200, ""},
		"other site posts":        {request{"POST", "/api/v1/things/1", "", with(map[string]string{"Origin": "https://evil.example"})}, 403, "bad_origin"},
		"other port posts":        {request{"POST", "/api/v1/things/1", "", with(map[string]string{"Origin": "http://127.0.0.1:9999"})}, 403, "bad_origin"},
		"other scheme posts":      {request{"POST", "/api/v1/things/1", "", with(map[string]string{"Origin": "https://127.0.0.1:8002"})}, 403, "bad_origin"},
		"nobody's page posts":     {request{"PUT", "/api/v1/things/1", "", with(map[string]string{"Origin": "null"})}, 403, "bad_origin"},
		"cross-site fetch posts":  {request{"DELETE", "/api/v1/things/1", "", with(map[string]string{"Sec-Fetch-Site": "cross-site"})}, 403, "bad_origin"},
		"other site reads":        {request{"GET", "/api/v1/things/1", "", with(map[string]string{"Origin": "https://evil.example"})}, 200, ""},
		"other site opens socket": {request{"GET", "/api/v1/things/1", "", with(map[string]string{"Origin": "https://evil.example", "Upgrade": "websocket"})}, 403, "bad_origin"},
		"nobody opens socket":     {request{"GET", "/api/v1/things/1", "", with(map[string]string{"Origin": "null", "Upgrade": "websocket"})}, 403, "bad_origin"},

		"no credential":             {request{"GET", "/api/v1/things/1", "", nil}, 401, "unauthenticated"},
		"no credential, no route":   {request{"GET", "/api/v1/nowhere", "", nil}, 401, "unauthenticated"},
		"wrong token":               {request{"GET", "/api/v1/things/1", "", map[string]string{"Authorization": "Bearer wrong"}}, 401, "unauthenticated"},
		"wrong scheme":              {request{"GET", "/api/v1/things/1", "", map[string]string{"Authorization": "Basic cmlnaHQ="}}, 401, "unauthenticated"},
		"session":                   {request{"GET", "/api/v1/things/1", "", map[string]string{"Cookie": "__Host-atelier_session=right-cookie"}}, 200, ""},
		"wrong session":             {request{"GET", "/api/v1/things/1", "", map[string]string{"Cookie": "__Host-atelier_session=wrong"}}, 401, "unauthenticated"},
		"wrong token, good session": {request{"GET", "/api/v1/things/1", "", map[string]string{"Authorization": "Bearer wrong", "Cookie": "__Host-atelier_session=right-cookie"}}, 401, "unauthenticated"},
		"sign in":                   {request{"POST", "/api/v1/session", "", nil}, 200, ""},
		"session asked":             {request{"GET", "/api/v1/session", "", nil}, 401, "unauthenticated"},
		"page":                      {request{"GET", "/studio/app.js", "", nil}, 200, ""},
		"panic":                     {request{"GET", "/panic", "", nil}, 500, "internal"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := open(t).do(t, tt.request)
			if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.code) {
				t.Errorf("got %d %s", w.Code, w.Body)
			}
			if got := w.Header().Get("Content-Security-Policy"); tt.code != "" && !strings.Contains(got, "default-src 'none'") {
				t.Errorf("policy of a refusal is %q", got)
			}
		})
	}
}

func TestPolicyIsStrict(t *testing.T) {
	t.Parallel()
	h := open(t).do(t, request{method: "GET", path: "/studio/app.js"}).Header()
	policy := h.Get("Content-Security-Policy")
	for _, unwanted := range []string{"unsafe-eval", "blob:", "http", "*"} {
		if strings.Contains(policy, unwanted) {
			t.Errorf("%s in %s", unwanted, policy)
		}
	}
	for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin"} {
		if h.Get(name) != want {
			t.Errorf("%s is %q", name, h.Get(name))
		}
	}
}

func TestOneWideLineForEachRequest(t *testing.T) {
	t.Parallel()
	h := open(t)
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	w := h.do(t, request{"GET", "/api/v1/things/42", "", with(map[string]string{"traceparent": parent})})
	if w.Header().Get("X-Request-Id") != "id-1" || !strings.HasPrefix(w.Header().Get("traceparent"), "00-0af7651916cd43dd8448eb211c80319c-") {
		t.Errorf("headers are %v", w.Header())
	}
	if lines := strings.Count(h.log.String(), "\n"); lines != 1 {
		t.Errorf("%d lines:\n%s", lines, h.log)
	}
	for _, want := range []string{"request_id=id-1", "method=GET", "path=/api/v1/things/42", "status=200", "actor=a1", "thing=42", "took="} {
		if !strings.Contains(h.log.String(), want) {
			t.Errorf("no %s in %s", want, h.log)
		}
	}
	if strings.Contains(h.log.String(), "right-token") {
		t.Error("the log has the token")
	}
	shown := httptest.NewRecorder()
	h.metrics.Handler().ServeHTTP(shown, httptest.NewRequest("GET", "/metrics", nil))
	if !strings.Contains(shown.Body.String(), `atelier_http_requests_total{method="GET",route="/api/v1/things/{thing}",status="200"} 1`) {
		t.Error("the request is not counted under its pattern")
	}
}

func TestAttempts_WrongPasswords_OnlyThatNameWaits(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	kept, clock := storetest.Open(t, storetest.SQLite), func() time.Time { return now }
	attempts := newAttempts(t, kept, clock)
	from := httptest.NewRequest("POST", "/api/v1/session", nil)
	wrong := func() error { return fault.New(fault.Unauthenticated, "No.") }
	right := func() error { return nil }
	for range 20 { // Sending the same secret again is not a guess.
		if err := attempts.Try(from, "grace", "stale", wrong); !fault.Is(err, fault.Unauthenticated) {
			t.Fatal(err)
		}
	}
	for range 5 {
		if err := attempts.Try(from, "grace", "right", right); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 9 {
		if err := attempts.Try(from, "grace", strconv.Itoa(i), wrong); !fault.Is(err, fault.Unauthenticated) {
			t.Fatal(err)
		}
	}
	other := httptest.NewRequest("POST", "/api/v1/session", nil)
	other.RemoteAddr = "198.51.100.7:1"
	for what, a := range map[string]*gate.Attempts{"at once": attempts, "after a restart": newAttempts(t, kept, clock)} {
		if err := a.Try(from, "alan", "right", right); err != nil {
			t.Errorf("%s another name at the same address: %v", what, err)
		}
		if err := a.Try(other, "grace", "right", right); err != nil {
			t.Errorf("%s another address: %v", what, err)
		}
		if err := a.Try(from, "grace", "right", right); err != nil {
			t.Errorf("%s the right password: %v", what, err)
		}
		tried := func() error { t.Error("a second password was checked at once"); return nil }
		if err := a.Try(from, "grace", "next", tried); !fault.Is(err, fault.TooManyRequests) {
			t.Errorf("%s got %v", what, err)
		}
	}
	now = now.Add(2 * time.Second)
	if err := attempts.Try(from, "grace", "guess", wrong); !fault.Is(err, fault.TooManyRequests) {
		t.Errorf("a wrong password after two seconds: %v", err)
	}
	now = now.Add(time.Minute)
	if err := attempts.Try(from, "grace", "guess", wrong); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("after a minute: %v", err)
	}
}

// Concurrent guesses are limited like consecutive ones. This must hold for guesses with one name and with many names.
func TestAttemptsAtOnce(t *testing.T) {
	t.Parallel()
	for what, tt := range map[string]struct {
		name func(i int) string
		want int64
	}{
		"one name":   {func(int) string { return "grace" }, 11},
		"many names": {strconv.Itoa, 101},
	} {
		attempts := newAttempts(t, storetest.Open(t, storetest.SQLite), func() time.Time { return time.Unix(0, 0) })
		var tried atomic.Int64
		var group sync.WaitGroup
		for i := range 150 {
			group.Go(func() {
				_ = attempts.Try(httptest.NewRequest("POST", "/api/v1/session", nil), tt.name(i), strconv.Itoa(i), func() error {
					tried.Add(1)
					return fault.New(fault.Unauthenticated, "No.")
				})
			})
		}
		group.Wait()
		if tried.Load() != tt.want {
			t.Errorf("%s: %d of 150 were tried, want %d", what, tried.Load(), tt.want)
		}
	}
}

// Wrong bearer tokens must be counted, while correct ones are still accepted.
func TestGuessedBearers(t *testing.T) {
	t.Parallel()
	h := open(t)
	bearer := func(secret string) int {
		return h.do(t, request{"GET", "/api/v1/things/1", "", map[string]string{"Authorization": "Bearer " + secret}}).Code
	}
	for i := range 10 {
		if got := bearer("atelier_" + strconv.Itoa(i)); got != 401 {
			t.Fatalf("guess %d: %d", i, got)
		}
	}
	for secret, want := range map[string]int{"atelier_guess": 429, "fixed-token": 200, "right-token": 200, "other guess": 401} {
		if got := bearer(secret); got != want {
			t.Errorf("%s after ten guesses: %d, want %d", secret, got, want)
		}
	}
	for _, secret := range []string{"fixed-token", "atelier_guess", "right-token"} {
		if strings.Contains(h.log.String(), secret) {
			t.Errorf("the log has %s", secret)
		}
	}
}

// Behind a trusted proxy, wrong tokens of one client do not limit the other clients.
func TestGuessedBearers_BehindProxy_OnlyThatClientWaits(t *testing.T) {
	t.Parallel()
	h := openWith(t, 0, netip.MustParsePrefix("192.0.2.1/32")) // 192.0.2.1 is the address of requests from httptest.
	bearer := func(client, secret string) int {
		return h.do(t, request{"GET", "/api/v1/things/1", "", map[string]string{"Authorization": "Bearer " + secret, "X-Forwarded-For": client}}).Code
	}
	for i := range 20 {
		bearer("198.51.100.7", "atelier_"+strconv.Itoa(i))
	}
	for client, want := range map[string]int{"198.51.100.7": 429, "198.51.100.8": 401, "203.0.113.1, 198.51.100.7": 429} {
		if got := bearer(client, "atelier_guess"); got != want {
			t.Errorf("a wrong token of %s: %d, want %d", client, got, want)
		}
		if got := bearer(client, "right-token"); got != 200 {
			t.Errorf("the right token of %s: %d", client, got)
		}
	}
}

// Behind trusted proxies, the client is the last address in the header that is not a trusted proxy. If the peer is not a
// trusted proxy, the header is ignored.
func TestTrustedProxies(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		peer, header, want string
	}{
		"no header":             {"10.0.0.1:5", "", "10.0.0.1:5"},
		"one proxy":             {"10.0.0.1:5", "192.0.2.9", "192.0.2.9:0"},
		"written by the client": {"10.0.0.1:5", "127.0.0.1, 192.0.2.9", "192.0.2.9:0"},
		"two proxies":           {"10.0.0.1:5", "1.1.1.1, 192.0.2.9, 10.0.0.2", "192.0.2.9:0"},
		"with ports":            {"[::ffff:10.0.0.1]:5", "[2001:db8::1]:443", "[2001:db8::1]:0"},
		"not an address":        {"10.0.0.1:5", "192.0.2.9, unknown", "10.0.0.1:5"},
		"nobody's proxy":        {"192.0.2.7:5", "127.0.0.1", "192.0.2.7:5"},
	} {
		g := gate.New(gate.Options{Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}})
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = tt.peer
		if tt.header != "" {
			r.Header.Set("X-Forwarded-For", tt.header)
		}
		if got := gate.ClientOf(g, r); got != tt.want {
			t.Errorf("%s: the client is %s, want %s", name, got, tt.want)
		}
	}
}

// With a known number of proxies, the client is the address that the outermost proxy appended, whatever header the client
// sent.
func TestProxyCount(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		count              int
		proxies            string
		peer, header, want string
	}{
		"one":                   {1, "", "192.0.2.1:5", "203.0.113.9", "203.0.113.9:0"},
		"two":                   {2, "", "192.0.2.1:5", "203.0.113.9, 192.0.2.2", "203.0.113.9:0"},
		"written by the client": {2, "", "192.0.2.1:5", "127.0.0.1, 203.0.113.9, 192.0.2.2", "203.0.113.9:0"},
		"past a proxy":          {2, "", "192.0.2.1:5", "127.0.0.1", "192.0.2.1:5"},
		"no header":             {1, "", "192.0.2.1:5", "", "192.0.2.1:5"},
		"not an address":        {1, "", "192.0.2.1:5", "unknown", "192.0.2.1:5"},
		"nobody's proxy":        {1, "10.0.0.0/8", "192.0.2.1:5", "203.0.113.9", "192.0.2.1:5"},
		"a trusted proxy":       {1, "10.0.0.0/8", "10.0.0.1:5", "10.0.0.7", "10.0.0.7:0"},
	} {
		o := gate.Options{ProxyCount: tt.count}
		if tt.proxies != "" {
			o.Proxies = []netip.Prefix{netip.MustParsePrefix(tt.proxies)}
		}
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = tt.peer
		if tt.header != "" {
			r.Header.Set("X-Forwarded-For", tt.header)
		}
		if got := gate.ClientOf(gate.New(o), r); got != tt.want {
			t.Errorf("%s: the client is %s, want %s", name, got, tt.want)
		}
	}
}

func newAttempts(t *testing.T, kept gate.Failures, now func() time.Time) *gate.Attempts {
	t.Helper()
	a, err := gate.NewAttempts(t.Context(), kept, now)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestBodies(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		kind, body string
		want       fault.Code
		detail     fault.Detail
	}{
		"object":       {"application/json", `{"a":[1,"[{\"}"]}`, "", fault.Detail{}},
		"with charset": {"application/json; charset=UTF-8", `1`, "", fault.Detail{}},
		"absent":       {"", ``, "", fault.Detail{}},
		"form":         {"application/x-www-form-urlencoded", `a=1`, fault.UnsupportedMediaType, fault.Detail{}},
		"text":         {"text/plain", `{}`, fault.UnsupportedMediaType, fault.Detail{}},
		"no type":      {"", `{}`, fault.UnsupportedMediaType, fault.Detail{}},
		"Latin-1":      {"application/json; charset=latin1", `{}`, fault.UnsupportedMediaType, fault.Detail{}},
		"broken":       {"application/json", "{\n \"ä\": nope}", fault.BadRequest, fault.Detail{Line: 2, Column: 8, Message: "is not valid JSON at this position"}},
		"cut":          {"application/json", `{"a":`, fault.BadRequest, fault.Detail{Line: 1, Column: 5, Message: "is not valid JSON at this position"}},
		"two values":   {"application/json", `{} {}`, fault.BadRequest, fault.Detail{Line: 1, Column: 4, Message: "is not valid JSON at this position"}},
		"not UTF-8":    {"application/json", "\"\xff\"", fault.BadRequest, fault.Detail{}},
		"deep":         {"application/json", strings.Repeat("[", 300) + strings.Repeat("]", 300), fault.BadRequest, fault.Detail{Line: 1, Column: 257, Message: "must have at most 256 levels"}},
		"deep, open":   {"application/json", strings.Repeat(`{"a":`, 600), fault.BadRequest, fault.Detail{Line: 1, Column: 1281, Message: "must have at most 256 levels"}},
		"large":        {"application/json", `"` + strings.Repeat("x", 5000) + `"`, fault.BodyTooLarge, fault.Detail{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest("POST", "/", strings.NewReader(tt.body))
			r.Header.Set("Content-Type", tt.kind)
			body, err := gate.Body(httptest.NewRecorder(), r, 4096)
			if fault.CodeOf(err) != tt.want {
				t.Fatalf("got %v", err)
			}
			if err == nil && string(body) != tt.body {
				t.Errorf("got %q", body)
			}
			if f, ok := err.(*fault.Error); ok && tt.detail.Line > 0 && (len(f.Details) != 1 || f.Details[0] != tt.detail) {
				t.Errorf("got %+v", f.Details)
			}
		})
	}
}

func TestBodyOfUnknownLengthIsBounded(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest("POST", "/", strings.NewReader(strings.Repeat(" ", 5000)))
	r.ContentLength = -1
	r.Header.Set("Content-Type", "application/json")
	if _, err := gate.Body(httptest.NewRecorder(), r, 4096); !fault.Is(err, fault.BodyTooLarge) {
		t.Errorf("got %v", err)
	}
}

func TestClientThatTakesNothingIsGivenUp(t *testing.T) {
	t.Parallel()
	h := openWith(t, 50*time.Millisecond)
	s := httptest.NewServer(h)
	defer s.Close()
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.Write([]byte("GET /flood HTTP/1.1\r\nHost: localhost\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	<-h.gaveUp
}
