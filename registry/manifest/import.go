package manifest

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/jcs"
)

// Foreign is a tool that was read from a definition in another product's format. The fields that end in At are JSON
// pointers to the parts of the definition.
type Foreign struct {
	Form          string // format of the definition, such as openai or mcp
	Name          string // name of the tool in the definition
	Title         string
	Description   string
	Input, Output json.RawMessage
	SafetyFlags   []string
	NameAt        string
	DescriptionAt string
	InputAt       string
	OutputAt      string
}

// maxForeignDepth is the maximum nesting of the JSON of a definition.
const maxForeignDepth = 128

// ReadTool reads the definition of a tool. It accepts a function of OpenAI (Chat Completions or Responses API), a tool
// of Anthropic or MCP, and a tool of LangChain with its schema. It also accepts a JSON Schema with a title. Error:
// InvalidInput, with a pointer that starts with at.
func ReadTool(definition json.RawMessage, at string) (Foreign, error) {
	if jcs.Check(definition, jcs.Limits{Depth: maxForeignDepth, Bytes: 1 << 20}) != nil {
		return Foreign{}, fault.Invalid(at, "must be JSON of at most 1 MiB, nested at most %d levels.", maxForeignDepth)
	}
	if strings.HasPrefix(strings.TrimSpace(string(definition)), "[") {
		return Foreign{}, fault.Invalid(at, "must be one tool. Import the tools of a list one by one.")
	}
	all, err := readMembers(definition)
	if err != nil || all == nil {
		return Foreign{}, fault.Invalid(at, "must be a JSON object that defines a tool.")
	}
	switch {
	case isText(all.get("type"), "function") && all.get("function") != nil:
		return read(all.get("function"), "openai", at+"/function", "parameters")
	case isText(all.get("type"), "function"):
		return read(definition, "openai", at, "parameters")
	case all.get("inputSchema") != nil:
		return read(definition, "mcp", at, "inputSchema")
	case all.get("input_schema") != nil:
		return read(definition, "anthropic", at, "input_schema")
	case all.get("name") == nil && all.get("title") != nil && all.get("properties") != nil:
		return readTitled(definition, at)
	}
	for _, member := range []string{"schema", "args_schema", "parameters", "args"} {
		if all.get(member) != nil {
			return read(definition, "langchain", at, member)
		}
	}
	return Foreign{}, fault.Invalid(at, "must be a tool of LangChain, OpenAI, Anthropic or MCP: an object with a name and with schema, parameters, input_schema or inputSchema.")
}

// read reads a definition. schema is the name of the member that contains the input schema.
func read(definition json.RawMessage, form, at, schema string) (Foreign, error) {
	all, err := readMembers(definition)
	if err != nil || all == nil {
		return Foreign{}, fault.Invalid(at, "must be a JSON object.")
	}
	tool := Foreign{Form: form, NameAt: at + "/name", DescriptionAt: at + "/description", InputAt: at + "/" + schema, OutputAt: at + "/outputSchema"}
	for _, text := range []struct {
		member string
		into   *string
	}{{"name", &tool.Name}, {"title", &tool.Title}, {"description", &tool.Description}} {
		raw := all.get(text.member)
		if len(raw) == 0 || string(raw) == "null" {
			continue
		}
		if json.Unmarshal(raw, text.into) != nil {
			return Foreign{}, fault.Invalid(at+"/"+text.member, "must be a string.")
		}
	}
	if tool.Name == "" {
		return Foreign{}, fault.Invalid(tool.NameAt, "is required.")
	}
	if tool.Input, err = schemaIn(all, schema, tool.InputAt); err != nil {
		return Foreign{}, err
	}
	if len(tool.Input) == 0 { // the function has no arguments
		tool.Input = json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)
	}
	if tool.Output, err = schemaIn(all, "outputSchema", tool.OutputAt); err != nil {
		return Foreign{}, err
	}
	if hints := all.get("annotations"); form == "mcp" && hints != nil {
		if tool.SafetyFlags, err = flagsOf(hints, at+"/annotations"); err != nil {
			return Foreign{}, err
		}
	}
	if schema == "args" { // the member args of LangChain's BaseTool contains only the properties of the schema
		tool.Input = json.RawMessage(`{"type":"object","properties":` + string(tool.Input) + `}`)
	}
	return tool, nil
}

// readTitled reads a JSON Schema whose title is the name of the tool. Pydantic writes such schemas.
func readTitled(definition json.RawMessage, at string) (Foreign, error) {
	tool := Foreign{Form: "langchain", Input: definition, NameAt: at + "/title", DescriptionAt: at + "/description", InputAt: at}
	var about struct{ Title, Description string }
	if json.Unmarshal(definition, &about) != nil || about.Title == "" {
		return Foreign{}, fault.Invalid(tool.NameAt, "and description must be strings.")
	}
	tool.Name, tool.Description = about.Title, about.Description
	return tool, nil
}

// schemaIn returns the schema in a member, or nil if the member does not exist.
func schemaIn(all members, name, at string) (json.RawMessage, error) {
	schema := all.get(name)
	switch text := strings.TrimSpace(string(schema)); {
	case text == "" || text == "null":
		return nil, nil
	case text[0] != '{':
		return nil, fault.Invalid(at, "must be a JSON Schema, which is an object.")
	}
	return schema, nil
}

// flagsOf returns the safety flags that correspond to annotations of MCP. Absent annotations add no flag.
func flagsOf(annotations json.RawMessage, at string) ([]string, error) {
	var hints struct {
		ReadOnly    *bool `json:"readOnlyHint"`
		Destructive *bool `json:"destructiveHint"`
		OpenWorld   *bool `json:"openWorldHint"`
	}
	if json.Unmarshal(annotations, &hints) != nil {
		return nil, fault.Invalid(at, "must be an object with true or false for readOnlyHint, destructiveHint and openWorldHint.")
	}
	var flags []string
	if is(hints.Destructive) || hints.ReadOnly != nil && !*hints.ReadOnly {
		flags = append(flags, "side_effect")
	}
	if is(hints.OpenWorld) {
		flags = append(flags, "external_call")
	}
	return flags, nil
}

func is(value *bool) bool { return value != nil && *value }

func isText(raw json.RawMessage, text string) bool {
	var value string
	return json.Unmarshal(raw, &value) == nil && value == text
}

var (
	hump    = regexp.MustCompile(`([a-z0-9])([A-Z])`)
	foreign = regexp.MustCompile(`[^a-z0-9_-]+`)
)

// AgentName converts the name of a tool to a valid agent name: getWeather becomes get-weather. It returns "" if the
// name contains no usable characters.
func AgentName(tool string) string {
	name := foreign.ReplaceAllString(strings.ToLower(hump.ReplaceAllString(tool, "$1-$2")), "-")
	name = strings.TrimLeft(name, "-_0123456789")
	return strings.TrimRight(name[:min(len(name), 63)], "-_")
}
