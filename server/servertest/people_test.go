package servertest_test

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/atelier-run/atelier/server/app"
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
	t.Cleanup(func() { _ = answer.Body.Close() }) // The test has read the stream.
	return answer.Body
}

// Open streams must end when their reader loses access: the WebSocket with a reason, and the event stream without its
// result. The run must continue.
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
			if !websocket.IsCloseError(err, websocket.ClosePolicyViolation) || !strings.Contains(err.Error(), "no longer valid") {
				t.Errorf("the socket ended with %v", err)
			}
		}
		s.Want(t, 200, "POST", "/api/v1/runs/"+run+"/cancel", nil)
		if _, err := stays.Rest(t); !websocket.IsCloseError(err, websocket.CloseNormalClosure) {
			t.Errorf("%s: the stream of somebody else ended with %v", ends, err)
		}
	}
}

// A token belongs to one workspace. X-Workspace may name this workspace; any other name must return NotFound.
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

// browser is the session of a person.
type browser struct {
	*servertest.Server
	cookie *http.Cookie
}

// want sends a request with the session of the browser.
func (b browser) want(t *testing.T, status int, method, path string, body any, headers ...servertest.Headers) servertest.Answer {
	t.Helper()
	return b.Want(t, status, method, path, body, append([]servertest.Headers{as(b.cookie)}, headers...)...)
}

var anonymous = servertest.Headers{"Authorization": ""}

const password = "correct horse battery"

// invite creates an invitation and returns its secret.
func invite(t *testing.T, s *servertest.Server, role string, who ...servertest.Headers) string {
	t.Helper()
	var made struct{ Link string }
	s.Want(t, 201, "POST", "/api/v1/invitations", map[string]string{"role": role, "note": "for a test"}, who...).Into(t, &made)
	address, secret, ok := strings.Cut(made.Link, "#")
	if !ok || address != s.URL+"/studio/invitation" {
		t.Fatalf("the link is %s", made.Link)
	}
	return secret
}

// join accepts an invitation as a new person.
func join(t *testing.T, s *servertest.Server, name, secret string) browser {
	t.Helper()
	answer := s.Want(t, 204, "POST", "/api/v1/invitations/accept", map[string]string{"secret": secret, "name": name, "title": "Title of " + name, "password": password}, anonymous)
	return browser{s, cookieOf(t, answer)}
}

// me is the answer to GET /api/v1/session.
type me struct {
	Actor      struct{ ID, Type, Name string }
	Workspace  struct{ ID, Name, Title, Role string }
	Workspaces []struct{ ID, Name, Role string }
	Role       string
	Scopes     []string
}

func (b browser) me(t *testing.T) me {
	t.Helper()
	var who me
	b.want(t, 200, "GET", "/api/v1/session", nil).Into(t, &who)
	return who
}

// An invited person signs in once with the link, and later with name and password. The person's permissions must change
// as soon as the person's role changes.
func TestAnInvitedPerson(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	secret := invite(t, s, "viewer")
	var invited struct{ Workspace, Role, InvitedBy string }
	s.Want(t, 200, "POST", "/api/v1/invitations/read", map[string]string{"secret": secret}, anonymous).Into(t, &invited)
	if invited.Workspace != "Default" || invited.Role != "viewer" {
		t.Errorf("invited to %+v", invited)
	}
	grace := join(t, s, "grace@example.com", secret)
	who := grace.me(t)
	if who.Actor.Type != "user" || who.Actor.Name != "Title of grace@example.com" || who.Role != "viewer" || len(who.Workspaces) != 1 {
		t.Errorf("she is %+v", who)
	}
	s.Want(t, 401, "POST", "/api/v1/invitations/accept", map[string]string{"secret": secret, "name": "eve", "password": password}, anonymous)

	grace.want(t, 200, "GET", "/api/v1/code-agents", nil)
	p := grace.want(t, 403, "POST", "/api/v1/code-agents", `{"name":"mine","language":"javascript","code":"export default () => 1"}`).Problem(t)
	if p.Role != "developer" || !strings.Contains(p.Detail, "role developer; yours is viewer") {
		t.Errorf("refused with %+v", p)
	}
	s.Want(t, 204, "PATCH", "/api/v1/members/"+who.Actor.ID, `{"role":"developer"}`)
	grace.want(t, 201, "POST", "/api/v1/code-agents", `{"name":"mine","language":"javascript","code":"export default () => 1"}`)
	if p := grace.want(t, 403, "GET", "/api/v1/tokens", nil).Problem(t); p.Role != "administrator" {
		t.Errorf("refused with %+v", p)
	}

	again := browser{s, cookieOf(t, s.Want(t, 204, "POST", "/api/v1/session", map[string]string{"name": "grace@example.com", "password": password}, anonymous))}
	if again.me(t).Actor.ID != who.Actor.ID {
		t.Error("the password leads to somebody else")
	}
	var sessions struct {
		Items []struct {
			ID      string
			Current bool
		}
	}
	again.want(t, 200, "GET", "/api/v1/me/sessions", nil).Into(t, &sessions)
	if len(sessions.Items) != 2 {
		t.Errorf("sessions %+v", sessions)
	}
	again.want(t, 422, "PUT", "/api/v1/me/password", map[string]string{"current": "wrong", "new": password + "2"})
	again.want(t, 422, "PUT", "/api/v1/me/password", map[string]string{"current": password, "new": "short"})
	again.want(t, 204, "PUT", "/api/v1/me/password", map[string]string{"current": password, "new": password + "2"})
	grace.want(t, 401, "GET", "/api/v1/session", nil)
	again.want(t, 200, "GET", "/api/v1/session", nil)
	s.Want(t, 401, "POST", "/api/v1/session", map[string]string{"name": "grace@example.com", "password": password}, anonymous)

	s.Want(t, 204, "DELETE", "/api/v1/members/"+who.Actor.ID, nil)
	again.want(t, 401, "GET", "/api/v1/session", nil)
	s.Want(t, 401, "POST", "/api/v1/session", map[string]string{"name": "grace@example.com", "password": password + "2"}, anonymous)
	for _, kept := range []string{secret, password, again.cookie.Value} {
		if strings.Contains(s.Log.String(), kept) {
			t.Errorf("the log has %q", kept)
		}
	}
}

