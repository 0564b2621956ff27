package cli

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/server/httpapi"
	"github.com/atelier-run/atelier/studio/agents"
)

type publishCommand struct {
	Agent             string `arg:"" help:"Name or ID of the agent."`
	Version           string `arg:"" optional:"" help:"Version number (default: the number suggested from the changes)."`
	Changelog         string `help:"Description of the changes for callers." placeholder:"TEXT"`
	Force             bool   `help:"Accept a smaller version number than suggested. Requires --comment."`
	Comment           string `help:"Reason for --force or --accept-regressions. It is stored with the version." placeholder:"TEXT"`
	AcceptRegressions bool   `help:"Publish a major version even if tests or recorded inputs fail. Requires --comment."`
	IfChanged         bool   `help:"If the draft has no changes since the previous version, print that version and exit with 0."`
	Replay            int    `help:"Publish only if the draft returns the same outputs for this many recorded inputs, 1 to 100." placeholder:"N"`
	seen
	asked
}

func (c *publishCommand) run(ctx context.Context, p Process) error {
	body := c.in(map[string]any{"changelog": c.Changelog, "force": c.Force, "comment": c.Comment, "acceptRegressions": c.AcceptRegressions, "replay": c.Replay, "ifChanged": c.IfChanged})
	if c.Version != "" {
		body["version"] = c.Version
	}
	return c.with(ctx, p, func(server *client) error {
		var answer json.RawMessage
		if err := server.call(ctx, http.MethodPost, agentPath(c.Agent)+"/versions", body, &answer); err != nil {
			return err
		}
		var waiting httpapi.AwaitedPublication
		if err := read(answer, &waiting); err != nil {
			return err
		}
		if waiting.Status == registry.AwaitingApproval {
			return c.awaited(p, server, answer, waiting)
		}
		return c.print(p, answer, c.tell(p))
	})
}

// awaited prints the reason why a person must approve the publication, and a link to the request for approval.
func (c *publishCommand) awaited(p Process, server *client, answer json.RawMessage, waiting httpapi.AwaitedPublication) error {
	err := c.print(p, answer, func(json.RawMessage) error {
		text := waiting.Message
		for _, d := range waiting.Reasons {
			text += "\n  " + place(d) + d.Message
		}
		if err := warn(p, waiting.Warnings); err != nil {
			return err
		}
		return p.say("%s\nit waits for %s\napprove it at %s\nor with: atelier approvals approve %s", text, approvers(waiting.Approvers), approvalLink(server, waiting.ApprovalID), waiting.ApprovalID)
	})
	return errors.Join(err, exit{waits})
}

func (c *publishCommand) tell(p Process) func(json.RawMessage) error {
	return func(answer json.RawMessage) error {
		var made agents.Published
		if err := read(answer, &made); err != nil {
			return err
		}
		if err := p.print(made.Reference()); err != nil {
			return err
		}
		if made.Existing {
			return p.say("no changes since %s; nothing was published", made.Reference())
		}
		if err := warn(p, made.Warnings); err != nil {
			return err
		}
		if made.RuntimeChoice == nil {
			return nil
		}
		return p.say("%s", made.RuntimeChoice.Message)
	}
}

// warn prints the warnings about a published version.
func warn(p Process, warnings []fault.Detail) error {
	for _, d := range warnings {
		if err := p.say("warning: %s %s", strings.TrimPrefix(d.Pointer, "/"), d.Message); err != nil {
			return err
		}
	}
	return nil
}

type deprecateCommand struct {
	Reference string `arg:"" help:"Version, for example weather@1.0.0." placeholder:"REF"`
	Reason    string `help:"Reason for the deprecation, shown to callers." placeholder:"TEXT"`
	Successor string `help:"Version that callers should use instead, for example weather@2.0.0 (default: the latest other version)." placeholder:"REF"`
	Undo      bool   `help:"Remove the deprecation."`
	asked
}

func (c *deprecateCommand) run(ctx context.Context, p Process) error {
	ref, err := registry.ParseReference(c.Reference)
	if err != nil {
		return misused{err}
	}
	if ref.Version == "" {
		return misusedf("the reference must contain a version, for example %s@1.0.0", ref.Agent)
	}
	if c.Undo && (c.Reason != "" || c.Successor != "") {
		return misusedf("--undo cannot be combined with --reason or --successor")
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
			return p.say("%s@%s is no longer deprecated", marked.Agent, marked.Version)
		}
		if err := p.say("%s@%s is deprecated; use %s", marked.Agent, marked.Version, or(marked.Successor, "another version")); err != nil {
			return err
		}
		if len(marked.Pins) == 0 {
			return nil
		}
		if err := p.say("still used by:"); err != nil {
			return err
		}
		return pinTable(p, marked.Pins)
	})
}
