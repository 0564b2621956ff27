package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/atelier-run/atelier/registry"
)

type exportCommand struct {
	Reference string `arg:"" help:"Reference: name@1.0.0, name@^1, or name for the latest version." placeholder:"REF"`
	Format    string `help:"Manifest format: ${enum}." default:"atelier" enum:"${formats}"`
	Publish   bool   `help:"Publish the draft first if the agent has no version."`
	seen
	asked
}

func (c *exportCommand) run(ctx context.Context, p Process) error {
	ref, err := registry.ParseReference(c.Reference)
	if err != nil {
		return misused{fmt.Errorf("%s: %s", c.Reference, sentence(err))}
	}
	return c.with(ctx, p, func(server *client) error {
		body := c.in(map[string]any{"format": c.Format, "publish": c.Publish})
		if ref.Version != "" {
			body["version"] = ref.Version
		}
		var manifest json.RawMessage
		err := server.exchange(ctx, http.MethodPost, "/api/v1/code-agents/"+url.PathEscape(ref.Agent)+"/export-tool", body, nil, func(header http.Header, text io.Reader) error {
			if err := p.note(header); err != nil {
				return err
			}
			return into(&manifest)(header, text)
		})
		if err != nil {
			return err
		}
		if c.JSON {
			return p.encode(manifest)
		}
		var text bytes.Buffer
		if err := json.Indent(&text, manifest, "", "  "); err != nil {
			return err
		}
		_, err = fmt.Fprintln(p.Stdout, text.String())
		return err
	})
}
