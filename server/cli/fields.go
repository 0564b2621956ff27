package cli

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/alecthomas/kong"

	"github.com/atelier-run/atelier/internal/fault"
)

// fields maps the JSON fields of a command's requests to the flags and arguments that set them. By default, the field
// of a flag is the flag's name in camel case. The struct tag `field` sets another name.
type fields map[string]string

func fieldsOfCommand(command *kong.Node) fields {
	names := fields{}
	add := func(v *kong.Value, typed string) {
		name := camel(v.Name)
		if v.Tag.Has("field") {
			name = v.Tag.Get("field")
		}
		names[name] = typed
	}
	for _, arg := range command.Positional {
		add(arg, "<"+arg.Name+">")
	}
	for _, flag := range command.Flags {
		add(flag.Value, "--"+flag.Name)
	}
	return names
}

// camel converts the name of a flag to the name of a JSON field. For example, if-changed becomes ifChanged.
func camel(flag string) string {
	parts := strings.Split(flag, "-")
	for i, part := range parts {
		if i > 0 && part != "" {
			parts[i] = string(unicode.ToUpper(rune(part[0]))) + part[1:]
		}
	}
	return strings.Join(parts, "")
}

// These patterns match the forms in which the server's messages name a field: as in a body ("force": true), or as in a
// query (force=true, "query parameter state").
var (
	inBody    = regexp.MustCompile(`"([a-z][A-Za-z]*)": true`)
	inQuery   = regexp.MustCompile(`\b([a-z][A-Za-z]*)=true`)
	parameter = regexp.MustCompile(`query parameter ([a-z][A-Za-z]*)`)
)

// typed replaces the fields in the message of a fault by the flags that set them.
func (names fields) typed(err error) error {
	var refused *fault.Error
	if !errors.As(err, &refused) {
		return err
	}
	said := *refused
	said.Message = names.text(said.Message)
	said.Details = nil
	for _, d := range refused.Details {
		d.Message = names.text(d.Message)
		place := strings.TrimPrefix(strings.TrimPrefix(d.Pointer, "/"), "hints/") // Each hint has its own flag.
		first, rest, _ := strings.Cut(place, "/")
		if flag, ok := names[first]; ok && d.File == "" {
			d.Pointer = flag
			if index, err := strconv.Atoi(rest); err == nil {
				d.Pointer += " number " + strconv.Itoa(index+1)
			} else if rest != "" { // The pointer refers to a place in the document that the flag names.
				d.Pointer += " /" + rest
			}
		}
		said.Details = append(said.Details, d)
	}
	return &said
}

func (names fields) text(message string) string {
	for _, form := range []*regexp.Regexp{inBody, inQuery, parameter} {
		message = form.ReplaceAllStringFunc(message, func(found string) string {
			if flag, ok := names[form.FindStringSubmatch(found)[1]]; ok {
				return flag
			}
			return found
		})
	}
	return message
}
