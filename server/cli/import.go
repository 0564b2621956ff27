package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// maxToolFile is the maximum size in bytes of a file with a tool's definition. The server's limit is lower, and the
// server returns the better error.
const maxToolFile = 4 << 20

type importCommand struct {
	Tool     string `required:"" help:"File with the definition of one tool, or - for stdin." placeholder:"FILE|-"`
	Name     string `help:"Name of the new agent (default: derived from the name of the tool)."`
	Language string `help:"Language of the stub: ${enum}." default:"typescript" enum:"typescript,javascript,python,bash"`
	asked
}

// Help returns the text above the flags.
func (*importCommand) Help() string {
	return "The agent has the name, the description and the schemas of the tool. " +
		"Its program is a stub. The command prints the name of the agent on stdout. To import agents with their versions, use `atelier archive import`."
}

func (c *importCommand) run(ctx context.Context, p Process) (err error) {
	file, err := p.open(c.Tool)
	if err != nil {
		return misusedf("%s cannot be read: %w", c.Tool, err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	definition, err := io.ReadAll(io.LimitReader(file, maxToolFile))
	if err != nil {
		return err
	}
	if !json.Valid(definition) {
		return misusedf("%s is not JSON", c.Tool)
	}
	return c.with(ctx, p, func(server *client) error {
		body := map[string]any{"tool": json.RawMessage(definition), "language": c.Language}
		if c.Name != "" {
			body["name"] = c.Name
		}
		var agent json.RawMessage
		err := server.exchange(ctx, http.MethodPost, "/api/v1/code-agents/import-tool", body, nil, func(header http.Header, text io.Reader) error {
			if err := p.note(header); err != nil {
				return err
			}
			return into(&agent)(header, text)
		})
		if err != nil {
			return err
		}
		return c.print(p, agent, named(p))
	})
}

// note prints the warnings that are in the headers of an answer.
func (p Process) note(header http.Header) error {
	for _, text := range header["Atelier-Warning"] {
		var note string
		if err := json.Unmarshal([]byte(text), &note); err != nil {
			return fmt.Errorf("read the server's warnings: %w", err)
		}
		_, _ = fmt.Fprintln(p.Stderr, "note: "+lines(note))
	}
	return nil
}
