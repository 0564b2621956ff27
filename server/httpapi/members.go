package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// Member is a person in the workspace.
type Member struct {
	ID    string        `json:"id"`
	Name  string        `json:"name" doc:"By which they log in."`
	Title string        `json:"title"`
	Role  registry.Role `json:"role"`
	Since time.Time     `json:"since"`
}

// MemberList is the people of the workspace.
type MemberList struct {
	Items []Member `json:"items"`
}

// RoleBody gives a member another role.
type RoleBody struct {
	Role registry.Role `json:"role"`
}

// MemberRef names a member in a path.
type MemberRef struct {
	User string `path:"user" maxLength:"100" doc:"ID of the person."`
}

func (a *API) listMembers() {
	type out struct{ Body MemberList }
	add(a, endpoint{
		id: "listMembers", method: http.MethodGet, path: Base + "/members", tag: "people", summary: "People of the workspace",
	}, func(ctx context.Context, _ *none) (*out, error) {
		members, err := a.Access.ListMembers(ctx, actor(ctx))
		if err != nil {
			return nil, err
		}
		list := MemberList{Items: make([]Member, 0, len(members))}
		for _, m := range members {
			list.Items = append(list.Items, Member{ID: m.User.ID, Name: m.User.Name, Title: m.User.Title, Role: m.Role, Since: m.Since})
		}
		return &out{Body: list}, nil
	})
}

func (a *API) setRole() {
	type in struct {
		MemberRef
		Body RoleBody
	}
	add(a, endpoint{
		id: "setRole", method: http.MethodPatch, path: Base + "/members/{user}", tag: "people", summary: "Give a member another role, at once",
		about:  "Also for what they have open. The last administrator stays one.",
		status: http.StatusNoContent, refusals: []fault.Code{fault.NotFound, fault.Conflict},
	}, func(ctx context.Context, q *in) (*none, error) {
		return &none{}, a.Access.SetRole(ctx, actor(ctx), q.User, q.Body.Role)
	})
}

func (a *API) removeMember() {
	add(a, endpoint{
		id: "removeMember", method: http.MethodDelete, path: Base + "/members/{user}", tag: "people", summary: "End a membership, at once",
		about:  "With the tokens that act for the person in this workspace, and the invitations that they made. The last administrator stays.",
		status: http.StatusNoContent, refusals: []fault.Code{fault.NotFound, fault.Conflict},
	}, func(ctx context.Context, q *MemberRef) (*none, error) {
		return &none{}, a.Access.RemoveMember(ctx, actor(ctx), q.User)
	})
}
