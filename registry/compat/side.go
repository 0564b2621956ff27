package compat

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/atelier-run/atelier/internal/jcs"
	"github.com/atelier-run/atelier/registry/schema"
)

// side is one of the two schemas that the package compares.
type side struct {
	id       string // distinguishes the two sides
	raw      json.RawMessage
	doc      any // bool or map[string]any
	draft7   bool
	named    bool // the schema contains $id, $anchor or $dynamicRef, so a reference may use a name instead of a JSON pointer
	compiled *schema.Schema
	parts    map[string]*schema.Schema // compiled subschemas by pointer
	patterns map[string]*schema.Schema // compiled patterns by their text
}

func newSide(id string, raw json.RawMessage) (*side, error) {
	if trimmed := bytes.TrimSpace(raw); len(trimmed) == 0 || string(trimmed) == "null" {
		raw = json.RawMessage(`{}`)
	}
	whole, err := schema.Compile(raw)
	if err != nil {
		return nil, err
	}
	s := &side{id: id, raw: raw, compiled: whole, parts: whole.Parts(), patterns: map[string]*schema.Schema{}}
	if s.doc, err = jcs.Decode(raw, jcs.Limits{}); err != nil {
		return nil, err
	}
	if object, ok := s.doc.(map[string]any); ok {
		dialect, _ := object["$schema"].(string)
		s.draft7 = strings.Contains(dialect, "draft-07")
		s.named = namesWithin(object, true)
	}
	return s, nil
}

// namesWithin reports whether a document contains an anchor or an ID. It also searches examples, where such a member
// has no effect. So it may return true for a document without names.
func namesWithin(value any, root bool) bool {
	switch v := value.(type) {
	case map[string]any:
		for key, member := range v {
			text, isText := member.(string)
			switch key {
			case "$id", "$schema":
				if isText && !root {
					return true
				}
			case "$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveRef":
				if isText {
					return true
				}
			case "$ref":
				if isText && text != "#" && !strings.HasPrefix(text, "#/") {
					return true
				}
			}
			if namesWithin(member, false) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return namesWithin(item, false) })
	}
	return false
}

func sameDocument(a, b *side) bool {
	left, errLeft := jcs.Digest(a.raw)
	right, errRight := jcs.Digest(b.raw)
	return errLeft == nil && errRight == nil && left == right
}

// place is a subschema of a side. A synthetic place does not exist in the document: it narrows the other schemas of its
// set, and value contains its schema.
type place struct {
	side        *side
	pointer     string
	value       any
	synthetic   bool
	removed     string // keywords that were removed from value, because the proof handles their alternatives as separate cases
	conditional bool   // the place is an alternative that may not apply: it describes properties but constrains no value
}

func (s *side) root() place { return place{side: s, value: s.doc} }

func (p place) key() string {
	key := p.side.id + p.pointer + p.removed
	if p.synthetic {
		text, _ := json.Marshal(p.value)
		key += "!" + string(text)
	}
	if p.conditional {
		key += "?"
	}
	return key
}

// get returns the value of a keyword. It returns nothing if the dialect ignores the keyword in this schema.
func (p place) get(keyword string) (any, bool) {
	object, ok := p.value.(map[string]any)
	if !ok {
		return nil, false
	}
	if p.conditional {
		switch keyword {
		case "properties", "patternProperties", "items", "additionalItems", "prefixItems":
		default:
			return nil, false
		}
	}
	if p.side.draft7 && !p.synthetic {
		if _, isRef := object["$ref"].(string); isRef && keyword != "$ref" {
			return nil, false // draft-07 ignores siblings of $ref
		}
		switch keyword {
		case "dependentRequired", "dependentSchemas", "minContains", "maxContains", "unevaluatedProperties", "unevaluatedItems", "prefixItems":
			return nil, false
		}
	} else if keyword == "additionalItems" {
		return nil, false
	}
	value, ok := object[keyword]
	return value, ok
}

