package manifest

import (
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/atelier-run/atelier/registry"
)

// openAITool is a function tool of the chat completions API.
type openAITool struct {
	Type     string         `json:"type"`
	Function openAIFunction `json:"function"`
}

type openAIFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"`
}

// openAI exports a function tool. Strict mode takes only a part of JSON Schema: where the input schema is beyond it the
// tool is exported without, and the reasons are told. No keyword is dropped in silence.
func openAI(v registry.Version) (Result, error) {
	parameters, warnings, err := objectRoot(v.InputSchema)
	if err != nil {
		return Result{}, err
	}
	reasons := strictReasons(parameters)
	for _, reason := range reasons {
		warnings = append(warnings, "Not strict: "+reason)
	}
	return encode(openAITool{Type: "function", Function: openAIFunction{
		Name: v.Agent, Description: describe(v), Parameters: parameters, Strict: len(reasons) == 0,
	}}, warnings)
}

// objectRoot makes sure that the root says "object", which every tool format asks for.
func objectRoot(schema json.RawMessage) (json.RawMessage, []string, error) {
	schema = document(schema)
	var root map[string]json.RawMessage
	if err := json.Unmarshal(schema, &root); err != nil {
		return json.RawMessage(`{"type":"object","properties":{}}`), []string{"The input schema is not an object; the tool takes any object."}, nil
	}
	if string(root["type"]) == `"object"` {
		if _, ok := root["properties"]; ok || len(root) > 1 {
			return schema, nil, nil
		}
		return json.RawMessage(`{"type":"object","properties":{}}`), nil, nil
	}
	if _, typed := root["type"]; typed {
		return nil, nil, notAnObject()
	}
	// The order of the other members matters to people and forms: put the type before them.
	rest := strings.TrimSpace(string(schema))[1:]
	separator := ","
	if strings.TrimSpace(rest) == "}" {
		separator, rest = `,"properties":{}`, "}"
	}
	return json.RawMessage(`{"type":"object"` + separator + rest), nil, nil
}

// strictReasons says why a schema is beyond OpenAI's strict mode; none means that it fits.
func strictReasons(schema json.RawMessage) []string {
	var root any
	if json.Unmarshal(schema, &root) != nil {
		return []string{"the schema is not JSON."}
	}
	s := &strictness{}
	s.visit(root, "#", 1)
	if s.properties > 5000 {
		s.say("#", "has more than 5,000 properties")
	}
	if m, ok := root.(map[string]any); ok && m["anyOf"] != nil {
		s.say("#", "has anyOf at the root")
	}
	sort.Strings(s.reasons)
	return slices.Compact(s.reasons)
}

type strictness struct {
	reasons    []string
	properties int
}

func (s *strictness) say(at, what string) {
	if len(s.reasons) < 20 {
		s.reasons = append(s.reasons, fmt.Sprintf("%s %s.", at, what))
	}
}

// visit looks at one schema. at is its place, depth its nesting from 1.
func (s *strictness) visit(schema any, at string, depth int) {
	node, ok := schema.(map[string]any)
	if !ok {
		s.say(at, "is not an object schema")
		return
	}
	if depth > 10 {
		s.say(at, "is nested more than 10 levels deep")
		return
	}
	known := []string{
		"type", "title", "description", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "$ref", "$defs",
		"pattern", "format", "multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems", "$schema", "$id",
	}
	for keyword := range node {
		if !slices.Contains(known, keyword) {
			s.say(at, "uses "+keyword)
		}
	}
	s.object(node, at, depth)
	if items, ok := node["items"]; ok {
		s.visit(items, at+"/items", depth+1)
	}
	if options, ok := node["anyOf"].([]any); ok {
		for i, option := range options {
			s.visit(option, fmt.Sprintf("%s/anyOf/%d", at, i), depth+1)
		}
	}
	if definitions, ok := node["$defs"].(map[string]any); ok {
		for name, definition := range definitions {
			s.visit(definition, at+"/$defs/"+name, depth+1)
		}
	}
}

func (s *strictness) object(node map[string]any, at string, depth int) {
	properties, _ := node["properties"].(map[string]any)
	if node["type"] != "object" && properties == nil {
		return
	}
	if extra, ok := node["additionalProperties"].(bool); !ok || extra {
		s.say(at, "does not say additionalProperties: false")
	}
	required, _ := node["required"].([]any)
	for name, property := range properties {
		s.properties++
		if !slices.Contains(required, any(name)) {
			s.say(at, "has an optional property "+name)
		}
		s.visit(property, at+"/properties/"+name, depth+1)
	}
}
