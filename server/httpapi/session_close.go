package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/atelier-run/atelier/server/gate"
)

func (a *API) closeSession() {
	type in struct {
		Connection
	}
	add(a, endpoint{
		id: "closeSession", method: http.MethodDelete, path: Base + "/session", tag: "session", summary: "Sign out",
		about:  "Ends the session of the cookie. Tokens stay valid.",
		status: http.StatusNoContent,
	}, func(ctx context.Context, q *in) (*cookieAnswer, error) {
		if caller, _ := gate.CallerOf(ctx); caller.Browser {
			if err := a.Access.Logout(ctx, a.sessionOf(q.request)); err != nil {
				return nil, err
			}
		}
		return &cookieAnswer{SetCookie: a.cookie(q.request, "", time.Unix(1, 0)).String()}, nil
	})
}
