package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

type copyCommand struct {
	Agent string `arg:"" help:"Name or ID of the agent."`
	Name  string `arg:"" help:"Name of the copy."`
	seen
	asked
}

func (c *copyCommand) run(ctx context.Context, p Process) error {
	return c.ask(ctx, p, http.MethodPost, agentPath(c.Agent)+"/copy", c.in(map[string]any{"name": c.Name}), named(p))
}

// named prints the name of the agent that the answer contains.
func named(p Process) func(json.RawMessage) error {
	return func(answer json.RawMessage) error {
		var agent struct{ Name string }
		if err := read(answer, &agent); err != nil {
			return err
		}
		return p.print(agent.Name)
	}
}

type renameCommand struct {
	Agent string `arg:"" help:"Name or ID of the agent."`
	Name  string `arg:"" help:"New name. The old name keeps working if the agent has a version."`
	asked
}

func (c *renameCommand) run(ctx context.Context, p Process) error {
	return c.ask(ctx, p, http.MethodPatch, agentPath(c.Agent), map[string]string{"name": c.Name}, named(p))
}

type redraftCommand struct {
	Agent string `arg:"" help:"Name or ID of the agent."`
	From  string `arg:"" optional:"" default:"latest" help:"Version, range or digest, for example 1.0.0. latest discards all edits since the last publication."`
	asked
}

func (c *redraftCommand) run(ctx context.Context, p Process) error {
	return c.with(ctx, p, func(server *client) error {
		kept, err := fetchAgent(ctx, server, c.Agent)
		if err != nil {
			return err
		}
		// With If-Match, the server refuses the request if the draft was saved after it was read, so that no edit is lost.
		match := map[string]string{"If-Match": fmt.Sprintf(`"%d"`, kept.revision)}
		var answer json.RawMessage
		path := agentPath(c.Agent) + "/draft"
		if err := server.exchange(ctx, http.MethodPost, path, map[string]string{"from": c.From}, match, func(h http.Header, body io.Reader) error {
			return into(&answer)(h, body)
		}); err != nil {
			return err
		}
		return c.print(p, answer, func(json.RawMessage) error {
			return p.say("replaced the draft of %s by version %s", c.Agent, c.From)
		})
	})
}

type deleteCommand struct {
	Agent   string `arg:"" help:"Name or ID of the agent."`
	Force   bool   `help:"Delete even if others reference the agent. Requires --comment."`
	Comment string `help:"Reason for the deletion, stored with the deleted agent." placeholder:"TEXT"`
	asked
}

func (c *deleteCommand) run(ctx context.Context, p Process) error {
	query := url.Values{}
	if c.Force {
		if c.Comment == "" {
			return misusedf("--force requires --comment with the reason for the deletion")
		}
		query.Set("force", "true")
	}
	if c.Comment != "" {
		query.Set("comment", c.Comment)
	}
	path := agentPath(c.Agent)
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return c.ask(ctx, p, http.MethodDelete, path, nil, func(json.RawMessage) error {
		return p.say("deleted %s; restore it with `atelier restore %s`", c.Agent, c.Agent)
	})
}

type restoreCommand struct {
	Agent string `arg:"" help:"Name or ID of the agent. The command atelier agents --state=deleted lists deleted agents."`
	asked
}

func (c *restoreCommand) run(ctx context.Context, p Process) error {
	return c.ask(ctx, p, http.MethodPost, agentPath(c.Agent)+"/restore", nil, named(p))
}
