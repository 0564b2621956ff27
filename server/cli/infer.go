package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/atelier-run/atelier/internal/config"
	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/server/app"
	"github.com/atelier-run/atelier/studio/access"
)

type inferCommand struct {
	Target   string       `arg:"" help:"File (main.py) or folder with agent.yaml; with --from-runs the name of an agent." placeholder:"FILE|DIR|NAME"`
	FromRuns int          `help:"Guess the schemas from this many of an agent's newest runs on a server, 1 to 100." placeholder:"N"`
	asked                 // the result is JSON with and without this flag
	Settings kong.Plugins `embed:""`
}

// inferSettings selects the settings that affect how types are read.
func inferSettings(s config.Setting) bool {
	return slices.Contains([]string{"python", "typescript", "allow-weak-sandbox", "mask-sandbox"}, s.Name)
}

// Help returns the text above the flags.
func (*inferCommand) Help() string {
	return "The command prints inputSchema, outputSchema, source and notes as JSON on stdout, and the notes on stderr. It reads the types in the sandbox of this machine, without a server, except with --from-runs. " +
		"Exit codes: 0 if the schemas were inferred, 1 if the program cannot be loaded or described."
}

func (c *inferCommand) run(ctx context.Context, p Process) (err error) {
	if c.FromRuns != 0 {
		path := "/api/v1/code-agents/" + url.PathEscape(c.Target) + "/schemas-from-runs?runs=" + strconv.Itoa(c.FromRuns)
		return c.with(ctx, p, func(server *client) error {
			var found registry.InferredSchemas
			if err := server.call(ctx, http.MethodGet, path, nil, &found); err != nil {
				return err
			}
			return c.show(p, found)
		})
	}
	info, err := os.Stat(c.Target)
	if err != nil {
		return misusedf("no file or folder named %s", c.Target)
	}
	read := fileAt(c.Target)
	if info.IsDir() {
		read = folderAt(c.Target)
	}
	spec, err := read()
	if err != nil {
		return err
	}
	settings, err := p.load(givenIn(c.Settings[0]), c.Config)
	if err != nil {
		return err
	}
	settings.Warm = 1
	local, err := app.OpenLocal(ctx, settings, p.Exe, p.Version, p.quietLog())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, local.Close()) }()
	found, err := local.Inference.Infer(ctx, access.Administrator(), spec)
	if refused := (*fault.Error)(nil); errors.As(err, &refused) && len(refused.Details) > 0 {
		for _, d := range refused.Details {
			_, _ = fmt.Fprintln(p.Stderr, located(d.File, d.Line, strings.TrimSpace(d.Pointer+" "+d.Message)))
		}
		return errors.New(refused.Message)
	}
	if err != nil {
		return err
	}
	return c.show(p, found)
}

// show prints the notes to stderr and the schemas to stdout.
func (c *inferCommand) show(p Process, found registry.InferredSchemas) error {
	for _, note := range found.Notes {
		_, _ = fmt.Fprintln(p.Stderr, located(note.File, note.Line, note.Message))
	}
	return c.result(p, found, func() error {
		encoder := json.NewEncoder(p.Stdout)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(found)
	})
}

// located returns a message with a position in front.
func located(file string, line int, message string) string {
	if file == "" {
		return message
	}
	return fmt.Sprintf("%s:%d: %s", file, line, message)
}
