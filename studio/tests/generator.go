package tests

import (
	"encoding/json"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// These are the limits of one generated value. They apply even if the value's schema requires a larger value.
const (
	maxGeneratedDepth = 6
	maxGeneratedNodes = 2000
	maxGeneratedText  = 10_000
	maxGeneratedBytes = 256 << 10
)

// generator generates values from a schema. It supports the keywords that inferred schemas use. The caller must
// validate the values.
type generator struct {
	root    any
	random  *rand.Rand
	edge    bool
	cases   int // number of generated edge values so far
	numbers int // number of JSON numbers in the current value
	nodes   int // number of nodes in the current value
	room    int // bytes that may still be added to the current value
}

// input returns an input of a kind.
func (g *generator) input(kind Kind) any {
	g.edge, g.nodes, g.numbers, g.room = kind == Edge, 0, 0, maxGeneratedBytes
	if g.edge {
		g.cases++
	}
	value := g.value(g.root, 0)
	if kind == Invalid {
		return g.spoil(value)
	}
	return value
}

func pick[T any](g *generator, from ...T) T { return from[g.random.IntN(len(from))] }

// value returns a value that should match a schema.
func (g *generator) value(schema any, depth int) any {
	s, ok := g.resolve(schema).(map[string]any)
	g.room -= 4
	if g.nodes++; !ok || depth > maxGeneratedDepth || g.nodes > maxGeneratedNodes || g.room < 0 {
		if depth == 0 {
			return map[string]any{}
		}
		return pick[any](g, nil, true, "text", 1, []any{}, map[string]any{})
	}
	if value, is := s["const"]; is {
		return g.copied(value)
	}
	if values, is := s["enum"].([]any); is && len(values) > 0 {
		return g.copied(pick(g, values...))
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		if choices, is := s[keyword].([]any); is && len(choices) > 0 {
			return g.value(merged(s, keyword, g.resolve(pick(g, choices...))), depth)
		}
	}
	if parts, is := s["allOf"].([]any); is && len(parts) > 0 {
		all := any(s)
		for _, part := range parts {
			all = merged(all.(map[string]any), "allOf", g.resolve(part)) //nolint:forcetypeassert // The result of merged is always a map.
		}
		return g.value(all, depth+1)
	}
	switch g.typeOf(s, depth) {
	case "object":
		return g.object(s, depth)
	case "array":
		return g.array(s, depth)
	case "string":
		return g.text(s)
	case "integer":
		return g.number(s, true)
	case "number":
		return g.number(s, false)
	case "boolean":
		return pick(g, true, false)
	}
	return nil
}

// copied returns a value that the schema contains, or nil if it is too large.
func (g *generator) copied(value any) any {
	if g.room -= size(value); g.room < 0 {
		return nil
	}
	return value
}

// size returns the approximate size of a value as JSON in bytes.
func size(value any) int {
	sum := 4
	switch v := value.(type) {
	case string:
		sum += len(v)
	case []any:
		for _, item := range v {
			sum += size(item)
		}
	case map[string]any:
		for name, item := range v {
			sum += len(name) + size(item)
		}
	}
	return sum
}

// resolve follows references within the schema and returns their target.
func (g *generator) resolve(schema any) any {
	for range 10 {
		s, _ := schema.(map[string]any)
		ref, is := s["$ref"].(string)
		if !is || !strings.HasPrefix(ref, "#") {
			return schema
		}
		schema = g.root
		for _, segments := range patterns([]string{strings.TrimPrefix(ref, "#")}) {
			for _, name := range segments {
				if part, _ := schema.(map[string]any); name != "" {
					schema = part[name]
				}
			}
		}
	}
	return schema
}

// merged returns a schema without the keyword, to which the keywords of the subschema part are added.
func merged(s map[string]any, keyword string, part any) map[string]any {
	all := maps.Clone(s)
	delete(all, keyword)
	more, _ := part.(map[string]any)
	for name, value := range more {
		old, isMap := all[name].(map[string]any)
		added, both := value.(map[string]any)
		if isMap && both {
			joined := maps.Clone(old)
			maps.Copy(joined, added)
			value = joined
		}
		all[name] = value
	}
	return all
}

func (g *generator) typeOf(s map[string]any, depth int) string {
	switch t := s["type"].(type) {
	case string:
		return t
	case []any:
		if len(t) > 0 {
			name, _ := pick(g, t...).(string)
			return name
		}
	}
	switch {
	case s["properties"] != nil || depth == 0:
		return "object"
	case s["items"] != nil || s["prefixItems"] != nil:
		return "array"
	}
	return pick(g, "string", "integer", "boolean", "null")
}

func (g *generator) object(s map[string]any, depth int) any {
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	made := map[string]any{}
	optional := g.random.IntN(3) // Generate none, some or all of the optional properties.
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if slices.Contains(required, any(name)) || optional == 2 || optional == 1 && g.random.IntN(2) == 0 {
			if g.room -= len(name); g.room < 0 {
				return made
			}
			made[name] = g.value(properties[name], depth+1)
		}
	}
	if more, is := s["additionalProperties"].(map[string]any); is {
		for range g.random.IntN(3) {
			made[pick(g, "a", "b", "ñ", "a/b~c", "")] = g.value(more, depth+1)
		}
	}
	return made
}

