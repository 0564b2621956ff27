package servertest_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/gorilla/websocket"

	"github.com/atelier-run/atelier/server/app"
	"github.com/atelier-run/atelier/server/servertest"
)

const mount = "/atelier"

// mounted starts a reverse proxy that offers a server under a base path. strips states whether the proxy removes the
// base path.
func mounted(t *testing.T, s *servertest.Server, strips bool) *servertest.Client {
	t.Helper()
	target, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host
		r.SetXForwarded()
	}}
	var shown http.Handler = proxy
	if strips {
		shown = http.StripPrefix(mount, proxy)
	}
	mux := http.NewServeMux()
	mux.Handle(mount+"/", shown)
	front := httptest.NewServer(mux)
	t.Cleanup(front.Close)
	return &servertest.Client{URL: front.URL + mount, Token: s.Token}
}

func beneathMount(t *testing.T, check func(t *testing.T, s *servertest.Server, c *servertest.Client)) {
	t.Helper()
	for name, strips := range map[string]bool{"the path is passed on": false, "the path is stripped": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			page := `<meta name="base-path" content="" /><script src="/studio/assets/app-1.js"></script>`
			s := servertest.New(t, servertest.Flags(t, map[string]string{"base-path": mount + "/", "script-runtime": "true"}), func(o *app.Options) {
				o.Studio = fstest.MapFS{"index.html": {Data: []byte(page)}, "assets/app-1.js": {Data: []byte("1")}, "third-party.txt": {Data: []byte("notices")}}
			})
			check(t, s, mounted(t, s, strips))
		})
	}
}

// Pages and their resources, documents and cookies must stay under the base path.
func TestPagesBeneathABasePath(t *testing.T) {
	t.Parallel()
	beneathMount(t, func(t *testing.T, s *servertest.Server, c *servertest.Client) {
		if to := c.Want(t, http.StatusFound, "GET", "/", nil, servertest.Headers{"Accept": "text/html"}).Header.Get("Location"); to != mount+"/studio/" {
			t.Errorf("the root leads to %s", to)
		}
		page := c.Want(t, 200, "GET", "/studio/a/weather/versions", nil).Body
		for _, want := range []string{`content="/atelier"`, `src="/atelier/studio/assets/app-1.js"`} {
			if !bytes.Contains(page, []byte(want)) {
				t.Errorf("the page has no %s: %s", want, page)
			}
		}
		for _, path := range []string{"/studio/assets/app-1.js", "/studio/third-party.txt", "/docs", "/openapi.json", "/schemas/tool-manifest.json", "/health", "/metrics"} {
			c.Want(t, 200, "GET", path, nil)
			s.Want(t, 200, "GET", path, nil) // Local programs need not use the base path.
		}
		if docs := c.Want(t, 200, "GET", "/docs", nil).Body; bytes.Contains(docs, []byte(`href="/`)) {
			t.Error("the documentation leads out of the path")
		}
		var api struct{ Servers []struct{ URL string } }
		c.Want(t, 200, "GET", "/openapi.json", nil).Into(t, &api)
		if len(api.Servers) != 1 || api.Servers[0].URL != mount {
			t.Errorf("the description is of %+v", api.Servers)
		}
		link, err := s.App.SignInLink(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		in := c.Want(t, http.StatusSeeOther, "GET", link, nil, servertest.Headers{"Authorization": ""})
		if to, cookie := in.Header.Get("Location"), in.Header.Get("Set-Cookie"); to != mount+"/studio/" || !strings.Contains(cookie, "Path=/atelier/;") {
			t.Errorf("a sign-in leads to %s with %s", to, cookie)
		}
	})
}

// The API works under the base path, returns URLs that include it, and streams.
func TestAPIBeneathABasePath(t *testing.T) {
	t.Parallel()
	beneathMount(t, func(t *testing.T, _ *servertest.Server, c *servertest.Client) {
		accepted := c.Script(t, "print one\noutput {\"ok\":true}", servertest.Headers{"Prefer": "respond-async"})
		at, found := strings.CutPrefix(accepted.Header.Get("Location"), mount)
		if accepted.Status != http.StatusAccepted || !found {
			t.Fatalf("%d, to be found at %s", accepted.Status, accepted.Header.Get("Location"))
		}
		run := c.Want(t, 200, "GET", at, nil).Run(t).RunID
		if _, err := c.Stream(t, run, "").Rest(t); !websocket.IsCloseError(err, websocket.CloseNormalClosure) {
			t.Errorf("the socket closed with %v", err)
		}
		events := c.Want(t, 200, "GET", "/api/v1/runs/"+run+"/events", nil, servertest.Headers{"Accept": "text/event-stream"})
		if !bytes.Contains(events.Body, []byte("event: result")) {
			t.Errorf("the events are %s", events.Body)
		}
		made := c.Want(t, 201, "POST", "/api/v1/code-agents", map[string]any{"name": "tool", "language": "javascript", "code": "export default () => 1"})
		if at, found := strings.CutPrefix(made.Header.Get("Location"), mount); !found {
			t.Errorf("the agent is at %s", made.Header.Get("Location"))
		} else {
			c.Want(t, 200, "GET", at, nil)
		}
		c.Publish(t, "tool", "1.0.0")
		var manifest struct{ Handler struct{ URL string } }
		c.Want(t, 200, "POST", "/api/v1/code-agents/tool/export-tool", map[string]string{}).Into(t, &manifest)
		if !strings.HasPrefix(manifest.Handler.URL, c.URL+"/api/v1/") {
			t.Errorf("the tool calls %s", manifest.Handler.URL)
		}
		var invitation struct{ Link string }
		c.Want(t, 201, "POST", "/api/v1/invitations", map[string]string{"role": "viewer"}).Into(t, &invitation)
		if !strings.HasPrefix(invitation.Link, c.URL+"/studio/invitation#") {
			t.Errorf("the invitation is %s", invitation.Link)
		}
	})
}

// Escapes have the same meaning under the base path, and paths that share only its prefix are not under it.
func TestOnlyTheBasePathIsTakenOff(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.Flags(t, map[string]string{"base-path": mount}))
	for path, status := range map[string]int{
		"/atelier/api/v1/code-agents/no%20agent": 404, "/atelier/api/v1/code-agents/a%2Fb": 404, "/atelierx/health": 404, "/atelier/atelier/health": 404,
		"/other/health": 404, "/atelier/api/v1/../../health": 404, "/atelier/health": 200,
	} {
		if got := s.Do(t, "GET", path, nil).Status; got != status {
			t.Errorf("GET %s is %d, want %d", path, got, status)
		}
	}
	if got := s.Do(t, "GET", "/atelier/api/v1/session", nil, servertest.Headers{"Authorization": ""}).Status; got != http.StatusUnauthorized {
		t.Errorf("without a token the API answers %d", got)
	}
}

// X-Forwarded-Prefix is ignored, because a client could use it to redirect other users.
func TestForwardedPrefixIsNotRead(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	forged := servertest.Headers{"X-Forwarded-Prefix": "/evil", "X-Forwarded-Path": "/evil", "Accept": "text/html"}
	if to := s.Do(t, "GET", "/", nil, forged).Header.Get("Location"); to != "/studio/" {
		t.Errorf("the root leads to %s", to)
	}
	var invitation json.RawMessage
	s.Want(t, 201, "POST", "/api/v1/invitations", map[string]string{"role": "viewer"}, forged).Into(t, &invitation)
	if bytes.Contains(invitation, []byte("evil")) {
		t.Errorf("the invitation is %s", invitation)
	}
}
