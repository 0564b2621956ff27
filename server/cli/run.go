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
	Target string   `arg:"" help:"A file (main.ts), a folder with agent.yaml, or a reference (weather@1.0.0)." placeholder:"FILE|DIR|REF"`
	Input  string   `help:"The input as JSON, @FILE, or - for stdin; {} without it." placeholder:"JSON|@FILE|-"`
	Allow  []string `help:"A host that the program of a file or folder may reach, beside those of agent.yaml; may be given several times." placeholder:"HOST:PORT"`
	Quiet  bool     `short:"q" help:"Print nothing but the output; errors are still told."`
	seen
	remote
}

// Help is shown above the flags.
func (*runCommand) Help() string {
	return "The output is printed as JSON on stdout, alone; what the program prints and logs goes to stderr. Exit 0 when the " +
		"program succeeded, 1 when it did not.\n\nFiles and folders run in the sandbox of this machine, without a server: one jail is set up as a trial, " +
		"and what a server examines at its start is left to atelier doctor. " +
		"A reference runs on the server that --server names, else on the one of the data directory, else here on its database."
}

func (c *runCommand) run(ctx context.Context, p Process) error {
	input, err := inputOf(c.Input, p.Stdin)
	if err != nil {
		return err
	}
	console := newConsole(p, c.Quiet)
	info, err := os.Stat(c.Target)
	switch {
	case err == nil && c.Revision != 0:
		return misusedf("--revision is for the draft of a reference; %s is a file or folder", c.Target)
	case err == nil && info.IsDir():
		return c.runFiles(ctx, p, console, folderAt(c.Target), input)
	case err == nil:
		return c.runFiles(ctx, p, console, fileAt(c.Target), input)
	case looksLikePath(c.Target):
		return misusedf("there is no file or folder %s", c.Target)
	case len(c.Allow) > 0:
		return misusedf("--allow is for files and folders; a version has the hosts that it was published with")
	}
	return c.runReference(ctx, p, console, input)
}

// looksLikePath tells a mistyped path from a reference, which has neither slashes nor a suffix before its @.
func looksLikePath(target string) bool {
	name, _, _ := strings.Cut(target, "@")
	return strings.ContainsRune(name, filepath.Separator) || filepath.Ext(name) != ""
}

// inputOf reads --input in any of its three forms.
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
		return nil, misusedf("%s is not JSON", from)
	}
	return text, nil
}

// referenceOf parses a reference that must name a version.
func referenceOf(text string) (registry.Reference, error) {
	ref, err := registry.ParseReference(text)
	if err != nil {
		return ref, misused{fmt.Errorf("%s: %s", text, sentence(err))}
	}
	if ref.Version == "" {
		return ref, misusedf("name the version: %s@latest, %s@1.0.0, %s@^1 or %s@draft", text, text, text, text)
	}
	return ref, nil
}
