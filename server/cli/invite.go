package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

type inviteCommand struct {
	Create inviteCreate `cmd:"" help:"Create a one-time invitation link to the token's workspace. It is shown once."`
	List   inviteList   `cmd:"" help:"List open invitations, without links."`
	Revoke inviteRevoke `cmd:"" help:"Revoke an invitation."`
}

type inviteCreate struct {
	Role    string        `arg:"" help:"Role: viewer, developer, approver or administrator."`
	For     string        `field:"note" help:"Note on who the invitation is for."`
	Expires time.Duration `field:"expiresAt" help:"Time until the invitation expires, at most 720h (default: one week)." placeholder:"DURATION"`
	remote
}

func (c *inviteCreate) run(ctx context.Context, p Process) error {
	if c.Expires < 0 {
		return misusedf("--expires must be positive")
	}
	body := map[string]any{"role": c.Role, "note": c.For}
	if c.Expires > 0 {
		body["expiresAt"] = time.Now().Add(c.Expires).UTC()
	}
	return c.with(ctx, p, func(server *client) error {
		var made struct{ Link string }
		if err := server.call(ctx, http.MethodPost, "/api/v1/invitations", body, &made); err != nil {
			return err
		}
		_, err := fmt.Fprintln(p.Stdout, made.Link)
		return err
	})
}

type inviteList struct{ asked }

func (c *inviteList) run(ctx context.Context, p Process) error {
	return c.ask(ctx, p, http.MethodGet, "/api/v1/invitations", nil, func(answer json.RawMessage) error {
		var list page[struct {
			ID, Role, Note, CreatedBy string
			ExpiresAt                 time.Time
		}]
		if err := read(answer, &list); err != nil {
			return err
		}
		t := newTable(p.Stdout, "ID", "ROLE", "FOR", "BY", "UNTIL")
		for _, i := range list.Items {
			t.row(i.ID, i.Role, i.Note, i.CreatedBy, i.ExpiresAt.UTC().Format(time.RFC3339))
		}
		return t.flush()
	})
}

type inviteRevoke struct {
	ID string `arg:"" help:"ID from the list."`
	remote
}

func (c *inviteRevoke) run(ctx context.Context, p Process) error {
	return c.with(ctx, p, func(server *client) error {
		return server.call(ctx, http.MethodDelete, "/api/v1/invitations/"+url.PathEscape(c.ID), nil, nil)
	})
}
