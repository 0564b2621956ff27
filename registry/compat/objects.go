package compat

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/atelier-run/atelier/registry/schema"
)

// matches reports whether a name matches a pattern. It uses the regular expression engine of package schema, as
// validation does.
func (s *side) matches(pattern, name string) bool {
	fits, ok := s.patterns[pattern]
	if !ok {
		fits = &schema.Schema{}
		if raw, err := json.Marshal(map[string]any{"pattern": pattern}); err == nil {
			if compiled, err := schema.Compile(raw); err == nil {
				fits = compiled
			}
		}
		s.patterns[pattern] = fits
	}
	text, err := json.Marshal(name)
	return err != nil || len(fits.Validate(text)) == 0
}

// shape describes the properties of an object under a flat set.
type shape struct {
	these  set
	names  map[string]bool // properties with a separate schema
	closed bool            // the set rejects a property if no name or pattern describes it
	open   bool            // the set allows undescribed properties only because no keyword forbids them; the proof ignores such properties
}

func (p *prover) shape(these set) shape {
	s := shape{these: these, names: these.described()}
	for _, one := range these {
		if value, ok := one.get("additionalProperties"); ok && value == false {
			s.closed = true
		}
	}
	if !s.closed && p.described && these.openByOmission() {
		s.closed, s.open = true, true
	}
	return s
}

// value returns the schemas for the property with the given name. absent means that the proof may assume that no object
// has this property.
func (s shape) value(name string) (all set, absent bool) {
	for _, p := range s.these {
		known := false
		if sub, ok := p.named("properties")[name]; ok {
			all, known = append(all, sub), true
		}
		for pattern, sub := range p.named("patternProperties") {
			if p.side.matches(pattern, name) {
				all, known = append(all, sub), true
			}
		}
		if rest := p.optional("additionalProperties"); rest != nil && !known {
			all = append(all, *rest)
		}
	}
	return all, s.open && !s.names[name] && !s.matched(name)
}

// matched reports whether a pattern of the shape matches a name.
func (s shape) matched(name string) bool {
	return slices.ContainsFunc(s.these, func(p place) bool {
		return slices.ContainsFunc(sorted(p.named("patternProperties")), func(pattern string) bool { return p.side.matches(pattern, name) })
	})
}

// rest returns the schemas for properties that no name or pattern describes. absent means that the proof may assume
// that no object has such properties.
func (s shape) rest() (all set, absent bool) {
	for _, p := range s.these {
		if rest := p.optional("additionalProperties"); rest != nil {
			all = append(all, *rest)
		}
	}
	return all, s.open
}

// patterns returns the schemas of a shape's patternProperties, by pattern.
func (s shape) patterns() map[string]set {
	all := map[string]set{}
	for _, p := range s.these {
		for pattern, sub := range p.named("patternProperties") {
			all[pattern] = append(all[pattern], sub)
		}
	}
	return all
}

func (p *prover) properties(g goal) bool {
	if g.these.kinds()&object == 0 {
		return true
	}
	required, s := g.these.requires(), p.shape(g.these)
	ok := true
	for _, name := range g.that.names("required") {
		if required[name] {
			continue
		}
		words := "became required"
		if !s.names[name] {
			words = "is new and required"
		}
		at := g
		at.path = member(g.path, name)
		ok = p.add(at, "required", words, "is no longer required")
	}
	most, limited := g.these.most("maxProperties")
	if s.closed && len(s.patterns()) == 0 && (!limited || len(s.names) < most) {
		most, limited = len(s.names), true
	}
	ok = p.sizes(g, "minProperties", "maxProperties", "properties", max(g.these.least("minProperties"), len(required)), most, limited) && ok
	ok = p.members(g, s) && ok
	return p.others(g, s) && ok
}

func (p *prover) property(g goal, name string, these set, asked place) bool {
	return p.proves(goal{these: these, that: asked, path: member(g.path, name), depth: g.depth})
}

// members tries to prove the constraints on properties that are described by name or by pattern.
func (p *prover) members(g goal, s shape) bool {
	ok := true
	asked := g.that.named("properties")
	for _, name := range sorted(asked) {
		if value, absent := s.value(name); !absent {
			ok = p.property(g, name, value, asked[name]) && ok
		}
	}
	byPattern := g.that.named("patternProperties")
	own := s.patterns()
	for _, pattern := range sorted(byPattern) {
		for _, name := range slices.Sorted(maps.Keys(s.names)) {
			if value, absent := s.value(name); !absent && g.that.side.matches(pattern, name) {
				ok = p.property(g, name, value, byPattern[pattern]) && ok
			}
		}
		for _, theirs := range sorted(own) {
			ok = p.property(g, "*", own[theirs], byPattern[pattern]) && ok
		}
		if value, absent := s.rest(); !absent {
			if _, alike := own[pattern]; !alike {
				ok = p.property(g, "*", value, byPattern[pattern]) && ok
			}
		}
	}
	return ok
}

// others tries to prove the constraints on properties that no name or pattern describes.
func (p *prover) others(g goal, s shape) bool {
	asked, has := g.that.sub("additionalProperties")
	if !has {
		return true
	}
	ok := true
	byName, byPattern := g.that.named("properties"), g.that.named("patternProperties")
	for _, name := range slices.Sorted(maps.Keys(s.names)) {
		_, known := byName[name]
		known = known || slices.ContainsFunc(sorted(byPattern), func(pattern string) bool { return g.that.side.matches(pattern, name) })
		if value, absent := s.value(name); !known && !absent {
			ok = p.property(g, name, value, asked) && ok
		}
	}
	own := s.patterns()
	for _, pattern := range sorted(own) {
		if _, alike := byPattern[pattern]; !alike {
			ok = p.property(g, "*", own[pattern], asked) && ok
		}
	}
	if value, absent := s.rest(); !absent {
		if asked.value == false {
			if _, never := value.flat(); !never {
				return p.add(g, "additionalProperties", "no longer allows properties that are not described", "now allows properties that are not described")
			}
			return ok
		}
		ok = p.property(g, "*", value, asked) && ok
	}
	return ok
}
