package manifest

import (
	"encoding/json"
	"strings"

	"github.com/atelier-run/atelier/internal/jcs"
)

// geminiTool is a tool of generateContent. It uses the members parametersJsonSchema and responseJsonSchema, which
// accept JSON Schema. The older members accept only a subset of OpenAPI 3.0, which has no references, constants and
// additionalProperties.
type geminiTool struct {
	FunctionDeclarations []geminiFunction `json:"functionDeclarations"`
}

type geminiFunction struct {
	Name                 string          `json:"name"`
	Description          string          `json:"description"`
	ParametersJSONSchema members         `json:"parametersJsonSchema"`
	ResponseJSONSchema   json.RawMessage `json:"responseJsonSchema,omitempty"`
}

func gemini(m Manifest) (Result, error) {
	o, err := offered(m)
	if err != nil {
		return Result{}, err
	}
	warnings := append(o.warnings, prefixed("Gemini may ignore parts of the input schema: ", geminiReasons(o.root))...)
	function := geminiFunction{Name: m.Name, Description: o.description, ParametersJSONSchema: o.schema}
	if output := string(m.OutputSchema); output != "{}" && output != "true" {
		root, err := decoded(m.OutputSchema)
		if err != nil {
			return Result{}, err
		}
		warnings = append(warnings, prefixed("Gemini may ignore parts of the output schema: ", geminiReasons(root))...)
		function.ResponseJSONSchema = m.OutputSchema
	}
	return result(geminiTool{FunctionDeclarations: []geminiFunction{function}}, warnings)
}

// geminiReasons lists the keywords of a JSON Schema that Gemini ignores without an error. The server still validates
// the input when the tool is called.
func geminiReasons(root any) []string {
	var why reasons
	eachObject(root, &why, func(object map[string]any, pointer string) {
		for _, keyword := range sorted(object) {
			if !geminiKnows(keyword) {
				why.add(pointer+"/"+jcs.EscapePointer(keyword), "is not supported")
			}
			if _, isReference := object["$ref"]; isReference && !strings.HasPrefix(keyword, "$") {
				why.add(pointer, "$ref has the sibling "+keyword)
			}
		}
		if _, ok := object["oneOf"]; ok {
			why.add(pointer+"/oneOf", "is treated as anyOf")
		}
		values, _ := object["enum"].([]any)
		for _, value := range values {
			if _, text := value.(string); !text && !isNumber(value) {
				why.add(pointer+"/enum", "must contain only strings and numbers")
				break
			}
		}
	})
	if object, ok := root.(map[string]any); ok && recursive(object) {
		why.add("", "the schema is recursive; only a few levels are unrolled")
	}
	return why
}

func geminiKnows(keyword string) bool {
	switch keyword {
	case "$id", "$defs", "$ref", "$anchor", "$schema", "type", "format", "title", "description", "enum", "items", "prefixItems", "minItems", "maxItems",
		"minimum", "maximum", "anyOf", "oneOf", "properties", "additionalProperties", "required", "propertyOrdering":
		return true
	}
	return false
}

func isNumber(value any) bool {
	_, ok := value.(json.Number)
	return ok
}
