package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/atelier-run/atelier/registry"
)

type runCommand struct {
	Target string   `arg:"" help:"File (main.ts), folder with agent.yaml, or reference (weather@1.0.0)." placeholder:"FILE|DIR|REF"`
	Input  string   `field:"-" help:"Input as JSON, @FILE, or - for stdin (default: {})." placeholder:"JSON|@FILE|-"`
	Allow  []string `help:"Host that the program of a file or folder may reach, in addition to the hosts in agent.yaml. Repeatable." placeholder:"HOST:PORT"`
	NoWait bool     `name:"no-wait" help:"Do not wait for an approval: if a person must approve the run first, exit with 3 at once."`
	Quiet  bool     `short:"q" help:"Print only the output and errors."`
	hinted
	seen
	asked
}

// Help returns the text above the flags.
func (*runCommand) Help() string {
	return "The output is printed as JSON on stdout; with --json, the whole result. Messages and logs of the program are printed on stderr. Exit codes: 0 if the " +
		"program succeeded, 1 if it failed, 3 if the server refused the run, or with --no-wait if a person must approve it first.\n\nFiles and folders run in the sandbox of this machine, without a server. Before the run, only a short test of the sandbox is made; " +
		"run `atelier doctor` for a full test. " +
		"A reference runs on the server of --server, else on the running server of the data directory. If there is none, it runs in this process, with the database of the data directory."
}

func (c *runCommand) run(ctx context.Context, p Process) error {
	input, err := inputOf(c.Input, p.Stdin)
	if err != nil {
		return err
	}
	console := newConsole(p, c.Quiet, c.JSON)
	info, err := os.Stat(c.Target)
	switch {
	case err == nil && c.Revision != 0:
		return misusedf("--revision is for the draft of a reference; %s is a file or folder", c.Target)
	case c.hints() != nil && err == nil:
		return misusedf("--expected-ms, --long-job, --isolation and --gpu are for references; a file or folder runs on this machine")
	case err == nil && info.IsDir():
		return c.runFiles(ctx, p, console, folderAt(c.Target), input)
	case err == nil:
		return c.runFiles(ctx, p, console, fileAt(c.Target), input)
	case looksLikePath(c.Target):
		return misusedf("no file or folder named %s", c.Target)
	case len(c.Allow) > 0:
		return misusedf("--allow applies only to files and folders; a version has the hosts it was published with")
	}
	return c.runReference(ctx, p, console, input)
}

// looksLikePath reports whether a target is probably a mistyped path and not a reference. It is called if no such file
// exists. In a reference, the name before the @ has neither slashes nor a file extension.
func looksLikePath(target string) bool {
	name, _, _ := strings.Cut(target, "@")
	return strings.ContainsRune(name, filepath.Separator) || filepath.Ext(name) != ""
}

// inputOf reads the input that --input names: JSON text, @FILE, or - for stdin.
func inputOf(flag string, stdin io.Reader) (json.RawMessage, error) {
	text, from := []byte(flag), "--input"
	var err error
	switch {
	case flag == "":
		return json.RawMessage(`{}`), nil
	case flag == "-":
		from = "stdin"
		text, err = io.ReadAll(io.LimitReader(stdin, most))
	case flag[0] == '@':
		from = flag[1:]
		text, err = os.ReadFile(from)
	}
	if err != nil {
		return nil, misusedf("read the input: %w", err)
	}
	if !json.Valid(text) {
		return nil, misusedf("%s is not valid JSON", from)
	}
	return text, nil
}

// referenceOf parses a reference. The reference must name a version.
func referenceOf(text string) (registry.Reference, error) {
	ref, err := registry.ParseReference(text)
	if err != nil {
		return ref, misused{fmt.Errorf("%s: %s", text, sentence(err))}
	}
	if ref.Version == "" {
		return ref, misusedf("the reference must contain a version: %s@latest, %s@1.0.0, %s@^1 or %s@draft", text, text, text, text)
	}
	return ref, nil
}
