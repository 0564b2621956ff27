package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

type memberCommand struct {
	List   memberList   `cmd:"" help:"List the members of the token's workspace."`
	Role   memberRole   `cmd:"" help:"Change a member's role. It takes effect at once."`
	Remove memberRemove `cmd:"" help:"Remove a member and revoke their tokens."`
}

type person struct {
	ID, Name, Title, Role string
	Since                 time.Time
}

type memberList struct{ asked }

func (c *memberList) run(ctx context.Context, p Process) error {
	return c.ask(ctx, p, http.MethodGet, "/api/v1/members", nil, func(answer json.RawMessage) error {
		var members page[person]
		if err := read(answer, &members); err != nil {
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
	Name string `arg:"" help:"Sign-in name or ID of the member."`
	Role string `arg:"" help:"Role: viewer, developer, approver or administrator."`
	asked
}

func (c *memberRole) run(ctx context.Context, p Process) error {
	return c.with(ctx, p, func(server *client) error {
		path, err := memberPath(ctx, server, c.Name)
		if err != nil {
			return err
		}
		return c.changed(ctx, p, server, http.MethodPatch, path, map[string]string{"role": c.Role})
	})
}

type memberRemove struct {
	Name string `arg:"" help:"Sign-in name or ID of the member."`
	asked
}

func (c *memberRemove) run(ctx context.Context, p Process) error {
	return c.with(ctx, p, func(server *client) error {
		path, err := memberPath(ctx, server, c.Name)
		if err != nil {
			return err
		}
		return c.changed(ctx, p, server, http.MethodDelete, path, nil)
	})
}

// memberPath finds a member by sign-in name or ID.
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
	return "", fmt.Errorf("no member named %s; `atelier member list` lists members", nameOrID)
}
