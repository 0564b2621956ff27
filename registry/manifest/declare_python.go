package manifest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/atelier-run/atelier/registry"
)

// Python declares tools as a stub of the module "agents" of a Python program.
func Python(tools []Tool) string {
	w := pythonWriter{used: map[string]bool{}}
	var functions strings.Builder
	for _, tool := range tools {
		name := tool.Function(reservedPython)
		w.prefix = camel(name)
		fmt.Fprintf(&functions, "def %s(%s) -> %s:\n    \"\"\"%s\"\"\"\n", name, w.parameters(shapeOf(tool.Input)), w.kind(shapeOf(tool.Output), "Output"), tool.summary())
	}
	head := "from typing import Any, Literal, NotRequired, TypedDict\n"
	return head + w.classes.String() + functions.String()
}

// pythonWriter writes Python declarations. It writes a named class for each object type, because Python has no
// anonymous object types.
type pythonWriter struct {
	prefix  string
	used    map[string]bool
	classes strings.Builder
}

// parameters returns the parameters of a function: one keyword parameter for each property of the input. If the name of
// a property is not a valid parameter name, the function has a single dictionary as parameter.
func (w *pythonWriter) parameters(input shape) string {
	plain := func(f shapeField) bool {
		return identifier.MatchString(f.name) && !slices.Contains(reservedPython, f.name)
	}
	switch {
	case input.kind != "object":
		return "input: dict[str, Any] = ..., /"
	case len(input.fields) == 0:
		return "**properties: " + w.kind(rest(input), "Property")
	case !slices.ContainsFunc(input.fields, func(f shapeField) bool { return !plain(f) }):
		parameters := []string{"*"}
		for _, f := range input.fields {
			parameter := f.name + ": " + w.kind(f.shape, camel(f.name))
			if !f.required {
				parameter += " = ..."
			}
			parameters = append(parameters, parameter)
		}
		return strings.Join(parameters, ", ")
	}
	return "input: " + w.kind(input, "Input") + ", /"
}

func rest(object shape) shape {
	if object.items == nil {
		return anyShape
	}
	return *object.items
}

func (w *pythonWriter) kind(s shape, name string) string {
	switch s.kind {
	case "null":
		return "None"
	case "boolean":
		return "bool"
	case "number":
		return "float"
	case "integer":
		return "int"
	case "string":
		return "str"
	case "literal":
		return pythonLiteral(s.literal)
	case "array":
		return "list[" + w.kind(*s.items, name+"Item") + "]"
	case "union":
		options := make([]string, len(s.options))
		for i, option := range s.options {
			options[i] = w.kind(option, name)
		}
		return strings.Join(options, " | ")
	case "object":
		if len(s.fields) == 0 {
			return "dict[str, " + w.kind(rest(s), name+"Value") + "]"
		}
		return w.class(s, name)
	}
	return "Any"
}

// pythonLiteral returns the Python type of a JSON scalar. Literal does not support numbers with a fraction.
func pythonLiteral(text string) string {
	switch {
	case text == "true":
		return "Literal[True]"
	case text == "false":
		return "Literal[False]"
	case text[0] != '"' && strings.ContainsAny(text, ".eE"):
		return "float"
	}
	return "Literal[" + text + "]"
}

func (w *pythonWriter) class(s shape, name string) string {
	name = w.prefix + name
	for w.used[name] {
		name += "_"
	}
	w.used[name] = true
	fields := make([]string, len(s.fields))
	for i, f := range s.fields {
		kind := w.kind(f.shape, strings.TrimPrefix(name, w.prefix)+camel(f.name))
		if !f.required {
			kind = "NotRequired[" + kind + "]"
		}
		fields[i] = quotedUnless(false, f.name) + ": " + kind
	}
	fmt.Fprintf(&w.classes, "%s = TypedDict(%s, {%s})\n", name, quotedUnless(false, name), strings.Join(fields, ", "))
	return name
}

// camel returns a name in CamelCase, for the name of a class.
func camel(name string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(registry.NameKey(name), "_") {
		if !identifier.MatchString("_" + part) {
			continue
		}
		if part != "" {
			b.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return b.String()
}
