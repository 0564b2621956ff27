package servertest_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/atelier-run/atelier/server/servertest"
)

// listen opens the event stream of a run.
func listen(t *testing.T, s *servertest.Server, run string, who servertest.Headers) io.ReadCloser {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/api/v1/runs/"+run+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range who {
		r.Header.Set(name, value)
	}
	r.Header.Set("Accept", "text/event-stream")
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = answer.Body.Close() }) // the test has read it
	return answer.Body
}

// What is open ends with the right to it: the socket with a reason, the event stream without its result. The run goes on.
func TestOpenStreamsEndWithTheRightToThem(t *testing.T) {
	t.Parallel()
	s := scripted(t, nil)
	for _, ends := range []string{"token", "session"} {
		run := s.Start(t, "print 1\nwait")
		var made struct{ ID, Secret string }
		s.Want(t, 201, "POST", "/api/v1/tokens", `{"name":"reader"}`).Into(t, &made)
		reader := servertest.Client{URL: s.URL, Token: made.Secret}
		who, end := servertest.Headers{"Authorization": "Bearer " + made.Secret}, func() { s.Want(t, 204, "DELETE", "/api/v1/tokens/"+made.ID, nil) }
		if ends == "session" {
			cookie := cookieOf(t, s.Want(t, 204, "POST", "/api/v1/session", map[string]string{"token": s.Token}, servertest.Headers{"Authorization": ""}))
			who, end = as(cookie), func() { s.Want(t, 204, "DELETE", "/api/v1/session", nil, as(cookie)) }
		}
		stays, events := s.Stream(t, run, ""), listen(t, s, run, who)
		socket := stays
		if ends == "token" {
			socket = reader.Stream(t, run, "")
		}
		end()
		if text, err := io.ReadAll(events); err != nil || strings.Contains(string(text), "event: result") {
			t.Errorf("%s: the event stream ended with %v: %s", ends, err, text)
		}
		if ends == "token" {
			_, err := socket.Rest(t)
			if !websocket.IsCloseError(err, websocket.ClosePolicyViolation) || !strings.Contains(err.Error(), "has ended") {
				t.Errorf("the socket ended with %v", err)
			}
		}
		s.Want(t, 200, "POST", "/api/v1/runs/"+run+"/cancel", nil)
		if _, err := stays.Rest(t); !websocket.IsCloseError(err, websocket.CloseNormalClosure) {
			t.Errorf("%s: the stream of somebody else ended with %v", ends, err)
		}
	}
}

// A token belongs to one workspace, which X-Workspace may name; any other is none.
func TestATokenBelongsToOneWorkspace(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	s.Want(t, 201, "POST", "/api/v1/workspaces", `{"name":"acme"}`)
	s.Want(t, 200, "GET", "/api/v1/code-agents", nil, servertest.Headers{"X-Workspace": "default"})
	foreign := s.Want(t, 404, "GET", "/api/v1/code-agents", nil, servertest.Headers{"X-Workspace": "acme"})
	none := s.Want(t, 404, "GET", "/api/v1/code-agents", nil, servertest.Headers{"X-Workspace": "nope"})
	if strings.ReplaceAll(string(foreign.Body), "acme", "nope") != string(none.Body) {
		t.Errorf("%s and %s", foreign.Body, none.Body)
	}
	s.Want(t, 400, "GET", "/api/v1/code-agents", nil, servertest.Headers{"X-Workspace": strings.Repeat("a", 101)})
	if p := s.Want(t, 409, "POST", "/api/v1/workspaces", `{"name":"acme"}`).Problem(t); p.Code != "name_taken" {
		t.Errorf("%+v", p)
	}
}