func (g *generator) array(s map[string]any, depth int) any {
	least, most := bound(s, "minItems", 0), bound(s, "maxItems", 4)
	count := min(least+float64(g.random.IntN(4)), most)
	if g.edge {
		count = pick(g, least, min(most, 50))
	}
	made := []any{}
	first, _ := s["prefixItems"].([]any)
	for i := range int(min(max(count, float64(len(first))), maxGeneratedNodes)) {
		if g.room < 0 {
			break
		}
		if i < len(first) {
			made = append(made, g.value(first[i], depth+1))
			continue
		}
		if s["items"] == false {
			break
		}
		made = append(made, g.value(s["items"], depth+1))
	}
	return made
}

func (g *generator) text(s map[string]any) any {
	formats := map[string][]string{
		"date": {"2024-02-29", "1970-01-01"}, "date-time": {"2024-02-29T23:59:60Z", "1970-01-01T00:00:00Z"}, "time": {"23:59:59Z"},
		"uuid": {"123e4567-e89b-12d3-a456-426614174000"}, "email": {"a@example.com"}, "uri": {"https://example.com/?q=%20"}, "ipv4": {"127.0.0.1"}, "duration": {"P1D"},
	}
	if format, _ := s["format"].(string); formats[format] != nil {
		return pick(g, formats[format]...)
	}
	least, most := int(min(bound(s, "minLength", 0), maxGeneratedText)), int(min(bound(s, "maxLength", 200), 2000))
	text := []rune(pick(g, "text", "Oslo", "42", "a b"))
	if g.edge {
		text = []rune(pick(g, "", " ", "ñ🙂漢字", "<&>\"'\\", "null", "\u202e\u200b", strings.Repeat("x", most), "line\nbreak"))
	}
	if g.room -= max(least, len(string(text))); g.room < 0 {
		return ""
	}
	for len(text) < least {
		text = append(text, 'x')
	}
	return string(text[:min(len(text), max(most, least))])
}

func (g *generator) number(s map[string]any, whole bool) any {
	least, most := bound(s, "minimum", bound(s, "exclusiveMinimum", -1000)), bound(s, "maximum", bound(s, "exclusiveMaximum", 1000))
	if step := bound(s, "multipleOf", 0); step > 0 {
		return finite(float64(g.random.IntN(5))*step, step)
	}
	if g.edge {
		// Rotate the edge values, so that a few cases contain all of them. Each case starts with another edge value.
		edges := []any{0, least, most, -1, 1, json.Number("9007199254740993"), json.Number("-9007199254740993")}
		g.numbers++
		return edges[(g.cases+g.numbers)%len(edges)]
	}
	share := g.random.Float64()
	n := finite(least+share*(most-least), least*(1-share)+most*share) // The difference of large bounds may be infinite.
	if whole {
		return math.Trunc(n)
	}
	return n
}

// finite returns n, or the parameter otherwise if n is not finite.
func finite(n, otherwise float64) float64 {
	if math.IsInf(n, 0) || math.IsNaN(n) {
		return otherwise
	}
	return n
}

// bound returns the number of a keyword, or the parameter otherwise if the schema lacks the keyword.
func bound(s map[string]any, keyword string, otherwise float64) float64 {
	if n, is := s[keyword].(float64); is {
		return n
	}
	return otherwise
}

// spoil makes a valid value invalid: it removes a property, adds one, or changes the type of one.
func (g *generator) spoil(value any) any {
	object, is := value.(map[string]any)
	if !is || len(object) == 0 {
		return pick[any](g, map[string]any{"unexpected": 1}, nil, 1, []any{})
	}
	changed := maps.Clone(object)
	name := pick(g, slices.Sorted(maps.Keys(object))...)
	switch g.random.IntN(4) {
	case 0:
		delete(changed, name)
	case 1:
		changed["unexpected"] = 1
	case 2:
		changed[name] = pick[any](g, nil, "text", -1e9, 1e9, true, []any{}, map[string]any{})
	default:
		if part, is := object[name].(map[string]any); is {
			changed[name] = g.spoil(part)
		} else {
			changed[name] = map[string]any{"of": "another type"}
		}
	}
	return changed
}
