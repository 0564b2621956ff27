package cli

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/atelier-run/atelier/registry"
)

type completionCommand struct {
	Shell string `arg:"" help:"Shell: ${enum}." enum:"bash,zsh,fish"`
}

// Help returns the text above the flags.
func (*completionCommand) Help() string {
	return "bash: put `source <(atelier completion bash)` into ~/.bashrc. zsh: `source <(atelier completion zsh)` after compinit. " +
		"fish: `atelier completion fish > ~/.config/fish/completions/atelier.fish`. Names of agents are completed if the server answers within a second."
}

func (c *completionCommand) run(_ context.Context, p Process) error {
	_, err := fmt.Fprint(p.Stdout, completions[c.Shell])
	return err
}

// completeWord is the first argument with which a completion script calls this program. The other arguments are the
// words of the command line up to the cursor.
const completeWord = "__complete"

// completions contains the completion script of each shell. The scripts treat the output as plain text and never
// evaluate it, because the output contains names from a server.
var completions = map[string]string{
	"bash": `_atelier() {
  mapfile -t COMPREPLY < <(atelier ` + completeWord + ` "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _atelier atelier
`,
	"zsh": `#compdef atelier
_atelier() {
  local -a found
  found=("${(@f)$(atelier ` + completeWord + ` "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "${found[1]}" ]]; then compadd -- "${found[@]}"; else _files; fi
}
if [[ "${funcstack[1]}" == _atelier ]]; then _atelier "$@"; else compdef _atelier atelier; fi
`,
	"fish": `function __atelier_complete
  set -l typed (commandline -opc)
  set -e typed[1]
  set -l current (commandline -ct)
  atelier ` + completeWord + ` $typed "$current" 2>/dev/null
end
complete -c atelier -a '(__atelier_complete)'
`,
}

// complete prints the possible words at the cursor, one per line. If it prints nothing, the shell completes file names
// instead.
func (p Process) complete(ctx context.Context, words []string) int {
	if len(words) == 0 {
		words = []string{""}
	}
	typed, current := words[:len(words)-1], words[len(words)-1]
	node, position, value := cursor(p.grammar.Node, typed)
	var offered []string
	switch {
	case value != nil:
		offered = p.valuesOf(ctx, value)
	case strings.HasPrefix(current, "-"):
		for _, flag := range infoOf(node).Flags {
			offered = append(offered, "--"+flag.Name)
		}
	case len(node.Children) > 0 && position == 0:
		for _, child := range node.Children {
			if !child.Hidden {
				offered = append(offered, child.Name)
			}
		}
	case len(node.Positional) > 0:
		offered = p.valuesOf(ctx, node.Positional[min(position, len(node.Positional)-1)])
	}
	for _, one := range offered {
		if strings.HasPrefix(one, current) {
			_, _ = fmt.Fprintln(p.Stdout, one)
		}
	}
	return fine
}

// cursor returns the command at the end of the typed words and the number of its arguments so far. If the cursor is at
// the value of a flag, it also returns the flag.
func cursor(node *kong.Node, typed []string) (at *kong.Node, position int, value *kong.Value) {
	for _, word := range typed {
		if value != nil {
			value = nil
			continue
		}
		if strings.HasPrefix(word, "-") && word != "-" {
			value = waiting(node, word)
			continue
		}
		i := slices.IndexFunc(node.Children, func(child *kong.Node) bool { return child.Name == word })
		if i < 0 {
			position++
			continue
		}
		node, position = node.Children[i], 0
	}
	return node, position, value
}

// waiting returns the flag that a word names if the next word must be the flag's value. Otherwise it returns nil.
func waiting(node *kong.Node, word string) *kong.Value {
	for _, flag := range slices.Concat(node.AllFlags(true)...) {
		is := word == "--"+flag.Name || flag.Short != 0 && word == "-"+string(flag.Short)
		if is && flag.Target.Type().String() != "bool" && flag.Target.Type() != reflect.TypeFor[*bool]() {
			return flag.Value
		}
	}
	return nil
}

// valuesOf returns the possible values of a flag or an argument: the values of an enumeration, or the names of agents.
func (p Process) valuesOf(ctx context.Context, v *kong.Value) []string {
	switch {
	case v.Enum != "":
		return v.EnumSlice()
	case v.Name == "profile", v.Flag == nil && strings.HasPrefix(v.Help, "Name of the profile"):
		all, err := p.profiles()
		if err != nil {
			return nil
		}
		return slices.Sorted(maps.Keys(all.Named))
	case v.Name == "agent" || v.Name == "reference" || v.Name == "target":
		return p.agentNames(ctx)
	}
	return nil
}

// completesWithin is the maximum time to wait for a server when a word is completed.
const completesWithin = time.Second

// agentNames lists agents of the server that a command without flags would use. It never opens a database.
func (p Process) agentNames(ctx context.Context) []string {
	ctx, cancel := context.WithTimeout(ctx, completesWithin)
	defer cancel()
	chosen, err := remote{}.destination(p, "")
	if err != nil {
		return nil
	}
	server := &client{base: chosen.server, token: chosen.token, workspace: chosen.workspace, version: p.Version, http: newHTTP(nil)}
	if chosen.server == "" {
		settings, err := p.load(nil, "")
		if err != nil {
			return nil
		}
		if server = answering(ctx, p, settings); server == nil {
			return nil
		}
	}
	var found page[struct{ Name string }]
	if server.call(ctx, http.MethodGet, "/api/v1/code-agents?limit=200", nil, &found) != nil {
		return nil
	}
	var names []string
	for _, one := range found.Items {
		if registry.CheckName(one.Name) == nil { // Skip invalid names, because a terminal displays the names.
			names = append(names, one.Name)
		}
	}
	return names
}
