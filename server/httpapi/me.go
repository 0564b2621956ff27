package httpapi

import (
	"context"
	"net/http"

	"github.com/atelier-run/atelier/internal/fault"
)

// PasswordBody changes a person's password.
type PasswordBody struct {
	Current string `json:"current,omitempty" maxLength:"1024" doc:"The present one, where there is one."`
	New     string `json:"new" maxLength:"1024" doc:"At least 12 bytes."`
}

func (a *API) changePassword() {
	type in struct {
		Connection
		Body PasswordBody
	}
	add(a, endpoint{
		id: "changePassword", method: http.MethodPut, path: Base + "/me/password", tag: "session", summary: "Change the password of who is signed in",
		about:  "All their other sessions end. Who logs in by a provider has none here.",
		status: http.StatusNoContent, bodyBytes: 8 << 10, refusals: []fault.Code{fault.TooManyRequests, fault.Conflict},
	}, func(ctx context.Context, q *in) (*none, error) {
		err := a.Attempts.Try(q.request, caller(ctx).User+"\x00"+q.Body.Current, func() error {
			return a.Access.ChangePassword(ctx, caller(ctx), q.Body.Current, q.Body.New)
		})
		if fault.Is(err, fault.Unauthenticated) { // the session is good
			err = fault.Invalid("/current", "The present password is another.")
		}
		return &none{}, err
	})
}

func (a *API) listOwnSessions() {
	type out struct{ Body OpenSessionList }
	add(a, endpoint{
		id: "listOwnSessions", method: http.MethodGet, path: Base + "/me/sessions", tag: "session", summary: "Where the person is signed in",
	}, func(ctx context.Context, _ *none) (*out, error) {
		sessions, err := a.Access.OwnSessions(ctx, caller(ctx))
		if err != nil {
			return nil, err
		}
		return &out{Body: openSessions(sessions, caller(ctx).Session)}, nil
	})
}

func (a *API) endOwnSession() {
	type in struct {
		Session string `path:"session" maxLength:"100" doc:"ID of the session."`
	}
	add(a, endpoint{
		id: "endOwnSession", method: http.MethodDelete, path: Base + "/me/sessions/{session}", tag: "session", summary: "Sign the person out elsewhere, at once",
		status: http.StatusNoContent, refusals: []fault.Code{fault.NotFound},
	}, func(ctx context.Context, q *in) (*none, error) {
		return &none{}, a.Access.EndOwnSession(ctx, caller(ctx), q.Session)
	})
}