func (p place) has(keyword string) bool {
	_, ok := p.get(keyword)
	return ok
}

// at returns the subschema with the given value. tokens is its location relative to p.
func (p place) at(value any, tokens ...string) place {
	pointer := p.pointer
	for _, token := range tokens {
		pointer += "/" + jcs.EscapePointer(token)
	}
	return place{side: p.side, pointer: pointer, value: value, conditional: p.conditional}
}

// unconditional returns the same place as a constraint. A conditional place only describes properties.
func (p place) unconditional() place {
	p.conditional = false
	return p
}

// sub returns the schema that is the value of a keyword.
func (p place) sub(keyword string) (place, bool) {
	value, ok := p.get(keyword)
	if !ok {
		return place{}, false
	}
	switch value.(type) {
	case bool, map[string]any:
		return p.at(value, keyword), true
	}
	return place{}, false
}

// list returns the schemas in the list that is the value of a keyword.
func (p place) list(keyword string) []place {
	value, _ := p.get(keyword)
	items, _ := value.([]any)
	all := make([]place, 0, len(items))
	for i, item := range items {
		all = append(all, p.at(item, keyword, strconv.Itoa(i)))
	}
	return all
}

// named returns the schemas in the object that is the value of a keyword, by name. It omits values that are not
// schemas, which dependencies may contain.
func (p place) named(keyword string) map[string]place {
	value, _ := p.get(keyword)
	members, _ := value.(map[string]any)
	all := make(map[string]place, len(members))
	for name, member := range members {
		switch member.(type) {
		case bool, map[string]any:
			all[name] = p.at(member, keyword, name)
		}
	}
	return all
}

// ref returns the target of a $ref.
func (p place) ref() (place, bool) {
	value, _ := p.get("$ref")
	text, ok := value.(string)
	if !ok {
		return place{}, false
	}
	pointer, ok := strings.CutPrefix(text, "#")
	if !ok {
		return place{}, false
	}
	pointer = unescape(pointer)
	target := p.side.doc
	for i, token := range strings.Split(pointer, "/") {
		if i == 0 {
			continue
		}
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		switch v := target.(type) {
		case map[string]any:
			target = v[token]
		case []any:
			n, err := strconv.Atoi(token)
			if err != nil || n < 0 || n >= len(v) {
				return place{}, false
			}
			target = v[n]
		default:
			return place{}, false
		}
	}
	switch target.(type) {
	case bool, map[string]any:
		return place{side: p.side, pointer: pointer, value: target}, true
	}
	return place{}, false
}

// accepts reports whether a value fits, and whether this result is certain.
func (p place) accepts(value any) (fits, known bool) {
	if always, ok := p.value.(bool); ok {
		return always, true
	}
	if p.synthetic {
		return false, false
	}
	part, ok := p.side.parts[p.pointer]
	if !ok || p.side.named {
		return false, false
	}
	text, err := json.Marshal(value)
	if err != nil {
		return false, false
	}
	return len(part.Validate(text)) == 0, true
}

func (p place) number(keyword string) (json.Number, bool) {
	value, _ := p.get(keyword)
	n, ok := value.(json.Number)
	return n, ok
}

func (p place) count(keyword string) (int, bool) {
	n, ok := p.number(keyword)
	if !ok {
		return 0, false
	}
	whole, err := n.Int64()
	if err != nil {
		f, err := n.Float64() // 2.0 is a valid count
		if err != nil || f != float64(int64(f)) {
			return 0, false
		}
		whole = int64(f)
	}
	return int(whole), true
}

func (p place) text(keyword string) (string, bool) {
	value, _ := p.get(keyword)
	text, ok := value.(string)
	return text, ok
}

func (p place) names(keyword string) []string {
	value, _ := p.get(keyword)
	return texts(value)
}

func texts(value any) []string {
	items, _ := value.([]any)
	names := make([]string, 0, len(items))
	for _, item := range items {
		if text, ok := item.(string); ok {
			names = append(names, text)
		}
	}
	return names
}
