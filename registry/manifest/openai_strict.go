package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/atelier-run/atelier/internal/jcs"
)

// These constants are the limits of OpenAI's strict mode.
const (
	maxStrictProperties = 5_000
	maxStrictLevels     = 10
	maxStrictCharacters = 120_000 // total characters of property names, enum values and constants
	maxStrictEnum       = 1_000   // total number of values of all enums
	longEnum            = 250     // number of values above which an enum has the limit maxLongEnum
	maxLongEnum         = 15_000  // total characters of the values of a long enum
	maxReasons          = 20
)

// strictReasons returns the reasons why a schema is not in the strict subset. It also returns the constructs that
// OpenAI rejects even without strict mode. When in doubt it reports a reason, because a schema can always be exported
// without strict mode.
func strictReasons(raw json.RawMessage) (reasons, refusals []string, err error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var root map[string]any
	if err := decoder.Decode(&root); err != nil {
		return nil, nil, fmt.Errorf("read parameters: %w", err)
	}
	s := &strictness{}
	if root["type"] != "object" {
		s.reason("", "the root must be an object")
	}
	for _, keyword := range []string{"anyOf", "oneOf", "allOf", "not", "enum"} {
		if _, ok := root[keyword]; ok {
			s.refuse("OpenAI refuses functions whose parameters have " + keyword + " at the root; the root must describe one object.")
		}
	}
	if _, ok := root["anyOf"]; ok {
		s.reason("", "the root must not have anyOf")
	}
	s.schema(root, "", 1)
	s.total(s.properties > maxStrictProperties, "more than 5000 properties")
	s.total(s.characters > maxStrictCharacters, "more than 120000 characters of names, enum values and constants")
	s.total(s.enum > maxStrictEnum, "more than 1000 enum values")
	return s.reasons, s.refusals, nil
}

type strictness struct {
	reasons, refusals            []string // constructs that OpenAI rejects even without strict
	properties, characters, enum int
}

func (s *strictness) reason(pointer, message string) {
	if len(s.reasons) == maxReasons {
		return
	}
	if pointer != "" {
		message = pointer + ": " + message
	}
	s.reasons = append(s.reasons, message)
}

func (s *strictness) refuse(message string) {
	if len(s.refusals) < maxReasons {
		s.refusals = append(s.refusals, message)
	}
}

func (s *strictness) total(exceeded bool, what string) {
	if exceeded {
		s.reason("", "the schema has "+what)
	}
}

// schema checks one schema and its subschemas. level is the number of objects and arrays that enclose the schema.
func (s *strictness) schema(value any, pointer string, level int) {
	object, ok := value.(map[string]any)
	if !ok {
		s.reason(pointer, "must be an object, not true or false")
		return
	}
	if level > maxStrictLevels {
		s.reason(pointer, "is nested more than 10 levels deep")
		return
	}
	for _, keyword := range sorted(object) {
		s.keyword(object, keyword, pointer, level)
	}
	s.shape(object, pointer)
}

func (s *strictness) keyword(object map[string]any, keyword, pointer string, level int) {
	at := pointer + "/" + jcs.EscapePointer(keyword)
	switch keyword {
	case "properties":
		s.named(object[keyword], at, level+1, &s.properties)
	case "$defs", "definitions":
		s.named(object[keyword], at, level, new(int))
	case "items":
		s.schema(object[keyword], at, level+1)
	case "anyOf":
		alternatives, _ := object[keyword].([]any)
		for i, alternative := range alternatives {
			s.schema(alternative, fmt.Sprintf("%s/%d", at, i), level)
		}
	case "enum":
		s.values(object[keyword], at)
	case "const":
		s.characters += length(object[keyword])
	case "format":
		known := []string{"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}
		if name, _ := object[keyword].(string); !slices.Contains(known, name) {
			s.reason(at, "the format is not one of "+strings.Join(known, ", "))
		}
	case "$ref":
		if target, _ := object[keyword].(string); !strings.HasPrefix(target, "#") || (target != "#" && !strings.HasPrefix(target, "#/")) {
			s.reason(at, "must point into the schema")
		}
		if len(object) > 1 && pointer != "" {
			s.reason(pointer, "$ref must not have siblings")
		}
	case "type", "required", "additionalProperties", "title", "description", "pattern", "multipleOf",
		"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems":
	case "$schema":
		if pointer != "" {
			s.reason(at, "is not supported")
		}
	default:
		s.reason(at, "is not supported")
	}
}

// named checks the schemas in a map whose keys are names.
func (s *strictness) named(value any, pointer string, level int, count *int) {
	object, _ := value.(map[string]any)
	for _, name := range sorted(object) {
		*count++
		s.characters += len([]rune(name))
		s.schema(object[name], pointer+"/"+jcs.EscapePointer(name), level)
	}
}

func (s *strictness) values(value any, pointer string) {
	values, _ := value.([]any)
	s.enum += len(values)
	characters := 0
	for _, v := range values {
		characters += length(v)
	}
	s.characters += characters
	if len(values) > longEnum && characters > maxLongEnum {
		s.reason(pointer, "has more than 250 values with more than 15000 characters")
	}
}

// shape checks the parts that strict mode requires: a type, items, properties, required and additionalProperties.
func (s *strictness) shape(object map[string]any, pointer string) {
	_, isRef := object["$ref"]
	_, isAny := object["anyOf"]
	types := typesOf(object["type"])
	if len(types) == 0 && !isRef && !isAny {
		s.reason(pointer, "must have a type")
	}
	if slices.Contains(types, "array") {
		if _, ok := object["items"]; !ok {
			s.reason(pointer, "is an array without items")
			s.refuse("OpenAI refuses arrays without items: " + pointer)
		}
	}
	if !slices.Contains(types, "object") {
		return
	}
	if object["additionalProperties"] != false {
		s.reason(pointer+"/additionalProperties", "must be false")
	}
	properties, ok := object["properties"].(map[string]any)
	if !ok {
		s.reason(pointer, "is an object without properties")
	}
	required, ok := object["required"].([]any)
	if !ok {
		s.reason(pointer+"/required", "must list every property")
		return
	}
	for _, name := range sorted(properties) {
		if !slices.Contains(required, any(name)) {
			s.reason(pointer+"/required", "must list every property; missing: "+name+"; make optional properties required and nullable")
		}
	}
}

func typesOf(value any) []string {
	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		var names []string
		for _, item := range v {
			if name, ok := item.(string); ok {
				names = append(names, name)
			}
		}
		return names
	}
	return nil
}

// length returns the number of characters of a value as text.
func length(value any) int {
	if text, ok := value.(string); ok {
		return len([]rune(text))
	}
	raw, err := encode(value)
	if err != nil {
		return 0
	}
	return len(raw)
}

func sorted(object map[string]any) []string {
	names := make([]string, 0, len(object))
	for name := range object {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
