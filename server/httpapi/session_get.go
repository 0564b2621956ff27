package httpapi

import (
	"context"
	"net/http"

	"github.com/atelier-run/atelier/registry"
)

// Session describes the caller, with the caller's workspace and permissions.
type Session struct {
	Actor      SessionActor          `json:"actor"`
	Workspace  SessionWorkspace      `json:"workspace"`
	Workspaces []SessionWorkspace    `json:"workspaces" doc:"Workspaces that are allowed in X-Workspace."`
	Role       registry.Role         `json:"role,omitempty" doc:"Role of the person in the workspace. Absent for tokens that do not belong to a person."`
	Scopes     []registry.Scope      `json:"scopes" doc:"Scopes of the caller. admin includes all others."`
	Agents     []registry.TokenAgent `json:"agents" doc:"Agents that the caller is restricted to. Empty for all agents."`
}

// SessionActor is the person or token of the caller.
type SessionActor struct {
	ID   string             `json:"id"`
	Type registry.ActorType `json:"type"`
	Name string             `json:"name"`
}

// SessionWorkspace is a workspace and the caller's role in it.
type SessionWorkspace struct {
	ID    string        `json:"id"`
	Name  string        `json:"name"`
	Title string        `json:"title"`
	Role  registry.Role `json:"role,omitempty"`
}

func (a *API) getSession() {
	type out struct{ Body Session }
	add(a, endpoint{
		id: "getSession", method: http.MethodGet, path: Base + "/session", tag: "session", summary: "Get the current session",
		about: "Returns the caller, its workspace, and its permissions there.",
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
