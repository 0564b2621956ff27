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
	Name  string        `json:"name" doc:"Sign-in name."`
	Title string        `json:"title"`
	Role  registry.Role `json:"role"`
	Since time.Time     `json:"since"`
}

// MemberList lists the people of the workspace.
type MemberList struct {
	Items      []Member `json:"items"`
	NextCursor string   `json:"nextCursor" doc:"Cursor of the next page. Empty on the last page."`
}

// RoleBody changes a member's role.
type RoleBody struct {
	Role registry.Role `json:"role"`
}

// MemberRef is a path parameter that names a member.
type MemberRef struct {
	User string `path:"user" maxLength:"100" doc:"ID of the person."`
}

func (a *API) listMembers() {
	type out struct{ Body MemberList }
	add(a, endpoint{
		id: "listMembers", method: http.MethodGet, path: Base + "/members", tag: "people", summary: "List members",
		about: "The people of the workspace with their roles.",
	}, func(ctx context.Context, q *ListPaging) (*out, error) {
		members, err := a.Access.ListMembers(ctx, actor(ctx))
		if err != nil {
			return nil, err
		}
		list := make([]Member, 0, len(members))
		for _, m := range members {
			list = append(list, Member{ID: m.User.ID, Name: m.User.Name, Title: m.User.Title, Role: m.Role, Since: m.Since})
		}
		page, next, err := pageOf(*q, "members", list, func(m Member) string { return m.ID })
		return &out{Body: MemberList{page, next}}, err
	})
}

func (a *API) setRole() {
	type in struct {
		MemberRef
		Body RoleBody
	}
	add(a, endpoint{
		id: "setRole", method: http.MethodPatch, path: Base + "/members/{user}", tag: "people", summary: "Change the role of a member",
		about:  "Takes effect at once, also for open streams. The last administrator cannot be demoted.",
		status: http.StatusNoContent, refusals: []fault.Code{fault.NotFound, fault.Conflict},
	}, func(ctx context.Context, q *in) (*none, error) {
		return &none{}, a.Access.SetRole(ctx, actor(ctx), q.User, q.Body.Role)
	})
}

func (a *API) removeMember() {
	add(a, endpoint{
		id: "removeMember", method: http.MethodDelete, path: Base + "/members/{user}", tag: "people", summary: "Remove a member",
		about:  "Takes effect at once. Also revokes the person's tokens and invitations in this workspace. The last administrator cannot be removed.",
		status: http.StatusNoContent, refusals: []fault.Code{fault.NotFound, fault.Conflict},
	}, func(ctx context.Context, q *MemberRef) (*none, error) {
		return &none{}, a.Access.RemoveMember(ctx, actor(ctx), q.User)
	})
}
