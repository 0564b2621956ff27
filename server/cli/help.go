package cli

import "context"

// helpCommand is in the grammar for the list of commands only. usual replaces it before the arguments are parsed.
type helpCommand struct {
	Command []string `arg:"" optional:"" help:"Command, for example: token create."`
}

func (*helpCommand) run(context.Context, Process) error { return nil }

// usual replaces the usual spellings of help and version by those of the parser.
func usual(args []string) []string {
	switch {
	case len(args) == 0:
		return []string{"--help"}
	case len(args) == 1 && args[0] == "--version":
		return []string{"version"}
	case args[0] == "help":
		return append(append([]string{}, args[1:]...), "--help")
	}
	return args
}
