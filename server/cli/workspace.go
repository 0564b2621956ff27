package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

type workspaceCommand struct {
	Create workspaceCreate `cmd:"" help:"Create a workspace. Invite people with a token of that workspace."`
	List   workspaceList   `cmd:"" help:"List workspaces."`
	Close  workspaceClose  `cmd:"" help:"Close a workspace. Its content and name are kept, but nobody can enter."`
}

type workspaceCreate struct {
	Name  string `arg:"" help:"Name, used in X-Workspace. It cannot be changed."`
	Title string `help:"Display name (default: the name)."`
	remote
}

func (c *workspaceCreate) run(ctx context.Context, p Process) error {
	return c.with(ctx, p, func(server *client) error {
		var made struct{ ID, Name string }
		if err := server.call(ctx, http.MethodPost, "/api/v1/workspaces", map[string]string{"name": c.Name, "title": c.Title}, &made); err != nil {
			return err
		}
		_, err := fmt.Fprintln(p.Stdout, made.ID)
		return err
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
	Name string `arg:"" help:"Name or ID."`
	remote
}

func (c *workspaceClose) run(ctx context.Context, p Process) error {
	return c.with(ctx, p, func(server *client) error {
		return server.call(ctx, http.MethodDelete, "/api/v1/workspaces/"+url.PathEscape(c.Name), nil, nil)
	})
}
