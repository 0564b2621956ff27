package cli

import (
	"context"
	"encoding/json"
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
	For     string        `field:"note" help:"Note with the name of the invited person."`
	Expires time.Duration `field:"expiresAt" help:"Time until the invitation expires, at most 720h (default: one week)." placeholder:"DURATION"`
	asked
}

func (c *inviteCreate) run(ctx context.Context, p Process) error {
	if c.Expires < 0 {
		return misusedf("--expires must be positive")
	}
	body := map[string]any{"role": c.Role, "note": c.For}
	if c.Expires > 0 {
		body["expiresAt"] = time.Now().Add(c.Expires).UTC()
	}
	return c.ask(ctx, p, http.MethodPost, "/api/v1/invitations", body, func(answer json.RawMessage) error {
		var made struct{ Link string }
		if err := read(answer, &made); err != nil {
			return err
		}
		return p.print(made.Link)
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
	ID string `arg:"" help:"ID of the invitation, from atelier invite list."`
	asked
}

func (c *inviteRevoke) run(ctx context.Context, p Process) error {
	return c.change(ctx, p, http.MethodDelete, "/api/v1/invitations/"+url.PathEscape(c.ID), nil)
}
