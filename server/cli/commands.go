package cli

import (
	"reflect"
	"strings"

	"github.com/alecthomas/kong"
)

// commandInfo describes a command. Help, man pages and completions are made from the same grammar.
type commandInfo struct {
	Command     string     `json:"command"`
	Help        string     `json:"help"`
	Description string     `json:"description"`
	Arguments   []typeable `json:"arguments"`
	Flags       []typeable `json:"flags"`
}

// typeable describes a flag or an argument that the user can type.
type typeable struct {
	Name        string   `json:"name"`
	Short       string   `json:"short"`
	Help        string   `json:"help"`
	Placeholder string   `json:"placeholder"`
	Default     string   `json:"default"`
	Values      []string `json:"values"` // all allowed values; empty if any value is allowed
	Switch      bool     `json:"switch"` // whether the flag has no value
	Required    bool     `json:"required"`
	Repeatable  bool     `json:"repeatable"`
}

// commandsOf lists all commands that can be run. It omits groups such as `token`, because they only contain commands.
func commandsOf(app *kong.Application) []commandInfo {
	var all []commandInfo
	for _, leaf := range app.Leaves(true) {
		all = append(all, infoOf(leaf))
	}
	return all
}

func infoOf(node *kong.Node) commandInfo {
	info := commandInfo{Command: node.Path(), Help: node.Help, Description: node.Detail, Arguments: []typeable{}, Flags: []typeable{}}
	for _, arg := range node.Positional {
		one := typeableOf(arg)
		one.Placeholder = arg.Tag.PlaceHolder
		info.Arguments = append(info.Arguments, one)
	}
	for _, group := range node.AllFlags(true) {
		for _, flag := range group {
			one := typeableOf(flag.Value)
			if flag.Short != 0 {
				one.Short = string(flag.Short)
			}
			if !one.Switch {
				one.Placeholder = flag.FormatPlaceHolder()
			}
			info.Flags = append(info.Flags, one)
		}
	}
	return info
}

func typeableOf(v *kong.Value) typeable {
	one := typeable{Name: v.Name, Help: v.Help, Default: v.Default, Values: []string{}, Required: v.Required, Repeatable: v.IsCumulative()}
	if v.Enum != "" {
		one.Values = v.EnumSlice()
	}
	target := v.Target.Type()
	if target.Kind() == reflect.Pointer {
		target = target.Elem()
	}
	one.Switch = v.Flag != nil && target.Kind() == reflect.Bool
	return one
}

// below returns the commands that begin with the given words.
func below(all []commandInfo, words []string) []commandInfo {
	found := []commandInfo{}
	prefix := strings.Join(words, " ")
	for _, one := range all {
		if prefix == "" || one.Command == prefix || strings.HasPrefix(one.Command, prefix+" ") {
			found = append(found, one)
		}
	}
	return found
}
