package cli

import (
	"context"
	"slices"
)

// helpCommand prints the grammar with --json. Without --json, usual replaces it before the arguments are parsed.
type helpCommand struct {
	Command []string `arg:"" optional:"" help:"Command, for example: token create."`
	printed
}

func (c *helpCommand) run(_ context.Context, p Process) error {
	found := below(commandsOf(p.grammar), c.Command)
	if len(found) == 0 {
		return misusedf("no command named %q; `atelier help` lists all commands", c.Command)
	}
	return p.encode(found)
}

// usual replaces the usual spellings of help and version by those of the parser.
func usual(args []string) []string {
	switch {
	case len(args) == 0:
		return []string{"--help"}
	case len(args) == 1 && args[0] == "--version":
		return []string{"version"}
	case args[0] == "help" && !slices.Contains(args, "--json"):
		return append(append([]string{}, args[1:]...), "--help")
	}
	return args
}
