package httpapi

import (
	"net/http"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/server/gate"
)

// followSignInLink signs in with the one-time link that the server printed, and redirects to the Studio. Because of the
// redirect, the secret in the link does not stay in the browser's history, and no page receives it as referrer.
func (a *API) followSignInLink() {
	a.router.Get(gate.SignInPath, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		link := r.URL.Query().Get("link")
		if link == "" || len(link) > 4096 {
			a.Problems.Write(w, r, fault.New(fault.Unauthenticated, "A sign-in link must end in ?link=…. The server prints one when it starts."))
			return
		}
		value, expires, err := a.Access.Redeem(r.Context(), link, deviceOf(r))
		if err == nil {
			http.SetCookie(w, a.cookie(r, value, expires))
		}
		err = a.Attempts.Checked(r, "link", link, err)
		if err != nil && !a.loggedIn(r) { // The link was used before, but the person may still be signed in.
			a.Problems.Write(w, r, err)
			return
		}
		http.Redirect(w, r, a.BasePath+studio, http.StatusSeeOther)
	})
}

func (a *API) loggedIn(r *http.Request) bool {
	session := a.sessionOf(r)
	if session == "" {
		return false
	}
	_, err := a.Access.Session(r.Context(), session, "")
	return err == nil
}
