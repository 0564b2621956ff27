package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// Workspace is a tenant.
type Workspace struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	Title     string    `json:"title"`
	CreatedAt time.Time `json:"createdAt"`
}

// WorkspaceList lists the workspaces that a caller may use. For an administrator of the server these are all
// workspaces.
type WorkspaceList struct {
	Items      []Workspace `json:"items"`
	NextCursor string      `json:"nextCursor" doc:"Cursor of the next page. Empty on the last page."`
}

// WorkspaceBody requests a new workspace.
type WorkspaceBody struct {
	Name  string `json:"name" maxLength:"63" doc:"Name of the workspace, used in X-Workspace. It cannot be changed."`
	Title string `json:"title,omitempty" maxLength:"100" doc:"Display name (default: the name)."`
}

// WorkspaceTitleBody changes the title of a workspace.
type WorkspaceTitleBody struct {
	Title string `json:"title" maxLength:"100"`
}

// WorkspaceRef is a path parameter that names a workspace.
type WorkspaceRef struct {
	Workspace string `path:"workspace" maxLength:"100" doc:"Name or ID of the workspace."`
}

func workspaceOf(w registry.Workspace) Workspace {
	return Workspace{ID: w.ID, Name: w.Name, Title: w.Title, CreatedAt: w.CreatedAt}
}

type workspaceAnswer struct{ Body Workspace }

func (a *API) listWorkspaces() {
	type out struct{ Body WorkspaceList }
	add(a, endpoint{
		id: "listWorkspaces", method: http.MethodGet, path: Base + "/workspaces", tag: "people", summary: "List the workspaces of the caller",
		about: "Administrators of the workspace default see the names of all workspaces, but not their content.",
	}, func(ctx context.Context, q *ListPaging) (*out, error) {
		workspaces, err := a.Access.ListWorkspaces(ctx, caller(ctx))
		if err != nil {
			return nil, err
		}
		list := make([]Workspace, 0, len(workspaces))
		for _, w := range workspaces {
			list = append(list, workspaceOf(w))
		}
		page, next, err := pageOf(*q, "workspaces", list, func(w Workspace) string { return w.ID })
		return &out{Body: WorkspaceList{page, next}}, err
	})
}

func (a *API) createWorkspace() {
	type in struct{ Body WorkspaceBody }
	add(a, endpoint{
		id: "createWorkspace", method: http.MethodPost, path: Base + "/workspaces", tag: "people", summary: "Create a workspace",
		about:  "Requires the role administrator in the workspace default. The caller becomes its administrator.",
		status: http.StatusCreated, idempotent: true, refusals: []fault.Code{fault.NameTaken},
	}, func(ctx context.Context, q *in) (*workspaceAnswer, error) {
		w, err := a.Access.CreateWorkspace(ctx, caller(ctx), q.Body.Name, q.Body.Title)
		if err != nil {
			return nil, err
		}
		return &workspaceAnswer{Body: workspaceOf(w)}, nil
	})
}

func (a *API) describeWorkspace() {
	type in struct {
		WorkspaceRef
		Body WorkspaceTitleBody
	}
	add(a, endpoint{
		id: "describeWorkspace", method: http.MethodPatch, path: Base + "/workspaces/{workspace}", tag: "people", summary: "Change the title of the caller's workspace",
		about:    "The name of a workspace cannot be changed.",
		refusals: []fault.Code{fault.NotFound},
	}, func(ctx context.Context, q *in) (*workspaceAnswer, error) {
		w, err := a.Access.DescribeWorkspace(ctx, caller(ctx), q.Workspace, q.Body.Title)
		if err != nil {
			return nil, err
		}
		return &workspaceAnswer{Body: workspaceOf(w)}, nil
	})
}

func (a *API) closeWorkspace() {
	add(a, endpoint{
		id: "closeWorkspace", method: http.MethodDelete, path: Base + "/workspaces/{workspace}", tag: "people", summary: "Close a workspace",
		about:  "Requires the role administrator in the workspace default. Nobody can use a closed workspace. Its tokens are revoked and its agents leave the public registry. Its content and name are kept.",
		status: http.StatusNoContent, refusals: []fault.Code{fault.NotFound, fault.Conflict},
	}, func(ctx context.Context, q *WorkspaceRef) (*none, error) {
		return &none{}, a.Access.CloseWorkspace(ctx, caller(ctx), q.Workspace)
	})
}
