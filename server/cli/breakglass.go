package cli

import (
	"context"
	"fmt"

	"github.com/atelier-run/atelier/server/app"
)

type breakGlassCommand struct {
	Reason    string `required:"" help:"Reason, stored with the token."`
	Workspace string `help:"Name or ID of the workspace." default:"default"`
	printed
	database
}

func (c *breakGlassCommand) run(ctx context.Context, p Process) error {
	settings, err := p.load(c.flags(), c.Config)
	if err != nil {
		return err
	}
	secret, err := app.BreakGlass(ctx, settings, p.quietLog(), c.Workspace, c.Reason)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintln(p.Stderr, "Administrator token, valid for one hour. Everybody who can list tokens sees it with its reason and can revoke it.")
	return c.result(p, map[string]string{"secret": secret}, func() error { return p.print(secret) })
}
