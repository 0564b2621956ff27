package cli

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

type memberCommand struct {
	List   memberList   `cmd:"" help:"List the people of the token's workspace."`
	Role   memberRole   `cmd:"" help:"Give somebody another role; it counts at once."`
	Remove memberRemove `cmd:"" help:"End a membership at once, with the tokens that act for the person."`
}

type person struct {
	ID, Name, Title, Role string
	Since                 time.Time
}

type memberList struct{ remote }

func (c *memberList) run(ctx context.Context, p Process) error {
	return c.with(ctx, p, func(server *client) error {
		var members page[person]
		if err := server.call(ctx, http.MethodGet, "/api/v1/members", nil, &members); err != nil {
			return err
		}
		t := newTable(p.Stdout, "ID", "NAME", "TITLE", "ROLE", "SINCE")
		for _, m := range members.Items {
			t.row(m.ID, m.Name, m.Title, m.Role, m.Since.UTC().Format(time.RFC3339))
		}
		return t.flush()
	})
}

type memberRole struct {
	Name string `arg:"" help:"Login name or ID."`
	Role string `arg:"" help:"viewer, developer, approver or administrator."`
	remote
}

func (c *memberRole) run(ctx context.Context, p Process) error {
	return c.with(ctx, p, func(server *client) error {
		path, err := memberPath(ctx, server, c.Name)
		if err != nil {
			return err
		}
		return server.call(ctx, http.MethodPatch, path, map[string]string{"role": c.Role}, nil)
	})
}

type memberRemove struct {
	Name string `arg:"" help:"Login name or ID."`
	remote
}

func (c *memberRemove) run(ctx context.Context, p Process) error {
	return c.with(ctx, p, func(server *client) error {
		path, err := memberPath(ctx, server, c.Name)
		if err != nil {
			return err
		}
		return server.call(ctx, http.MethodDelete, path, nil, nil)
	})
}

// memberPath finds a member by login name or ID.
func memberPath(ctx context.Context, server *client, nameOrID string) (string, error) {
	var members page[person]
	if err := server.call(ctx, http.MethodGet, "/api/v1/members", nil, &members); err != nil {
		return "", err
	}
	for _, m := range members.Items {
		if m.Name == nameOrID || m.ID == nameOrID {
			return "/api/v1/members/" + url.PathEscape(m.ID), nil
		}
	}
	return "", fmt.Errorf("nobody of the workspace is called %s; `atelier member list` names them", nameOrID)
}
