package cli

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"
)

type workspaceCommand struct {
	Create workspaceCreate `cmd:"" help:"Create a workspace. Invite people with a token of that workspace."`
	List   workspaceList   `cmd:"" help:"List workspaces."`
	Close  workspaceClose  `cmd:"" help:"Close a workspace. Its content and its name are kept, but nobody can use it."`
}

type workspaceCreate struct {
	Name  string `arg:"" help:"Name of the workspace, used in X-Workspace. It cannot be changed."`
	Title string `help:"Display name (default: the name)."`
	asked
}

func (c *workspaceCreate) run(ctx context.Context, p Process) error {
	return c.ask(ctx, p, http.MethodPost, "/api/v1/workspaces", map[string]string{"name": c.Name, "title": c.Title}, func(answer json.RawMessage) error {
		var made struct{ ID string }
		if err := read(answer, &made); err != nil {
			return err
		}
		return p.print(made.ID)
	})
}

type workspaceList struct{ asked }

func (c *workspaceList) run(ctx context.Context, p Process) error {
	return c.ask(ctx, p, http.MethodGet, "/api/v1/workspaces", nil, func(answer json.RawMessage) error {
		var list page[struct {
			ID, Name, Title string
			CreatedAt       time.Time
		}]
		if err := read(answer, &list); err != nil {
			return err
		}
		t := newTable(p.Stdout, "ID", "NAME", "TITLE", "CREATED")
		for _, w := range list.Items {
			t.row(w.ID, w.Name, w.Title, w.CreatedAt.UTC().Format(time.RFC3339))
		}
		return t.flush()
	})
}

type workspaceClose struct {
	Name string `arg:"" help:"Name or ID of the workspace."`
	asked
}

func (c *workspaceClose) run(ctx context.Context, p Process) error {
	return c.change(ctx, p, http.MethodDelete, "/api/v1/workspaces/"+url.PathEscape(c.Name), nil)
}
