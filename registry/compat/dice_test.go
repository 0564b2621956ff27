package compat_test

import (
	"maps"
	"math/rand/v2"
	"slices"
)

// dice generates random schemas and documents. It uses few names and values, so that schemas and documents have them in
// common.
type dice struct{ *rand.Rand }

func (d dice) one(of ...any) any { return of[d.IntN(len(of))] }

func (d dice) name() string { return string(rune('a' + d.IntN(3))) }

func (d dice) value() any { return d.one(nil, true, false, -1, 0, 1, 2, 3, 1.5, "", "x", "xx", "a") }

// schema generates a schema. The root may have keywords that subschemas do not have.
func (d dice) schema(depth int) any {
	if depth > 0 && d.IntN(12) == 0 {
		return d.one(true, false)
	}
	s := map[string]any{}
	if depth == 0 && d.IntN(4) == 0 {
		s["title"] = "7"
	}
	if d.IntN(3) > 0 {
		s["type"] = d.one("object", "object", "array", "string", "integer", "number", "boolean", []any{"string", "null"}, []any{"integer", "object"})
	}
	for range 1 + d.IntN(3) {
		d.keyword(s, depth)
	}
	return s
}

// keyword adds or replaces one keyword of a schema.
func (d dice) keyword(s map[string]any, depth int) {
	choices := 22
	if depth > 2 {
		choices = 12
	}
	list := func() []any {
		var all []any
		for range 1 + d.IntN(3) {
			all = append(all, d.schema(depth+1))
		}
		return all
	}
	switch d.IntN(choices) {
	case 0:
		s["enum"] = []any{d.one(nil, true, 0), d.one("", "x", 1), d.one("a", "xx", 2, 1.5)}
	case 1:
		s["const"] = d.value()
	case 2:
		s[d.one("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum").(string)] = d.one(-1, 0, 0.5, 1, 2, 3)
	case 3:
		s[d.one("minLength", "maxLength").(string)] = d.IntN(4)
	case 4:
		s[d.one("minItems", "maxItems", "minProperties", "maxProperties").(string)] = d.IntN(4)
	case 5:
		s["multipleOf"] = d.one(1, 2, 0.5, 3)
	case 6:
		s["required"] = []any{d.name()}
	case 7:
		s["pattern"] = d.one("^x", "x$", "^a$")
	case 8:
		s["uniqueItems"] = true
	case 9:
		s["dependentRequired"] = map[string]any{d.name(): []any{d.name()}}
	case 10:
		s["$ref"] = d.one("#/$defs/leaf", "#/$defs/tree")
	case 11:
		s["format"] = d.one("date", "email", "nonsense")
	case 12, 13, 14:
		properties := map[string]any{}
		for range 1 + d.IntN(3) {
			properties[d.name()] = d.schema(depth + 1)
		}
		s["properties"] = properties
	case 15:
		s[d.one("additionalProperties", "unevaluatedProperties", "additionalProperties").(string)] = d.one(false, false, d.schema(depth+1))
	case 16:
		s["items"] = d.schema(depth + 1)
	case 17:
		s[d.one("allOf", "anyOf", "oneOf", "oneOf").(string)] = list()
	case 18:
		s["not"] = d.schema(depth + 1)
	case 19:
		s["if"], s[d.one("then", "else").(string)] = d.schema(depth+1), d.schema(depth+1)
	case 20:
		if d.IntN(2) == 0 {
			s["prefixItems"] = list()
		} else {
			s["contains"] = d.schema(depth + 1)
			s[d.one("minContains", "maxContains", "title").(string)] = d.IntN(3)
			if _, isNumber := s["title"].(int); isNumber {
				delete(s, "title")
			}
		}
	case 21:
		s[d.one("patternProperties", "propertyNames").(string)] = map[string]any{}
		if _, ok := s["patternProperties"]; ok {
			s["patternProperties"] = map[string]any{d.one("^a", "[ab]").(string): d.schema(depth + 1)}
		} else {
			s["propertyNames"] = d.one(map[string]any{"pattern": "^a"}, map[string]any{"maxLength": 1}, map[string]any{"enum": []any{"a", "b"}})
		}
	}
}

