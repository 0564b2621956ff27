package cli

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"
)

type tokenCommand struct {
	Create tokenCreate `cmd:"" help:"Create a token. Its secret is shown once."`
	List   tokenList   `cmd:"" help:"List tokens, without secrets."`
	Revoke tokenRevoke `cmd:"" help:"Revoke a token. It takes effect at once."`
}

type tokenCreate struct {
	Name    string        `arg:"" help:"Label of the token, for example the program that uses it."`
	Scope   []string      `field:"scopes" help:"Scopes, separated by commas: read, run, write, approve, admin (default: all except admin). admin includes all others." placeholder:"SCOPE"`
	Agent   []string      `field:"agents" help:"Restrict the token to this agent. Repeatable (default: all agents)." sep:"none" placeholder:"NAME"`
	Expires time.Duration `field:"expiresAt" help:"Token lifetime, for example 720h (default: never expires)." placeholder:"DURATION"`
	asked
}

func (c *tokenCreate) run(ctx context.Context, p Process) error {
	body := map[string]any{"name": c.Name}
	if len(c.Scope) > 0 {
		body["scopes"] = c.Scope
	}
	if len(c.Agent) > 0 {
		body["agents"] = c.Agent
	}
	if c.Expires < 0 {
		return misusedf("--expires must be positive")
	}
	if c.Expires > 0 {
		body["expiresAt"] = time.Now().Add(c.Expires).UTC()
	}
	return c.ask(ctx, p, http.MethodPost, "/api/v1/tokens", body, func(answer json.RawMessage) error {
		var made struct{ Secret string }
		if err := read(answer, &made); err != nil {
			return err
		}
		return p.print(made.Secret)
	})
}

type tokenList struct{ asked }

func (c *tokenList) run(ctx context.Context, p Process) error {
	return c.ask(ctx, p, http.MethodGet, "/api/v1/tokens", nil, func(answer json.RawMessage) error {
		var tokens page[struct {
			ID, Name                         string
			Scopes                           []string
			Agents                           []struct{ Name string }
			CreatedAt                        time.Time
			LastUsedAt, ExpiresAt, RevokedAt *time.Time
		}]
		if err := read(answer, &tokens); err != nil {
			return err
		}
		t := newTable(p.Stdout, "ID", "NAME", "SCOPES", "AGENTS", "CREATED", "LAST USED", "STATE")
		for _, token := range tokens.Items {
			state := "open"
			switch {
			case token.RevokedAt != nil:
				state = "revoked"
			case token.ExpiresAt != nil && token.ExpiresAt.Before(time.Now()):
				state = "expired"
			case token.ExpiresAt != nil:
				state = "until " + token.ExpiresAt.UTC().Format(time.RFC3339)
			}
			used := "never"
			if token.LastUsedAt != nil {
				used = token.LastUsedAt.UTC().Format(time.RFC3339)
			}
			agents := "all"
			if len(token.Agents) > 0 {
				var names []string
				for _, agent := range token.Agents {
					names = append(names, agent.Name)
				}
				agents = strings.Join(names, ",")
			}
			t.row(token.ID, token.Name, strings.Join(token.Scopes, ","), agents, token.CreatedAt.UTC().Format(time.RFC3339), used, state)
		}
		return t.flush()
	})
}

type tokenRevoke struct {
	ID string `arg:"" help:"ID of the token, from atelier token list."`
	asked
}

func (c *tokenRevoke) run(ctx context.Context, p Process) error {
	return c.change(ctx, p, http.MethodDelete, "/api/v1/tokens/"+url.PathEscape(c.ID), nil)
}
