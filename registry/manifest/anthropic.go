package manifest

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/atelier-run/atelier/internal/jcs"
)

// anthropicTool is a tool of the Messages API.
type anthropicTool struct {
	Name        string  `json:"name"`
	Description string  `json:"description"`
	InputSchema members `json:"input_schema"`
	Strict      bool    `json:"strict,omitempty"` // omitted if false, because older APIs reject unknown members
}

// anthropic exports a tool for Anthropic. It sets strict only if strict tool use supports every construct of the
// schema. Otherwise it omits strict, and the warnings give the reasons. It never changes the schema.
func anthropic(m Manifest) (Result, error) {
	o, err := offered(m)
	if err != nil {
		return Result{}, err
	}
	why := anthropicStrict(o.root)
	warnings := append(o.warnings, prefixed("strict is omitted: ", why)...)
	warnings = append(warnings, anthropicRefusals(o.root)...)
	return result(anthropicTool{Name: m.Name, Description: o.description, InputSchema: o.schema, Strict: len(why) == 0}, warnings)
}

var anthropicKey = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)

// anthropicRefusals lists constructs that the API rejects, even without strict.
func anthropicRefusals(root map[string]any) []string {
	var refusals reasons
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		if _, ok := root[keyword]; ok {
			refusals.add("", "Anthropic refuses tools whose input_schema has "+keyword+" at the root; the root must describe one object.")
		}
	}
	properties, _ := root["properties"].(map[string]any)
	for _, name := range sorted(properties) {
		if !anthropicKey.MatchString(name) {
			refusals.add("", "Anthropic refuses properties whose names are not 1 to 64 of a-z, A-Z, 0-9, _, . and -: "+name)
		}
	}
	return refusals
}

// These constants are the limits of strict tool use. They apply to all strict tools of a request together. A tool that
// exceeds a limit alone gets a warning.
const (
	maxAnthropicOptional = 24
	maxAnthropicUnions   = 16
)

// anthropicStrict returns the reasons why strict tool use would reject a schema. Like strictReasons, it reports a
// reason when in doubt.
func anthropicStrict(root map[string]any) []string {
	var why reasons
	optional, unions := 0, 0
	eachObject(root, &why, func(object map[string]any, pointer string) {
		for _, keyword := range sorted(object) {
			anthropicKeyword(object, keyword, pointer+"/"+jcs.EscapePointer(keyword), &why)
		}
		anthropicShape(object, pointer, &why)
		properties, _ := object["properties"].(map[string]any)
		required, _ := object["required"].([]any)
		optional += max(0, len(properties)-len(required))
		if _, ok := object["anyOf"]; ok || len(typesOf(object["type"])) > 1 {
			unions++
		}
	})
	if recursive(root) {
		why.add("", "the schema refers to itself")
	}
	if optional > maxAnthropicOptional {
		why.add("", "the schema has more than 24 optional properties")
	}
	if unions > maxAnthropicUnions {
		why.add("", "the schema has more than 16 properties of several types")
	}
	return why
}

func anthropicKeyword(object map[string]any, keyword, at string, why *reasons) {
	switch keyword {
	case "type", "title", "description", "properties", "required", "items", "anyOf", "$defs", "definitions", "default", "additionalProperties", "$schema":
	case "const":
		if !primitive(object[keyword]) {
			why.add(at, "must not be an object or a list")
		}
	case "enum":
		values, _ := object[keyword].([]any)
		for _, value := range values {
			if !primitive(value) {
				why.add(at, "must not contain objects or lists")
				return
			}
		}
	case "format":
		switch object[keyword] {
		case "date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid":
		default:
			why.add(at, "the format is not one of date-time, time, date, duration, email, hostname, uri, ipv4, ipv6, uuid")
		}
	case "minItems":
		if object[keyword] != json.Number("0") && object[keyword] != json.Number("1") {
			why.add(at, "must be 0 or 1")
		}
	case "$ref":
		if target, _ := object[keyword].(string); !strings.HasPrefix(target, "#/") {
			why.add(at, "must point into the schema")
		}
	default:
		why.add(at, "is not supported")
	}
}

// anthropicShape checks the members that strict tool use requires: a type, and additionalProperties: false in objects.
func anthropicShape(object map[string]any, pointer string, why *reasons) {
	named := false
	for _, keyword := range []string{"type", "enum", "const", "anyOf", "$ref"} {
		_, ok := object[keyword]
		named = named || ok
	}
	if !named {
		why.add(pointer, "must have a type")
	}
	for _, name := range typesOf(object["type"]) {
		if name == "object" && object["additionalProperties"] != false {
			why.add(pointer+"/additionalProperties", "must be false")
		}
	}
}

func primitive(value any) bool {
	switch value.(type) {
	case map[string]any, []any:
		return false
	}
	return true
}