// changed returns a copy of a schema with a few random changes.
func (d dice) changed(s any) any {
	object, ok := s.(map[string]any)
	if !ok {
		if d.IntN(4) == 0 {
			return d.schema(2)
		}
		return s
	}
	next := map[string]any{}
	for _, keyword := range names(object) {
		switch v := object[keyword].(type) {
		case map[string]any:
			if keyword == "properties" || keyword == "patternProperties" {
				named := map[string]any{}
				for _, name := range names(v) {
					sub := v[name]
					named[name] = sub
					if d.IntN(3) == 0 {
						named[name] = d.changed(sub)
					}
					if d.IntN(12) == 0 {
						delete(named, name)
					}
				}
				if keyword == "properties" && d.IntN(5) == 0 {
					named[d.name()] = d.schema(2)
				}
				next[keyword] = named
				continue
			}
			next[keyword] = v
			if keyword != "dependentRequired" && d.IntN(3) == 0 {
				next[keyword] = d.changed(v)
			}
		case []any:
			next[keyword] = v
			if keyword == "anyOf" || keyword == "oneOf" || keyword == "allOf" || keyword == "prefixItems" {
				var list []any
				for _, part := range v {
					if d.IntN(4) == 0 {
						part = d.changed(part)
					}
					list = append(list, part)
				}
				if d.IntN(4) == 0 {
					list = append(list, d.schema(2))
				}
				next[keyword] = list
			}
		default:
			next[keyword] = v
		}
	}
	switch d.IntN(4) {
	case 0:
		d.keyword(next, 2)
	case 1:
		all := names(next)
		for _, at := range d.Perm(len(all)) {
			if keyword := all[at]; keyword != "title" && keyword != "if" && keyword != "then" && keyword != "else" {
				delete(next, keyword)
				break
			}
		}
	}
	return next
}

func names(object map[string]any) []string { return slices.Sorted(maps.Keys(object)) }

// document generates a document from the names and values of one of two schemas.
func (d dice) document(before, after any) any { return d.fitting(d.one(before, after), 0) }

func (d dice) fitting(s any, depth int) any {
	object, ok := s.(map[string]any)
	if !ok || depth > 4 || d.IntN(10) == 0 {
		return d.any(depth)
	}
	if list, ok := object["enum"].([]any); ok && d.IntN(3) > 0 {
		return d.one(list...)
	}
	if value, ok := object["const"]; ok && d.IntN(3) > 0 {
		return value
	}
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		if list, ok := object[keyword].([]any); ok && len(list) > 0 && d.IntN(2) == 0 {
			return d.fitting(d.one(list...), depth+1)
		}
	}
	if sub, ok := object[d.one("if", "then", "else", "not").(string)]; ok && d.IntN(2) == 0 {
		return d.fitting(sub, depth+1)
	}
	types := object["type"]
	if list, ok := types.([]any); ok {
		types = d.one(list...)
	}
	if _, ok := object["properties"]; ok && types == nil && d.IntN(3) > 0 {
		types = "object"
	}
	switch types {
	case "object":
		return d.object(object, depth)
	case "array":
		return d.array(object, depth)
	case "string":
		return d.one("", "x", "xx", "xxx", "a", "2026-11-30")
	case "integer":
		return d.IntN(6) - 2
	case "number":
		return d.one(-1, 0, 0.5, 1, 1.5, 2, 3, 2.5)
	case "boolean":
		return d.one(true, false)
	}
	return d.any(depth)
}

func (d dice) object(s map[string]any, depth int) any {
	made := map[string]any{}
	properties, _ := s["properties"].(map[string]any)
	for _, name := range names(properties) {
		if d.IntN(4) > 0 {
			made[name] = d.fitting(properties[name], depth+1)
		}
	}
	for range d.IntN(3) {
		if name := d.name(); made[name] == nil {
			made[name] = d.fitting(properties[name], depth+1)
		}
	}
	return made
}

func (d dice) array(s map[string]any, depth int) any {
	made := []any{}
	first, _ := s["prefixItems"].([]any)
	for i := range d.IntN(4) {
		if i < len(first) {
			made = append(made, d.fitting(first[i], depth+1))
		} else {
			made = append(made, d.fitting(d.one(s["items"], s["contains"]), depth+1))
		}
	}
	return made
}

func (d dice) any(depth int) any {
	if depth < 3 {
		switch d.IntN(4) {
		case 0:
			return d.object(map[string]any{}, depth)
		case 1:
			return d.array(map[string]any{}, depth)
		}
	}
	return d.value()
}
