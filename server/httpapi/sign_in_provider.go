package httpapi

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/server/gate"
	"github.com/atelier-run/atelier/studio/oidc"
)

const (
	providerPath = gate.SignInPath + "/oidc"
	callbackPath = providerPath + "/callback"

	attemptCookie = "atelier_login"
	attemptFor    = 10 * time.Minute
)

// signInAtProvider adds two routes: one redirects a browser to the OpenID provider, the other handles the return from
// there. Errors are shown on the sign-in page, where the user can choose another way to sign in.
func (a *API) signInAtProvider() {
	if a.Provider == nil {
		return
	}
	a.router.Get(providerPath, func(w http.ResponseWriter, r *http.Request) {
		attempt, address, err := a.Provider.Begin(r.Context(), a.callback(r))
		if err != nil {
			a.signInFailed(w, r, err)
			return
		}
		text, _ := json.Marshal(attempt) // The error is impossible: the attempt consists of three strings.
		http.SetCookie(w, a.attempt(r, base64.RawURLEncoding.EncodeToString(text), a.Now().Add(attemptFor)))
		redirect(w, r, address)
	})
	a.router.Get(callbackPath, func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, a.attempt(r, "", time.Unix(1, 0))) // The cookie may be used for only one answer, so remove it.
		answer := r.URL.Query()
		err := a.Attempts.Try(r, "provider", answer.Get("code"), func() error {
			who, err := a.Provider.Finish(r.Context(), a.callback(r), attemptOf(r), answer)
			if err != nil {
				return err
			}
			value, expires, err := a.Access.Federate(r.Context(), who, deviceOf(r))
			if err == nil {
				http.SetCookie(w, a.cookie(r, value, expires))
			}
			return err
		})
		if err != nil {
			a.signInFailed(w, r, err)
			return
		}
		redirect(w, r, a.BasePath+studio)
	})
}

// redirect redirects a browser. The answer must not be cached, and the target page receives no referrer.
func redirect(w http.ResponseWriter, r *http.Request, address string) {
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, address, http.StatusSeeOther)
}

func (a *API) signInFailed(w http.ResponseWriter, r *http.Request, err error) {
	doc := a.Problems.Describe(r.Context(), err)
	redirect(w, r, a.BasePath+studio+"?login="+url.QueryEscape(string(doc.Code)))
}

func (a *API) callback(r *http.Request) string {
	base := "http://" + r.Host
	if r.TLS != nil {
		base = "https://" + r.Host
	}
	return a.baseURL(RequestBase{base}) + callbackPath
}

// attempt returns the cookie that stores a sign-in attempt. The cookie is SameSite=Lax, so that the browser sends it
// when the provider redirects back. The session cookie is stricter, so the browser would not send it then.
func (a *API) attempt(r *http.Request, value string, expires time.Time) *http.Cookie {
	cookie := a.cookie(r, value, expires)
	cookie.Name, cookie.SameSite = attemptCookie, http.SameSiteLaxMode
	return cookie
}

// attemptOf returns the sign-in attempt of a browser, or an empty one if there is none.
func attemptOf(r *http.Request) (attempt oidc.Attempt) {
	cookie, err := r.Cookie(attemptCookie)
	if err != nil {
		return attempt
	}
	text, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	if err != nil || json.Unmarshal(text, &attempt) != nil {
		return oidc.Attempt{}
	}
	return attempt
}

// SignInMethods lists the ways to sign in. The printed link and tokens are not listed, because they always work.
type SignInMethods struct {
	Provider *SignInProvider `json:"provider" doc:"The OpenID provider, or null."`
}

// SignInProvider describes an OpenID provider.
type SignInProvider struct {
	Name string `json:"name" doc:"Display name of the provider."`
	Path string `json:"path" doc:"Path that starts the sign-in with the provider."`
}

func (a *API) listSignInMethods() {
	type in struct{}
	type out struct{ Body SignInMethods }
	add(a, endpoint{
		id: "listSignInMethods", method: http.MethodGet, path: Base + "/session/methods", tag: "session", summary: "List the ways to sign in",
		about: "Requires no credential. The list is complete. Signing in with a token or with the link that the server prints is always possible.", public: true,
		refusals: []fault.Code{},
	}, func(context.Context, *in) (*out, error) {
		methods := SignInMethods{}
		if a.Provider != nil {
			methods.Provider = &SignInProvider{Name: a.ProviderName, Path: a.BasePath + providerPath}
		}
		return &out{Body: methods}, nil
	})
}
