package cli

import (
	"context"
	"slices"
)

// helpCommand prints a description of the commands as JSON. `help` without --json does not reach this command, because
// usual replaces it by --help before the arguments are parsed.
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

// usual replaces common ways to request the help and the version by the flags of the parser. Examples are `help` and an
// empty command line.
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
