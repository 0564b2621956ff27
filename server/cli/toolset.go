package cli

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/atelier-run/atelier/registry"
)

type toolsetCommand struct {
	List       toolsetListCommand       `cmd:"" help:"List tool sets."`
	Show       toolsetShowCommand       `cmd:"" help:"Show the versions of a tool set."`
	Put        toolsetPutCommand        `cmd:"" help:"Create or replace a tool set: several pinned versions under one name, for MCP clients."`
	ServerJSON toolsetServerJSONCommand `cmd:"" name:"server-json" help:"Print the server.json that describes an MCP address to an MCP registry."`
	Delete     toolsetDeleteCommand     `cmd:"" help:"Delete a tool set. Its versions are kept."`
}

type toolsetListCommand struct{ asked }

func (c *toolsetListCommand) run(ctx context.Context, p Process) error {
	return c.ask(ctx, p, http.MethodGet, "/api/v1/tool-sets", nil, func(answer json.RawMessage) error {
		var sets page[registry.ToolSet]
		if err := read(answer, &sets); err != nil {
			return err
		}
		t := newTable(p.Stdout, "NAME", "TOOLS", "UPDATED", "TITLE")
		for _, set := range sets.Items {
			var names []string
			for _, tool := range set.Tools {
				names = append(names, tool.Name+"@"+tool.Version)
			}
			t.row(set.Name, strings.Join(names, " "), set.UpdatedAt.UTC().Format(time.RFC3339), set.Title)
		}
		return t.flush()
	})
}

type toolsetShowCommand struct {
	Name string `arg:"" help:"Name of the tool set."`
	asked
}

func (c *toolsetShowCommand) run(ctx context.Context, p Process) error {
	return c.ask(ctx, p, http.MethodGet, toolSetPath(c.Name), nil, toolSetTable(p))
}

type toolsetPutCommand struct {
	Name        string   `arg:"" help:"Name of the tool set."`
	References  []string `arg:"" help:"Versions to pin, such as weather@1.2.0 or weather@^1. Ranges are resolved now." placeholder:"REF"`
	Title       string   `help:"Title shown to people." placeholder:"TEXT"`
	Description string   `help:"Description for people." placeholder:"TEXT"`
	asked
}

func (c *toolsetPutCommand) run(ctx context.Context, p Process) error {
	body := map[string]any{"title": c.Title, "description": c.Description, "references": c.References}
	return c.ask(ctx, p, http.MethodPut, toolSetPath(c.Name), body, toolSetTable(p))
}

type toolsetServerJSONCommand struct {
	Name      string `arg:"" optional:"" help:"Name of the tool set (default: all agents)."`
	Reference string `help:"Describe the address of one version instead, such as weather@^1." placeholder:"REF"`
	asked
}

func (c *toolsetServerJSONCommand) run(ctx context.Context, p Process) error {
	query := url.Values{}
	if c.Name != "" {
		query.Set("set", c.Name)
	}
	if c.Reference != "" {
		query.Set("reference", c.Reference)
	}
	path := "/api/v1/server.json"
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return c.ask(ctx, p, http.MethodGet, path, nil, func(answer json.RawMessage) error { return p.print(string(answer)) })
}

type toolsetDeleteCommand struct {
	Name string `arg:"" help:"Name of the tool set."`
	asked
}

func (c *toolsetDeleteCommand) run(ctx context.Context, p Process) error {
	return c.ask(ctx, p, http.MethodDelete, toolSetPath(c.Name), nil, func(json.RawMessage) error {
		return p.say("deleted the tool set %s", c.Name)
	})
}

func toolSetPath(name string) string { return "/api/v1/tool-sets/" + url.PathEscape(name) }

func toolSetTable(p Process) func(json.RawMessage) error {
	return func(answer json.RawMessage) error {
		var set registry.ToolSet
		if err := read(answer, &set); err != nil {
			return err
		}
		t := newTable(p.Stdout, "TOOL", "VERSION", "DIGEST", "")
		for _, tool := range set.Tools {
			note := ""
			switch {
			case tool.Missing:
				note = "deleted"
			case tool.Deprecated:
				note = strings.TrimSuffix("deprecated: "+tool.Reason, ": ")
			case tool.Newest != "":
				note = "newest: " + tool.Newest
			}
			t.row(tool.Name, tool.Version, tool.Digest, note)
		}
		return t.flush()
	}
}
