package httpapi

import (
	"context"
	"net/http"

	"github.com/atelier-run/atelier/internal/fault"
)

// PasswordBody changes a person's password.
type PasswordBody struct {
	Current string `json:"current,omitempty" maxLength:"1024" doc:"Current password, if there is one."`
	New     string `json:"new" maxLength:"1024" doc:"New password, at least 12 bytes."`
}

func (a *API) changePassword() {
	type in struct {
		Connection
		Body PasswordBody
	}
	add(a, endpoint{
		id: "changePassword", method: http.MethodPut, path: Base + "/me/password", tag: "session", summary: "Change your password",
		about:  "Ends all your other sessions. People who sign in with a provider have no password here.",
		status: http.StatusNoContent, bodyBytes: 8 << 10, refusals: []fault.Code{fault.TooManyRequests, fault.Conflict},
	}, func(ctx context.Context, q *in) (*none, error) {
		err := a.Attempts.Try(q.request, "user "+caller(ctx).User, q.Body.Current, func() error {
			return a.Access.ChangePassword(ctx, caller(ctx), q.Body.Current, q.Body.New)
		})
		if fault.Is(err, fault.Unauthenticated) { // The session is valid, so the error can only be about the current password.
			err = fault.Invalid("/current", "must be the current password.")
		}
		return &none{}, err
	})
}

func (a *API) listOwnSessions() {
	type out struct{ Body OpenSessionList }
	add(a, endpoint{
		id: "listOwnSessions", method: http.MethodGet, path: Base + "/me/sessions", tag: "session", summary: "List your sessions",
		about: "Your browser sessions in all workspaces.",
	}, func(ctx context.Context, q *ListPaging) (*out, error) {
		sessions, err := a.Access.OwnSessions(ctx, caller(ctx))
		if err != nil {
			return nil, err
		}
		list, err := openSessions(*q, sessions, caller(ctx).Session)
		return &out{Body: list}, err
	})
}

func (a *API) endOwnSession() {
	type in struct {
		Session string `path:"session" maxLength:"100" doc:"ID of the session."`
	}
	add(a, endpoint{
		id: "endOwnSession", method: http.MethodDelete, path: Base + "/me/sessions/{session}", tag: "session", summary: "End one of your sessions",
		about:  "The browser is signed out at once; its open streams end.",
		status: http.StatusNoContent, refusals: []fault.Code{fault.NotFound},
	}, func(ctx context.Context, q *in) (*none, error) {
		return &none{}, a.Access.EndOwnSession(ctx, caller(ctx), q.Session)
	})
}
