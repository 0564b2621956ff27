package httpapi

import (
	"context"
	"net/http"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/server/gate"
)

// Session is who a browser is logged in as.
type Session struct {
	Actor     SessionActor          `json:"actor"`
	Workspace SessionWorkspace      `json:"workspace"`
	Scopes    []registry.Scope      `json:"scopes" doc:"What the caller may do; admin stands for all."`
	Agents    []registry.TokenAgent `json:"agents" doc:"The only agents that the caller may touch; none for all."`
}

// SessionActor is the person or token.
type SessionActor struct {
	ID   string             `json:"id"`
	Type registry.ActorType `json:"type"`
	Name string             `json:"name"`
}

// SessionWorkspace is the tenant.
type SessionWorkspace struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

func (a *API) getSession() {
	type out struct{ Body Session }
	add(a, endpoint{
		id: "getSession", method: http.MethodGet, path: Base + "/session", tag: "session", summary: "Who is logged in",
	}, func(ctx context.Context, _ *none) (*out, error) {
		caller, _ := gate.CallerOf(ctx)
		who := caller.Actor
		return &out{Body: Session{
			Actor:     SessionActor{ID: who.ID, Type: who.Type, Name: who.Name},
			Workspace: SessionWorkspace{ID: who.Workspace, Name: who.Workspace},
			Scopes:    orEmpty(caller.Scopes), Agents: orEmpty(caller.Agents),
		}}, nil
	})
}
