package servertest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/atelier-run/atelier/server/app"
	"github.com/atelier-run/atelier/server/servertest"
)

// cookieOf returns the session cookie that an answer sets.
func cookieOf(t *testing.T, answer servertest.Answer) *http.Cookie {
	t.Helper()
	for _, line := range answer.Header.Values("Set-Cookie") {
		cookie, err := http.ParseSetCookie(line)
		if err == nil && cookie.Name == "atelier_session" {
			return cookie
		}
	}
	t.Fatalf("no session cookie in %v", answer.Header)
	return nil
}

// as returns headers that send a browser's session cookie.
func as(cookie *http.Cookie) servertest.Headers {
	return servertest.Headers{"Authorization": "", "Cookie": cookie.Name + "=" + cookie.Value}
}

// The printed link signs in one browser once.
func TestSignInLink(t *testing.T) {
	t.Parallel()
	p := servertest.Spawn(t, t.TempDir(), "--script-runtime")
	path, ok := strings.CutPrefix(p.Link, p.URL)
	if !ok {
		t.Fatalf("link %s is not on %s", p.Link, p.URL)
	}
	anonymous := servertest.Headers{"Authorization": ""}
	opened := p.Do(t, "GET", path, nil, anonymous)
	if opened.Status != 303 || opened.Header.Get("Location") != "/studio/" {
		t.Fatalf("got %d %v", opened.Status, opened.Header)
	}
	cookie := cookieOf(t, opened)
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.Path != "/" {
		t.Errorf("cookie is %+v", cookie)
	}
	if again := p.Do(t, "GET", path, nil, anonymous); again.Status != 401 || again.Problem(t).Code != "unauthenticated" {
		t.Errorf("the second time it answers %d %s", again.Status, again.Body)
	}
	if again := p.Do(t, "GET", path, nil, as(cookie)); again.Status != 303 {
		t.Errorf("somebody who is in already gets %d %s", again.Status, again.Body)
	}
	if strings.Contains(p.Log.String(), path[len("/login?link="):]) {
		t.Error("the log has the link's secret")
	}

	var session struct {
		Actor     struct{ ID, Type, Name string }
		Workspace struct{ ID string }
	}
	p.Want(t, 200, "GET", "/api/v1/session", nil, as(cookie)).Into(t, &session)
	if session.Actor.Type != "user" || session.Actor.ID == "" || session.Workspace.ID != "default" {
		t.Errorf("session is %+v", session)
	}
	run := p.Want(t, 200, "POST", "/api/v1/execute", servertest.ScriptBody("output 1"), as(cookie), servertest.Headers{"Origin": p.URL}).Run(t)
	if run.Trigger != "studio" {
		t.Errorf("a browser's run is triggered by %s", run.Trigger)
	}

	out := p.Want(t, 204, "DELETE", "/api/v1/session", nil, as(cookie))
	if gone := cookieOf(t, out); gone.Value != "" || gone.Expires.Year() > 1971 {
		t.Errorf("after signing out the cookie is %+v", gone)
	}
	p.Want(t, 401, "GET", "/api/v1/session", nil, as(cookie))
}

