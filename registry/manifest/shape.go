package manifest

import (
	"encoding/json"
	"slices"
	"strings"
)

const (
	maxShapes     = 150 // maximum number of types in one declaration; the declaration uses unknown for further types
	maxShapeDepth = 8
)

// shape is the part of a schema that the types of programming languages can express.
type shape struct {
	kind    string // any, null, boolean, number, integer, string, array, object, literal or union
	literal string // JSON text of a literal
	items   *shape // shape of the items of an array, or of the additional members of an object; nil allows any value
	fields  []shapeField
	options []shape // shapes of a union
}

type shapeField struct {
	name     string
	required bool
	note     string // description in one line
	shape    shape
}

var anyShape = shape{kind: "any"}

// shaper reads the shapes of one schema document. References may be recursive, so shaper limits the number and the
// nesting of types.
type shaper struct {
	root  json.RawMessage
	count int
}

func shapeOf(schema json.RawMessage) shape {
	s := shaper{root: schema}
	return s.read(schema, 0)
}

func (s *shaper) read(schema json.RawMessage, depth int) shape {
	s.count++
	if s.count > maxShapes || depth > maxShapeDepth {
		return anyShape
	}
	all, err := readMembers(schema)
	if err != nil || len(all) == 0 {
		return anyShape
	}
	if ref := textOf(all.get("$ref")); ref != "" {
		return s.read(s.find(ref), depth+1)
	}
	if value := all.get("const"); value != nil {
		return literalShape(value)
	}
	var values []json.RawMessage
	if json.Unmarshal(all.get("enum"), &values) == nil && len(values) > 0 && len(values) <= 50 {
		return union(values, literalShape)
	}
	for _, name := range []string{"anyOf", "oneOf"} {
		var options []json.RawMessage
		if json.Unmarshal(all.get(name), &options) == nil && len(options) > 0 {
			return union(options, func(option json.RawMessage) shape { return s.read(option, depth+1) })
		}
	}
	types := typesIn(all.get("type"))
	if len(types) == 0 && all.get("properties") != nil {
		types = []string{"object"}
	}
	if len(types) == 0 {
		return anyShape
	}
	return union(types, func(name string) shape { return s.named(name, all, depth) })
}

func (s *shaper) named(name string, all members, depth int) shape {
	switch name {
	case "array":
		items := s.read(all.get("items"), depth+1)
		return shape{kind: name, items: &items}
	case "object":
		return s.object(all, depth)
	case "null", "boolean", "number", "integer", "string":
		return shape{kind: name}
	}
	return anyShape
}

func (s *shaper) object(all members, depth int) shape {
	object := shape{kind: "object"}
	var required []string
	_ = json.Unmarshal(all.get("required"), &required) // no property is required if the value is not a list
	properties, _ := readMembers(all.get("properties"))
	for _, property := range properties {
		inner, _ := readMembers(property.value)
		object.fields = append(object.fields, shapeField{
			name: property.name, required: slices.Contains(required, property.name), note: oneLine(textOf(inner.get("description")), maxNote),
			shape: s.read(property.value, depth+1),
		})
	}
	if rest := all.get("additionalProperties"); len(rest) > 0 && rest[0] == '{' {
		further := s.read(rest, depth+1)
		object.items = &further
	}
	return object
}

// find returns the part of the document to which a reference such as #/$defs/city points. It returns nil if the part
// does not exist.
func (s *shaper) find(ref string) json.RawMessage {
	if ref == "#" {
		return s.root
	}
	path, local := strings.CutPrefix(ref, "#/")
	if !local {
		return nil
	}
	at := s.root
	for name := range strings.SplitSeq(path, "/") {
		all, err := readMembers(at)
		if err != nil {
			return nil
		}
		at = all.get(strings.NewReplacer("~1", "/", "~0", "~").Replace(name))
	}
	return at
}

// union returns the union of the shapes of several values. If one of them is any, the union is any.
func union[T any](values []T, read func(T) shape) shape {
	var options []shape
	for _, value := range values {
		one := read(value)
		if one.kind == "any" {
			return anyShape
		}
		options = append(options, one)
	}
	if len(options) == 1 {
		return options[0]
	}
	return shape{kind: "union", options: options}
}

func literalShape(value json.RawMessage) shape {
	switch {
	case len(value) > 100 || value[0] == '{' || value[0] == '[':
		return anyShape
	case string(value) == "null":
		return shape{kind: "null"}
	}
	return shape{kind: "literal", literal: string(value)}
}

func textOf(raw json.RawMessage) string {
	var text string
	_ = json.Unmarshal(raw, &text) // the text stays empty for a value that is not a string
	return text
}
