package compat

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"

	"github.com/atelier-run/atelier/internal/jcs"
)

func unescape(fragment string) string {
	if plain, err := url.PathUnescape(fragment); err == nil {
		return plain
	}
	return fragment
}

// set is a list of schemas; a value fits the set if it fits all of them. In a flat set, references and allOf are
// expanded.
type set []place

// flat expands references and allOf in a set. It adds the alternatives of the set as conditional places, which only
// describe properties. never is true if one of the schemas is false. If cases has split a schema, a reference to this
// schema resolves to the current case.
func (s set) flat() (all set, never bool) {
	seen, split := map[string]bool{}, map[string]bool{}
	for _, p := range s {
		if p.removed != "" {
			split[p.side.id+p.pointer] = true
		}
	}
	var visit func(place)
	visit = func(p place) {
		key := p.key()
		if seen[key] || p.removed == "" && !p.synthetic && split[key] {
			return
		}
		seen[key] = true
		if takes, ok := p.value.(bool); ok {
			never = never || !takes && !p.conditional
			return
		}
		all = append(all, p)
		for _, part := range p.unconditional().always() {
			part.conditional = p.conditional
			visit(part)
		}
		for _, part := range p.unconditional().conditions() {
			part.conditional = true
			visit(part)
		}
	}
	for _, p := range s {
		visit(p)
	}
	return all, never
}

// kind is a set of JSON types. Integers and other numbers count as two types.
type kind uint8

const (
	null kind = 1 << iota
	boolean
	integer
	fraction
	text
	array
	object
	anything = null | boolean | integer | fraction | text | array | object
	numbers  = integer | fraction
)

func kindOf(names []string) kind {
	var k kind
	for _, name := range names {
		k |= map[string]kind{"null": null, "boolean": boolean, "integer": integer, "number": numbers, "string": text, "array": array, "object": object}[name]
	}
	return k
}

// typesOf returns the types that the type keyword of one schema allows.
func typesOf(p place) kind {
	value, ok := p.get("type")
	if !ok {
		return anything
	}
	if name, ok := value.(string); ok {
		return kindOf([]string{name})
	}
	return kindOf(texts(value))
}

// kinds returns the types that a flat set allows.
func (s set) kinds() kind {
	k := anything
	for _, p := range s {
		k &= typesOf(p)
	}
	return k
}

// values returns all values that a flat set accepts, if it enumerates them.
func (s set) values() ([]any, bool) {
	var candidates []any
	found := false
	for _, p := range s {
		if value, ok := p.get("const"); ok {
			candidates, found = []any{value}, true
			break
		}
		if list, ok := p.get("enum"); ok {
			candidates, _ = list.([]any)
			found = true
			break
		}
	}
	if !found {
		k := s.kinds()
		if k&^(null|boolean) != 0 {
			return nil, false
		}
		if k&null != 0 {
			candidates = append(candidates, nil)
		}
		if k&boolean != 0 {
			candidates = append(candidates, false, true)
		}
	}
	k := s.kinds()
	taken := make([]any, 0, len(candidates))
	for _, value := range candidates {
		if valueKind(value)&k != 0 && !s.rejects(value) {
			taken = append(taken, value)
		}
	}
	return taken, true
}

// rejects reports whether one of the schemas is known to reject a value.
func (s set) rejects(value any) bool {
	return slices.ContainsFunc(s, func(p place) bool {
		if p.conditional {
			return false
		}
		fits, known := p.accepts(value)
		return known && !fits
	})
}

func valueKind(value any) kind {
	switch v := value.(type) {
	case nil:
		return null
	case bool:
		return boolean
	case json.Number:
		if r, ok := rational(v); ok && !r.IsInt() {
			return fraction
		}
		return integer
	case string:
		return text
	case []any:
		return array
	}
	return object
}

// described lists the properties that the schemas of a set mention, including those that they mention under a
// condition.
func (s set) described() map[string]bool {
	all := map[string]bool{}
	s.applicable(func(p place) {
		value, _ := p.get("properties")
		members, _ := value.(map[string]any)
		for name := range maps.Keys(members) {
			all[name] = true
		}
		for _, name := range p.names("required") {
			all[name] = true
		}
		for _, keyword := range []string{"dependentRequired", "dependencies", "dependentSchemas"} {
			value, _ := p.get(keyword)
			members, _ := value.(map[string]any)
			for name, needs := range members {
				all[name] = true
				for _, other := range texts(needs) {
					all[other] = true
				}
			}
		}
		for _, value := range append(p.enum(), p.constant()...) {
			members, _ := value.(map[string]any)
			for name := range members {
				all[name] = true
			}
		}
	})
	return all
}

func (p place) enum() []any {
	value, _ := p.get("enum")
	list, _ := value.([]any)
	return slices.Clone(list)
}

func (p place) constant() []any {
	if value, ok := p.get("const"); ok {
		return []any{value}
	}
	return nil
}

// applicable visits all schemas that may apply to the value of a set.
func (s set) applicable(visit func(place)) {
	seen := map[string]bool{}
	var apply func(place)
	apply = func(p place) {
		key := p.key()
		if seen[key] {
			return
		}
		seen[key] = true
		visit(p)
		for _, part := range append(p.always(), p.conditions()...) {
			apply(part)
		}
	}
	for _, p := range s {
		apply(p.unconditional())
	}
}

// always returns the subschemas that every accepted value must also satisfy: those of allOf, and the target of $ref.
func (p place) always() []place {
	all := p.list("allOf")
	if target, ok := p.ref(); ok {
		all = append(all, target)
	}
	return all
}

// conditions returns the subschemas that an accepted value must satisfy only under a condition.
func (p place) conditions() []place {
	all := append(p.list("anyOf"), p.list("oneOf")...)
	for _, keyword := range []string{"if", "then", "else"} {
		if part, ok := p.sub(keyword); ok {
			all = append(all, part)
		}
	}
	for _, keyword := range []string{"dependentSchemas", "dependencies"} {
		named := p.named(keyword)
		for _, name := range sorted(named) {
			all = append(all, named[name])
		}
	}
	return all
}

// openByOmission reports whether the set allows undescribed properties only because no keyword forbids them. A set that
// describes no property counts as open on purpose.
func (s set) openByOmission() bool {
	explicit := false
	s.applicable(func(p place) {
		explicit = explicit || p.has("additionalProperties") || p.has("unevaluatedProperties") || p.has("propertyNames")
	})
	return !explicit && len(s.described()) > 0
}

// requires lists the properties that a flat set requires.
func (s set) requires() map[string]bool {
	all := map[string]bool{}
	for _, p := range s {
		for _, name := range p.names("required") {
			all[name] = true
		}
	}
	return all
}

// sameValue reports whether two JSON values are equal. 1 equals 1.0.
func sameValue(a, b any) bool {
	left, errLeft := json.Marshal(a)
	right, errRight := json.Marshal(b)
	if errLeft != nil || errRight != nil {
		return false
	}
	x, errX := jcs.Digest(left)
	y, errY := jcs.Digest(right)
	return errX == nil && errY == nil && x == y
}