// Removing a role ends open streams of the session and of the person's tokens.
func TestARoleThatGoesEndsStreams(t *testing.T) {
	t.Parallel()
	s := scripted(t, nil)
	grace := join(t, s, "grace", invite(t, s, "administrator"))
	var made struct{ Secret string }
	grace.want(t, 201, "POST", "/api/v1/tokens", `{"name":"robot"}`).Into(t, &made)
	robot := servertest.Client{URL: s.URL, Token: made.Secret}
	run := s.Start(t, "print 1\nwait")
	events, socket := listen(t, s, run, as(grace.cookie)), robot.Stream(t, run, "")
	s.Want(t, 204, "PATCH", "/api/v1/members/"+grace.me(t).Actor.ID, `{"role":"viewer"}`) // The person may still read.
	robot.Want(t, 403, "POST", "/api/v1/runs/"+run+"/cancel", nil)
	robot.Want(t, 200, "GET", "/api/v1/runs/"+run, nil)
	s.Want(t, 204, "DELETE", "/api/v1/members/"+grace.me(t).Actor.ID, nil)
	if text, err := io.ReadAll(events); err != nil || strings.Contains(string(text), "event: result") {
		t.Errorf("the event stream ended with %v: %s", err, text)
	}
	if _, err := socket.Rest(t); !websocket.IsCloseError(err, websocket.ClosePolicyViolation) {
		t.Errorf("the socket ended with %v", err)
	}
	robot.Want(t, 401, "GET", "/api/v1/runs/"+run, nil)
	s.Want(t, 200, "POST", "/api/v1/runs/"+run+"/cancel", nil)
}

// Wrong passwords must count like wrong tokens, for existing and unknown names alike, and also after a restart.
func TestGuessedPasswords(t *testing.T) {
	t.Parallel()
	data, now := t.TempDir(), time.Now()
	var passed atomic.Int64 // Failures expire after a minute.
	still := func(o *app.Options) { o.Now = func() time.Time { return now.Add(time.Duration(passed.Load())) } }
	s := servertest.On(t, data, still)
	join(t, s, "grace", invite(t, s, "viewer"))
	var known, unknown string
	for i := range 10 {
		guess := "guess number " + strings.Repeat("x", i)
		known = string(s.Want(t, 401, "POST", "/api/v1/session", map[string]string{"name": "grace", "password": guess}, anonymous).Body)
		unknown = string(s.Want(t, 401, "POST", "/api/v1/session", map[string]string{"name": "alan", "password": guess}, anonymous).Body)
	}
	if known != unknown {
		t.Errorf("a name that exists: %s, one that does not: %s", known, unknown)
	}
	s.Stop(t)
	s = servertest.On(t, data, still)
	s.Want(t, 429, "POST", "/api/v1/session", map[string]string{"name": "grace", "password": "another guess"}, anonymous)
	s.Want(t, 429, "POST", "/api/v1/session", map[string]string{"name": "grace", "password": password}, anonymous)
	passed.Add(int64(2 * time.Second))
	s.Want(t, 204, "POST", "/api/v1/session", map[string]string{"name": "grace", "password": password}, anonymous)
	for _, body := range []string{`{}`, `{"name":"grace"}`, `{"token":"x","name":"grace","password":"y"}`} {
		s.Want(t, 422, "POST", "/api/v1/session", body, anonymous)
	}
}

