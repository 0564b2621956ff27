package httpapi

import (
	"context"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// OpenSession is a browser session.
type OpenSession struct {
	ID         string       `json:"id"`
	Actor      SessionActor `json:"actor"`
	Address    string       `json:"address" doc:"Address that opened the session. Behind a proxy, the proxy's address."`
	Browser    string       `json:"browser" doc:"Browser, as it identified itself."`
	Current    bool         `json:"current" doc:"true for the session of this request."`
	CreatedAt  time.Time    `json:"createdAt"`
	LastUsedAt *time.Time   `json:"lastUsedAt,omitempty"`
	ExpiresAt  time.Time    `json:"expiresAt"`
}

// OpenSessionList lists the sessions of the workspace.
type OpenSessionList struct {
	Items      []OpenSession `json:"items"`
	NextCursor string        `json:"nextCursor" doc:"Cursor of the next page. Empty on the last page."`
}

func (a *API) listSessions() {
	type out struct{ Body OpenSessionList }
	add(a, endpoint{
		id: "listSessions", method: http.MethodGet, path: Base + "/sessions", tag: "session", summary: "List browser sessions",
		about: "Browser sessions of the members of the workspace.",
	}, func(ctx context.Context, q *ListPaging) (*out, error) {
		sessions, err := a.Access.ListSessions(ctx, actor(ctx))
		if err != nil {
			return nil, err
		}
		list, err := openSessions(*q, sessions, caller(ctx).Session)
		return &out{Body: list}, err
	})
}

// openSessions returns a page of sessions. It marks the session with the ID current as the caller's own session.
func openSessions(q ListPaging, sessions []registry.Session, current string) (OpenSessionList, error) {
	page, next, err := pageOf(q, "sessions", sessions, registry.Session.ID)
	list := OpenSessionList{Items: make([]OpenSession, 0, len(page)), NextCursor: next}
	for _, s := range page {
		list.Items = append(list.Items, OpenSession{
			ID: s.ID(), Actor: SessionActor{ID: s.Actor.ID, Type: s.Actor.Type, Name: s.Actor.Name}, Address: s.Device.Address, Browser: s.Device.Browser,
			Current: s.ID() == current, CreatedAt: s.CreatedAt, LastUsedAt: s.LastUsed, ExpiresAt: s.ExpiresAt,
		})
	}
	return list, err
}

func (a *API) endSession() {
	type in struct {
		Session string `path:"session" maxLength:"100" doc:"ID of the session."`
	}
	add(a, endpoint{
		id: "endSession", method: http.MethodDelete, path: Base + "/sessions/{session}", tag: "session", summary: "End a browser session",
		about:  "The browser is signed out at once; its open streams end.",
		status: http.StatusNoContent, refusals: []fault.Code{fault.NotFound},
	}, func(ctx context.Context, q *in) (*none, error) {
		return &none{}, a.Access.EndSession(ctx, actor(ctx), q.Session)
	})
}

// mostOfBrowser is the maximum length of a User-Agent header that is stored. It is needed because clients can send a
// header of any length.
const mostOfBrowser = 300

// deviceOf returns the device from which a person signs in.
func deviceOf(r *http.Request) registry.Device {
	address, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		address = ""
	}
	browser := r.UserAgent()
	return registry.Device{Address: address, Browser: strings.ToValidUTF8(browser[:min(len(browser), mostOfBrowser)], "")}
}
