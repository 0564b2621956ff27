package manifest

import (
	"fmt"

	"github.com/atelier-run/atelier/internal/jcs"
)

// holding says how the value of a keyword contains schemas.
type holding int

const (
	noSchema     holding = iota
	oneSchema            // the value is one schema
	schemaList           // the value is a list of schemas
	namedSchemas         // the value is an object whose members are schemas
)

// holds returns how the value of a keyword contains schemas. It supports the keywords of all drafts from draft-07 to
// 2020-12. The values of all other keywords, such as enum or default, are plain data, even if they look like schemas.
func holds(keyword string) holding {
	switch keyword {
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies":
		return namedSchemas
	case "allOf", "anyOf", "oneOf", "prefixItems":
		return schemaList
	case "items", "additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "not", "propertyNames", "then",
		"unevaluatedItems", "unevaluatedProperties":
		return oneSchema
	}
	return noSchema
}

// walk visits a schema and its subschemas, sorted by pointer.
func walk(schema any, pointer string, visit func(schema any, pointer string)) {
	visit(schema, pointer)
	object, ok := schema.(map[string]any)
	if !ok {
		return
	}
	for _, keyword := range sorted(object) {
		kind := holds(keyword)
		if kind == noSchema {
			continue
		}
		at := pointer + "/" + jcs.EscapePointer(keyword)
		switch value := object[keyword].(type) {
		case []any: // draft-07 allows a list as the value of items
			for i, item := range value {
				walk(item, fmt.Sprintf("%s/%d", at, i), visit)
			}
		case map[string]any:
			if kind == oneSchema {
				walk(value, at, visit)
				continue
			}
			for _, name := range sorted(value) {
				if _, list := value[name].([]any); !list { // a member of dependencies may be a list of names instead of a schema
					walk(value[name], at+"/"+jcs.EscapePointer(name), visit)
				}
			}
		case bool:
			walk(value, at, visit)
		}
	}
}
