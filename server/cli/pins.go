package cli

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/atelier-run/atelier/registry"
)

type pinsCommand struct {
	Of   pinsOfCommand   `cmd:"" help:"List the owners that have pins on an agent."`
	By   pinsByCommand   `cmd:"" help:"List the pins of an owner."`
	Put  pinsPutCommand  `cmd:"" help:"Replace all pins of an owner. Pinned agents can be deleted only with --force."`
	Drop pinsDropCommand `cmd:"" help:"Remove all of an owner's pins."`
}

type pinsOfCommand struct {
	Agent string `arg:"" help:"Name or ID of the agent."`
	asked
}

func (c *pinsOfCommand) run(ctx context.Context, p Process) error {
	return c.ask(ctx, p, http.MethodGet, agentPath(c.Agent)+"/pins", nil, pinList(p))
}

type pinsByCommand struct {
	Owner string `arg:"" help:"Identifier of the owner."`
	asked
}

func (c *pinsByCommand) run(ctx context.Context, p Process) error {
	return c.ask(ctx, p, http.MethodGet, ownerPath(c.Owner), nil, pinList(p))
}

type pinsPutCommand struct {
	Owner      string   `arg:"" help:"Identifier of the owner, chosen by you, for example workflow:42/node:3."`
	References []string `arg:"" help:"References, for example weather@^1. Pins that are not listed are removed." placeholder:"REF"`
	Label      string   `help:"Display name of the owner." placeholder:"TEXT"`
	asked
}

func (c *pinsPutCommand) run(ctx context.Context, p Process) error {
	body := map[string]any{"owner": c.Owner, "label": c.Label, "references": c.References}
	return c.ask(ctx, p, http.MethodPut, "/api/v1/pins", body, pinList(p))
}

type pinsDropCommand struct {
	Owner string `arg:"" help:"Identifier of the owner."`
	asked
}

func (c *pinsDropCommand) run(ctx context.Context, p Process) error {
	return c.ask(ctx, p, http.MethodDelete, ownerPath(c.Owner), nil, func(json.RawMessage) error {
		return p.say("removed all pins of %s", c.Owner)
	})
}

func ownerPath(owner string) string {
	return "/api/v1/pins?" + url.Values{"owner": {owner}}.Encode()
}

func pinList(p Process) func(json.RawMessage) error {
	return func(answer json.RawMessage) error {
		var pins page[registry.Pin]
		if err := read(answer, &pins); err != nil {
			return err
		}
		return pinTable(p, pins.Items)
	}
}

func pinTable(p Process, pins []registry.Pin) error {
	t := newTable(p.Stdout, "OWNER", "REFERENCE", "STANDS FOR", "SINCE", "LABEL")
	for _, pin := range pins {
		now := or(pin.Version, "(nothing)")
		if pin.Deprecated {
			now += " (deprecated)"
		}
		t.row(pin.Owner, pin.Reference, now, pin.CreatedAt.UTC().Format(time.RFC3339), pin.Label)
	}
	return t.flush()
}
