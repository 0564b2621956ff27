package httpapi

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/server/gate"
)

// SessionBody contains the credential for a new session: a token, or a sign-in name and a password.
type SessionBody struct {
	Token    string `json:"token,omitempty" maxLength:"4096"`
	Name     string `json:"name,omitempty" maxLength:"100"`
	Password string `json:"password,omitempty" maxLength:"1024"`
}

// Connection gives a handler access to the HTTP request, for example to read the client's address.
type Connection struct{ request *http.Request }

// Resolve stores the request. The framework calls it.
func (c *Connection) Resolve(ctx huma.Context) []error {
	c.request, _ = humachi.Unwrap(ctx)
	return nil
}

// cookieAnswer sets or removes the session cookie.
type cookieAnswer struct {
	SetCookie string `header:"Set-Cookie"`
}

func (a *API) openSession() {
	type in struct {
		Connection
		Body SessionBody
	}
	add(a, endpoint{
		id: "openSession", method: http.MethodPost, path: Base + "/session", tag: "session", summary: "Sign in with a token, or a name and a password",
		about:  "The answer sets the session cookie, which is valid for 30 days. A program sends its token with each request instead.",
		status: http.StatusNoContent, public: true, bodyBytes: 8 << 10, refusals: []fault.Code{fault.Unauthenticated, fault.InvalidInput, fault.TooManyRequests},
	}, func(ctx context.Context, q *in) (*cookieAnswer, error) {
		body := q.Body
		if (body.Token == "") == (body.Name == "" || body.Password == "") {
			return nil, fault.Invalid("", "Send either a token, or a name and a password.")
		}
		answer := &cookieAnswer{}
		if body.Token != "" {
			value, expires, err := a.Access.SignIn(ctx, body.Token, deviceOf(q.request))
			answer.SetCookie = a.cookie(q.request, value, expires).String()
			return answer, a.Attempts.Checked(q.request, gate.TokenName(body.Token), body.Token, err)
		}
		err := a.Attempts.Try(q.request, passwordName(body.Name), body.Password, func() error {
			value, expires, err := a.Access.SignInByPassword(ctx, body.Name, body.Password, deviceOf(q.request))
			answer.SetCookie = a.cookie(q.request, value, expires).String()
			return err
		})
		return answer, err
	})
}

// sessionOf returns the value of a request's session cookie, or "" if the request has none.
func (a *API) sessionOf(r *http.Request) string {
	cookie, err := r.Cookie(gate.CookieName(a.PublicURL, a.BasePath))
	if err != nil {
		return ""
	}
	return cookie.Value
}

// passwordName returns the name by which wrong passwords of a person are counted.
func passwordName(name string) string { return "person " + strings.ToLower(name) }

// cookie returns the session cookie. Its value is the only credential that a browser stores, and scripts cannot read
// the value.
func (a *API) cookie(r *http.Request, value string, expires time.Time) *http.Cookie {
	return &http.Cookie{
		Name: gate.CookieName(a.PublicURL, a.BasePath), Value: value, Path: a.BasePath + "/", Expires: expires, HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: r.TLS != nil || strings.HasPrefix(a.PublicURL, "https://"),
	}
}
