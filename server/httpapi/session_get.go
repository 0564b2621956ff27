package httpapi

import (
	"context"
	"net/http"

	"github.com/atelier-run/atelier/registry"
)

// Session is who asks, where, and with what rights.
type Session struct {
	Actor      SessionActor          `json:"actor"`
	Workspace  SessionWorkspace      `json:"workspace"`
	Workspaces []SessionWorkspace    `json:"workspaces" doc:"Those that X-Workspace may name."`
	Role       registry.Role         `json:"role,omitempty" doc:"Of the person in the workspace; absent for the host's own tokens."`
	Scopes     []registry.Scope      `json:"scopes" doc:"What the caller may do; admin stands for all."`
	Agents     []registry.TokenAgent `json:"agents" doc:"The only agents that the caller may touch; none for all."`
}

// SessionActor is the person or token.
type SessionActor struct {
	ID   string             `json:"id"`
	Type registry.ActorType `json:"type"`
	Name string             `json:"name"`
}

// SessionWorkspace is a tenant, and what its caller is there.
type SessionWorkspace struct {
	ID    string        `json:"id"`
	Name  string        `json:"name"`
	Title string        `json:"title"`
	Role  registry.Role `json:"role,omitempty"`
}

func (a *API) getSession() {
	type out struct{ Body Session }
	add(a, endpoint{
		id: "getSession", method: http.MethodGet, path: Base + "/session", tag: "session", summary: "Who is logged in",
	}, func(ctx context.Context, _ *none) (*out, error) {
		who := caller(ctx)
		memberships, err := a.Access.MembershipsOf(ctx, who)
		if err != nil {
			return nil, err
		}
		session := Session{
			Actor: SessionActor{ID: who.Actor.ID, Type: who.Actor.Type, Name: who.Actor.Name}, Workspaces: []SessionWorkspace{},
			Role: who.Role, Scopes: orEmpty(who.Scopes), Agents: orEmpty(who.Agents),
		}
		for _, m := range memberships {
			one := SessionWorkspace{ID: m.Workspace.ID, Name: m.Workspace.Name, Title: m.Workspace.Title, Role: m.Role}
			session.Workspaces = append(session.Workspaces, one)
			if one.ID == who.Actor.Workspace {
				session.Workspace = one
			}
		}
		return &out{Body: session}, nil
	})
}