// An invalid invitation request is rejected by field. An unknown secret does not reveal whether it ever existed. An
// existing person can accept.
func TestInvitations(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	for pointer, body := range map[string]string{
		"/role":      `{"role":"owner"}`,
		"/expiresAt": `{"role":"viewer","expiresAt":"2001-01-01T00:00:00Z"}`,
	} {
		if p := s.Want(t, 422, "POST", "/api/v1/invitations", body).Problem(t); len(p.Errors) != 1 || p.Errors[0].Pointer != pointer {
			t.Errorf("%s: %+v", body, p)
		}
	}
	secret := invite(t, s, "viewer")
	looks := s.Want(t, 422, "POST", "/api/v1/invitations/accept", map[string]string{"secret": secret, "name": "019ab000-0000-7000-8000-000000000000", "password": password}, anonymous).Problem(t)
	if len(looks.Errors) != 1 || looks.Errors[0].Pointer != "/name" {
		t.Errorf("a name that looks like the ID of a person: %+v", looks)
	}
	for pointer, body := range map[string]map[string]string{
		"/name":     {"secret": secret, "name": "Grace Hopper", "password": password},
		"/password": {"secret": secret, "name": "grace", "password": "too short"},
		"/title":    {"secret": secret, "name": "grace", "password": password, "title": "\u202egrace"},
	} {
		if p := s.Want(t, 422, "POST", "/api/v1/invitations/accept", body, anonymous).Problem(t); len(p.Errors) != 1 || p.Errors[0].Pointer != pointer {
			t.Errorf("%s: %+v", body, p)
		}
	}
	grace := join(t, s, "grace", secret)
	s.Want(t, 401, "POST", "/api/v1/invitations/accept", map[string]string{"secret": invite(t, s, "viewer"), "name": "grace", "password": "of somebody else"}, anonymous)

	var acme struct{ ID string }
	s.Want(t, 201, "POST", "/api/v1/workspaces", `{"name":"acme","title":"Acme Ltd"}`).Into(t, &acme)
	admin := browser{s, cookieOf(t, s.Do(t, "GET", signInLink(t, s), nil, anonymous))}
	into := servertest.Headers{"X-Workspace": "acme"}
	second := invite(t, s, "developer", as(admin.cookie), into)
	grace.want(t, 204, "POST", "/api/v1/invitations/accept", map[string]any{"secret": second, "signedIn": true})
	if who := grace.me(t); len(who.Workspaces) != 2 || who.Workspace.Name != "default" || who.Workspaces[1].Role != "developer" {
		t.Errorf("she is %+v", who)
	}
	grace.want(t, 201, "POST", "/api/v1/code-agents", `{"name":"mine","language":"javascript","code":"export default () => 1"}`, into)
	grace.want(t, 403, "POST", "/api/v1/code-agents", `{"name":"mine","language":"javascript","code":"export default () => 1"}`)

	taken := invite(t, s, "viewer")
	var list struct{ Items []struct{ ID, Note string } }
	s.Want(t, 200, "GET", "/api/v1/invitations", nil).Into(t, &list)
	if len(list.Items) != 2 || list.Items[0].Note != "for a test" {
		t.Fatalf("invitations %+v", list)
	}
	s.Want(t, 204, "DELETE", "/api/v1/invitations/"+list.Items[0].ID, nil)
	gone := s.Want(t, 401, "POST", "/api/v1/invitations/read", map[string]string{"secret": taken}, anonymous)
	never := s.Want(t, 401, "POST", "/api/v1/invitations/read", map[string]string{"secret": "ati_nothing"}, anonymous)
	if string(gone.Body) != string(never.Body) {
		t.Errorf("one that was taken back: %s, one that never was: %s", gone.Body, never.Body)
	}
}

// signInLink returns the path of a sign-in link as the server prints it.
func signInLink(t *testing.T, s *servertest.Server) string {
	t.Helper()
	link, err := s.App.SignInLink(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	return link
}

// A credential in a URL is rejected on every route, and not logged.
func TestACredentialInAnAddressIsRefused(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	for _, path := range []string{
		"/api/v1/code-agents?token=" + s.Token, "/api/v1/code-agents?q=" + s.Token, "/api/v1/code-agents?access_token=x", "/api/v1/code-agents/" + s.Token,
		"/skills/list?api_key=x", "/studio/?token=x", "/health?q=" + s.Token,
	} {
		for _, who := range []servertest.Headers{anonymous, {}} {
			if answer := s.Do(t, "GET", path, nil, who); answer.Status != 400 {
				t.Errorf("%s: %d %s", path, answer.Status, answer.Body)
			}
		}
	}
	if strings.Contains(s.Log.String(), s.Token) {
		t.Error("the log has the token")
	}
}

func TestTheLastAdministratorStays(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	p := s.Want(t, 409, "PATCH", "/api/v1/members/admin", `{"role":"viewer"}`).Problem(t)
	if p.Code != "conflict" || !strings.Contains(p.Detail, "The last administrator") {
		t.Errorf("%+v", p)
	}
	s.Want(t, 409, "DELETE", "/api/v1/members/admin", nil)
	grace := join(t, s, "grace", invite(t, s, "administrator"))
	grace.want(t, 204, "DELETE", "/api/v1/members/admin", nil)
	s.Want(t, 200, "GET", "/api/v1/members", nil) // The operator's own token stays valid.
	if answer := s.Do(t, "GET", signInLink(t, s), nil, anonymous); answer.Status != 401 {
		t.Errorf("a sign-in link for who is no member: %d %s", answer.Status, answer.Body)
	}
}
