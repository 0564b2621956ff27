package cli

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/atelier-run/atelier/registry"
)

type publishCommand struct {
	Agent     string `arg:"" help:"Name or ID."`
	Version   string `arg:"" optional:"" help:"Its number; without it the one that the changes ask for."`
	Changelog string `help:"What changed, for those who call it." placeholder:"TEXT"`
	Force     bool   `help:"Although the number is smaller than advised; needs --comment."`
	Comment   string `help:"Why it may be smaller; the version keeps it." placeholder:"TEXT"`
	Replay    int    `help:"Only if the draft answers so many recorded inputs as before, 1 to 100." placeholder:"N"`
	seen
	asked
}

func (c *publishCommand) run(ctx context.Context, p Process) error {
	body := c.in(map[string]any{"changelog": c.Changelog, "force": c.Force, "comment": c.Comment, "replay": c.Replay})
	if c.Version != "" {
		body["version"] = c.Version
	}
	return c.ask(ctx, p, http.MethodPost, agentPath(c.Agent)+"/versions", body, func(answer json.RawMessage) error {
		var made registry.Version
		if err := read(answer, &made); err != nil {
			return err
		}
		if err := p.print(made.Reference()); err != nil || made.RuntimeChoice == nil {
			return err
		}
		return p.say("%s", made.RuntimeChoice.Message)
	})
}

type deprecateCommand struct {
	Reference string `arg:"" help:"Such as weather@1.0.0." placeholder:"REF"`
	Reason    string `help:"Why, for those who call it." placeholder:"TEXT"`
	Successor string `help:"A reference to use instead; the latest other version without it." placeholder:"REF"`
	Undo      bool   `help:"Take the mark back."`
	asked
}

func (c *deprecateCommand) run(ctx context.Context, p Process) error {
	ref, err := registry.ParseReference(c.Reference)
	if err != nil {
		return misused{err}
	}
	if ref.Version == "" {
		return misusedf("name a version, such as %s@1.0.0", ref.Agent)
	}
	if c.Undo && (c.Reason != "" || c.Successor != "") {
		return misusedf("--undo takes neither --reason nor --successor")
	}
	body := map[string]any{"deprecated": !c.Undo, "reason": c.Reason, "successor": c.Successor}
	path := agentPath(ref.Agent) + "/versions/" + url.PathEscape(ref.Version)
	return c.ask(ctx, p, http.MethodPatch, path, body, func(answer json.RawMessage) error {
		var marked struct {
			Agent, Version, Successor string
			Pins                      []registry.Pin
		}
		if err := read(answer, &marked); err != nil {
			return err
		}
		if c.Undo {
			return p.say("%s@%s is not deprecated any more", marked.Agent, marked.Version)
		}
		if err := p.say("%s@%s is deprecated; use %s", marked.Agent, marked.Version, or(marked.Successor, "something else")); err != nil {
			return err
		}
		if len(marked.Pins) == 0 {
			return nil
		}
		if err := p.say("these must move:"); err != nil {
			return err
		}
		return pinTable(p, marked.Pins)
	})
}
