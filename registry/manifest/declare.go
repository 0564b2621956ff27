package manifest

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/atelier-run/atelier/registry"
)

const (
	maxNote    = 120 // maximum length of a property's description in a declaration, in characters
	maxSummary = 300 // maximum length of a tool's description, in characters
)

// Tool is a version that programs call as a function of the module "agents".
type Tool struct {
	Name        string // name of the agent; the function's name has _ instead of -
	Version     string
	Title       string
	Description string
	Input       json.RawMessage
	Output      json.RawMessage
}

// ToolOf returns the tool of a version.
func ToolOf(v registry.Version) Tool {
	name := v.Agent
	if v.CurrentName != "" { // a reference is resolved by the current name of the agent
		name = v.CurrentName
	}
	return Tool{Name: name, Version: v.Version, Title: v.Title, Description: v.Description, Input: document(v.InputSchema), Output: document(v.OutputSchema)}
}

// Reference returns "name@1.2.0".
func (t Tool) Reference() string { return t.Name + "@" + t.Version }

// Function returns the name of the tool's function. If the language reserves this name, Function appends _.
func (t Tool) Function(reserved []string) string {
	name := registry.NameKey(t.Name)
	if slices.Contains(reserved, name) {
		name += "_"
	}
	return name
}

// summary describes a tool in one line, for the comment of its declaration.
func (t Tool) summary() string {
	text := t.Description
	if text == "" {
		text = t.Title
	}
	text = oneLine(text, maxSummary)
	if text != "" {
		text += " "
	}
	return text + "(" + t.Reference() + ")"
}

// oneLine returns a text in one line of at most limit characters, without control characters. It changes character
// sequences that end a comment. So a description cannot add code or declarations to the program.
func oneLine(text string, limit int) string {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }), " ")
	if runes := []rune(text); len(runes) > limit {
		text = string(runes[:limit-1]) + "…"
	}
	return strings.NewReplacer("*/", "* /", `"""`, "'''", `\`, "/").Replace(text)
}

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// TypeScript declares tools as the module "agents" of a TypeScript program.
func TypeScript(tools []Tool) string {
	var b strings.Builder
	for _, tool := range tools {
		input := shapeOf(tool.Input)
		mark := ""
		if input.kind == "any" {
			input = shape{kind: "object"}
		}
		if !slices.ContainsFunc(input.fields, func(f shapeField) bool { return f.required }) {
			mark = "?"
		}
		b.WriteString("/** " + tool.summary() + " */\n")
		b.WriteString("export function " + tool.Function(reservedTypeScript) + "(input" + mark + ": ")
		writeTypeScript(&b, input)
		b.WriteString("): Promise<")
		writeTypeScript(&b, shapeOf(tool.Output))
		b.WriteString(">;\n")
	}
	return b.String()
}

func writeTypeScript(b *strings.Builder, s shape) {
	switch s.kind {
	case "null", "boolean", "number", "string":
		b.WriteString(s.kind)
	case "integer":
		b.WriteString("number")
	case "literal":
		b.WriteString(s.literal)
	case "array":
		b.WriteString("Array<")
		writeTypeScript(b, *s.items)
		b.WriteString(">")
	case "union":
		for i, option := range s.options {
			if i > 0 {
				b.WriteString(" | ")
			}
			writeTypeScript(b, option)
		}
	case "object":
		writeTypeScriptObject(b, s)
	default:
		b.WriteString("any")
	}
}

func writeTypeScriptObject(b *strings.Builder, s shape) {
	if len(s.fields) == 0 {
		b.WriteString("Record<string, ")
		if s.items == nil {
			b.WriteString("any")
		} else {
			writeTypeScript(b, *s.items)
		}
		b.WriteString(">")
		return
	}
	b.WriteString("{ ")
	for i, field := range s.fields {
		if i > 0 {
			b.WriteString("; ")
		}
		if field.note != "" {
			b.WriteString("/** " + field.note + " */ ")
		}
		b.WriteString(quotedUnless(identifier.MatchString(field.name), field.name))
		if !field.required {
			b.WriteString("?")
		}
		b.WriteString(": ")
		writeTypeScript(b, field.shape)
	}
	b.WriteString(" }")
}

func quotedUnless(plain bool, name string) string {
	if plain {
		return name
	}
	quoted, err := encode(name)
	if err != nil {
		return `""` // never fails, because a string can always be encoded
	}
	return string(quoted)
}

// reservedTypeScript lists the words that TypeScript does not allow as the name of a function in a module.
var reservedTypeScript = strings.Fields("arguments await break case catch class const continue debugger default delete do else enum eval export " +
	"extends false finally for function if implements import in instanceof interface let new null package private protected public return static " +
	"super switch this throw true try typeof var void while with yield")

// reservedPython lists the words that Python does not allow as the name of a function or a parameter.
var reservedPython = strings.Fields("False None True and as assert async await break class continue def del elif else except finally for from " +
	"global if import in is lambda nonlocal not or pass raise return try while with yield")
