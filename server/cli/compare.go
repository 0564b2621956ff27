package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

type diffCommand struct {
	Agent string `arg:"" help:"Name or ID of the agent."`
	From  string `arg:"" optional:"" default:"latest" help:"First version: a number, a range, latest, a digest or draft."`
	To    string `arg:"" optional:"" default:"draft" help:"Second version, in the same forms."`
	seen
	asked
}

func (c *diffCommand) run(ctx context.Context, p Process) error {
	return c.with(ctx, p, func(server *client) error {
		var answer json.RawMessage
		query := c.query(url.Values{"from": {c.From}, "to": {c.To}})
		if err := server.call(ctx, http.MethodGet, "/api/v1/code-agents/"+url.PathEscape(c.Agent)+"/diff?"+query.Encode(), nil, &answer); err != nil {
			return err
		}
		return c.print(p, answer, func(json.RawMessage) error { return printDiff(p, answer) })
	})
}

// printDiff prints changed files in the unified diff format. It prints other changes as lines that a patch program
// ignores.
func printDiff(p Process, answer json.RawMessage) error {
	var diff struct {
		From, To string
		Files    []struct {
			Path, Status, Unified string
			Binary                bool
		}
		Settings []struct {
			Name          string
			Before, After json.RawMessage
		}
		Packages []struct{ Name, Before, After string }
		Advice   struct {
			Bump, Version string
			Reasons       []struct{ Bump, Pointer, Message string }
		}
	}
	if err := json.Unmarshal(answer, &diff); err != nil {
		return fmt.Errorf("read the server's answer: %w", err)
	}
	var text strings.Builder
	for _, file := range diff.Files {
		if file.Unified == "" {
			fmt.Fprintf(&text, "%s %s\n", file.Path, file.Status)
			continue
		}
		text.WriteString(strings.TrimSuffix(file.Unified, "\n") + "\n")
	}
	for _, s := range diff.Settings {
		if strings.HasSuffix(s.Name, "Schema") {
			continue // The reasons describe schema changes more clearly.
		}
		fmt.Fprintf(&text, "%s: %s → %s\n", s.Name, s.Before, s.After)
	}
	for _, p := range diff.Packages {
		fmt.Fprintf(&text, "package %s: %s → %s\n", p.Name, or(p.Before, "(none)"), or(p.After, "(none)"))
	}
	fmt.Fprintf(&text, "\n%s → %s: %s", diff.From, diff.To, diff.Advice.Bump)
	if diff.Advice.Version != "" {
		fmt.Fprintf(&text, ", the next version is %s", diff.Advice.Version)
	}
	text.WriteByte('\n')
	for _, r := range diff.Advice.Reasons {
		fmt.Fprintf(&text, "  %-5s %s (%s)\n", r.Bump, r.Message, r.Pointer)
	}
	_, err := fmt.Fprint(p.Stdout, lines(text.String()))
	return err
}