// A person can sign in by pasting the administrator's token. Wrong tokens are counted, also after a restart. The log
// must not contain the token.
func TestPastedToken(t *testing.T) {
	t.Parallel()
	const token = "the-administrators-fixed-token"
	data, now := t.TempDir(), time.Now()
	start := func() *servertest.Server {
		return servertest.On(t, data, servertest.Flags(t, map[string]string{"token": token}), func(o *app.Options) { o.Now = func() time.Time { return now } })
	}
	s := start()
	anonymous := servertest.Headers{"Authorization": ""}
	answer := s.Want(t, 204, "POST", "/api/v1/session", map[string]string{"token": token}, anonymous)
	cookie := cookieOf(t, answer)
	s.Want(t, 200, "GET", "/api/v1/session", nil, as(cookie))
	for i := range 6 {
		guess := fmt.Sprintf("the-guess-%d", i)
		s.Do(t, "POST", "/api/v1/session", map[string]string{"token": guess}, anonymous)
		s.Do(t, "GET", "/api/v1/session", nil, servertest.Headers{"Authorization": "Bearer the-guess-bearer-" + guess})
	}
	for range 2 {
		for what, refused := range map[string]servertest.Answer{
			"pasted":    s.Do(t, "POST", "/api/v1/session", map[string]string{"token": "the-guess-next"}, anonymous),
			"as bearer": s.Do(t, "GET", "/api/v1/session", nil, servertest.Headers{"Authorization": "Bearer the-guess-other"}),
		} {
			if refused.Status != 429 || refused.Problem(t).Code != "too_many_requests" || refused.Header.Get("Retry-After") == "" {
				t.Errorf("a guess %s after twelve: %d %s", what, refused.Status, refused.Body)
			}
		}
		s.Want(t, 204, "POST", "/api/v1/session", map[string]string{"token": token}, anonymous)
		s.Want(t, 200, "GET", "/api/v1/session", nil, servertest.Headers{"Authorization": "Bearer " + token})
		s.Want(t, 200, "GET", "/api/v1/session", nil)             // Sign in with a token that the server issued.
		s.Want(t, 200, "GET", "/api/v1/session", nil, as(cookie)) // An existing session stays valid.
		for _, secret := range []string{token, "the-guess-", cookie.Value, s.Token} {
			if strings.Contains(s.Log.String(), secret) {
				t.Errorf("the log has %s", secret)
			}
		}
		s.Stop(t)
		s = start()
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	var made struct{ ID, Secret string }
	s.Want(t, 201, "POST", "/api/v1/tokens", `{"name":"robot"}`).Into(t, &made)
	robot := servertest.Headers{"Authorization": "Bearer " + made.Secret}
	s.Want(t, 200, "GET", "/api/v1/code-agents", nil, robot)
	list := s.Want(t, 200, "GET", "/api/v1/tokens", nil)
	if strings.Contains(string(list.Body), made.Secret) || !strings.Contains(string(list.Body), `"robot"`) {
		t.Errorf("list is %s", list.Body)
	}
	s.Want(t, 204, "DELETE", "/api/v1/tokens/"+made.ID, nil)
	s.Want(t, 401, "GET", "/api/v1/code-agents", nil, robot)
	if p := s.Want(t, 422, "POST", "/api/v1/tokens", `{"name":"late","expiresAt":"2001-01-01T00:00:00Z"}`).Problem(t); p.Errors[0].Pointer != "/expiresAt" {
		t.Errorf("got %+v", p)
	}
	if strings.Contains(s.Log.String(), made.Secret) {
		t.Error("the log has the token")
	}
}

// Each signed-in browser is listed with its address. An administrator can sign it out at once.
func TestSessionsAreListedAndEnded(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s := servertest.On(t, data)
	open := func(browser string) *http.Cookie {
		return cookieOf(t, s.Want(t, 204, "POST", "/api/v1/session", map[string]string{"token": s.Token}, servertest.Headers{"Authorization": "", "User-Agent": browser}))
	}
	mine, lost := open("Mine/1.0"), open("Lost/2.0 "+strings.Repeat("x", 1000))
	s.Want(t, 200, "GET", "/api/v1/session", nil, as(lost))
	list := func(s *servertest.Server, who servertest.Headers) (ids map[string]string, text string) {
		var found struct {
			Items []struct {
				ID, Address, Browser, LastUsedAt string
				Current                          bool
			}
		}
		answer := s.Want(t, 200, "GET", "/api/v1/sessions", nil, who)
		answer.Into(t, &found)
		ids = map[string]string{}
		for _, item := range found.Items {
			name := strings.Split(item.Browser, "/")[0]
			ids[name] = item.ID
			if item.Address != "127.0.0.1" || item.LastUsedAt == "" || len(item.Browser) > 300 || item.Current != (name == "Mine") {
				t.Errorf("session %+v", item)
			}
		}
		return ids, string(answer.Body)
	}
	ids, text := list(s, as(mine))
	if len(ids) != 2 || strings.Contains(text, mine.Value) {
		t.Fatalf("sessions are %s", text)
	}
	restarted := func() { s.Stop(t); s = servertest.On(t, data) }
	restarted()
	if again, _ := list(s, as(mine)); again["Lost"] != ids["Lost"] {
		t.Errorf("after a restart %v, before %v", again, ids)
	}
	s.Want(t, 200, "GET", "/api/v1/session", nil, as(lost))
	s.Want(t, 404, "DELETE", "/api/v1/sessions/nobody", nil, as(mine))
	s.Want(t, 204, "DELETE", "/api/v1/sessions/"+ids["Lost"], nil, as(mine))
	s.Want(t, 401, "GET", "/api/v1/session", nil, as(lost))
	s.Want(t, 200, "GET", "/api/v1/session", nil, as(mine))
	if left, _ := list(s, as(mine)); left["Lost"] != "" {
		t.Errorf("sessions are %v", left)
	}
}
