package schema

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
)

// survey counts the parts of a schema's text that make compiling slow. The text is inspected before it is compiled.
type survey struct {
	dynamicAnchors []string // pointers of the schemas that have a $dynamicAnchor
	values, names  int
	stray          map[string]struct{}
}

// look rejects schemas that would compile slowly. The library compares all pairs of schemas. It also compares each
// named schema, and each reference to a location without a schema, with all other schemas.
func look(doc any) (survey, *fault.Detail) {
	found := survey{stray: map[string]struct{}{}}
	var problem *fault.Detail
	walk(doc, "", func(pointer string, value any) bool {
		problem = found.visit(pointer, value)
		return problem == nil
	})
	return found, problem
}

func (s *survey) visit(pointer string, value any) *fault.Detail {
	s.values++
	if s.values > maxValues {
		return complexity("", "has more than "+itoa(maxValues)+" values")
	}
	switch v := value.(type) {
	case json.Number:
		if _, ok := parseDecimal(string(v)); !ok || len(v) > maxNumber {
			return complexity(pointer, "has too many digits")
		}
	case []any:
		if len(v) > maxEnum && strings.HasSuffix(pointer, "/enum") {
			return complexity(pointer, "has more than "+itoa(maxEnum)+" values; use a pattern or a check in the program")
		}
	case map[string]any:
		return s.visitObject(pointer, v)
	}
	return nil
}

func (s *survey) visitObject(pointer string, object map[string]any) *fault.Detail {
	for _, keyword := range []string{"$id", "$anchor", "$dynamicAnchor"} {
		if _, ok := object[keyword].(string); ok {
			s.names++
		}
	}
	if s.names > maxNames {
		return complexity(pointer, "is one of more than "+itoa(maxNames)+" named schemas")
	}
	if _, ok := object["$dynamicAnchor"].(string); ok {
		s.dynamicAnchors = append(s.dynamicAnchors, pointer)
	}
	if ref, ok := object["$ref"].(string); ok && strayRef(ref) {
		s.stray[ref] = struct{}{}
	}
	if len(s.stray) > maxStrayRefs {
		return complexity(pointer+"/$ref", "is one of more than "+itoa(maxStrayRefs)+" references to locations without a schema; put shared schemas under $defs")
	}
	return nil
}

// strayRef reports whether a reference points to a location in which the dialects expect no schema.
func strayRef(ref string) bool {
	_, frag, _ := strings.Cut(ref, "#")
	if !strings.HasPrefix(frag, "/") {
		return false
	}
	tokens := strings.Split(unescape(frag), "/")[1:]
	for len(tokens) > 0 {
		n := schemaTokens(tokens)
		if n == 0 {
			return true
		}
		tokens = tokens[n:]
	}
	return false
}

// schemaTokens returns the number of leading tokens of a pointer that lead from one schema to its subschema. It returns
// 0 if they do not lead to a schema.
func schemaTokens(tokens []string) int {
	switch tokens[0] {
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies",
		"allOf", "anyOf", "oneOf", "prefixItems":
		if len(tokens) < 2 {
			return 0
		}
		return 2
	case "items":
		if len(tokens) > 1 {
			if _, err := strconv.Atoi(tokens[1]); err == nil {
				return 2
			}
		}
		return 1
	case "additionalItems", "contains", "not", "if", "then", "else", "propertyNames", "additionalProperties",
		"unevaluatedProperties", "unevaluatedItems":
		return 1
	}
	return 0
}

func complexity(pointer, message string) *fault.Detail {
	return &fault.Detail{Pointer: pointer, Code: TooComplex, Message: message}
}

func itoa(i int) string { return strconv.Itoa(i) }
