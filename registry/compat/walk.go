package compat

import "slices"

// properties maps the path of each property that only one of two schemas describes to the pointer of the property's
// schema.
type properties struct{ added, removed map[string]string }

const maxWalk = 2_000

type walker struct {
	properties
	seen map[string]bool
}

// walkProperties descends both schemas together and records added and removed properties. It includes properties that a
// schema describes only under a condition.
func walkProperties(old, now *side) properties {
	w := walker{properties{map[string]string{}, map[string]string{}}, map[string]bool{}}
	if !old.named && !now.named {
		w.walk(set{old.root()}, set{now.root()}, "")
	}
	return w.properties
}

func (w *walker) walk(old, now set, path string) {
	key := append(slices.Clone(old), now...).key()
	if w.seen[key] || len(w.seen) > maxWalk {
		return
	}
	w.seen[key] = true
	before, after := old.members(), now.members()
	for _, name := range sorted(before.named) {
		if _, stays := after.named[name]; !stays && !after.takes(name) {
			w.removed[member(path, name)] = before.named[name][0].pointer
		}
	}
	for _, name := range sorted(after.named) {
		if _, was := before.named[name]; !was {
			if !before.takes(name) && len(before.named) > 0 {
				w.added[member(path, name)] = after.named[name][0].pointer
			}
			continue
		}
		w.walk(before.named[name], after.named[name], member(path, name))
	}
	if len(before.items) > 0 && len(after.items) > 0 {
		w.walk(before.items, after.items, path+"[]")
	}
	if len(before.rest) > 0 && len(after.rest) > 0 {
		w.walk(before.rest, after.rest, member(path, "*"))
	}
}

// members holds the subschemas of a set for named properties, for other properties and for items.
type members struct {
	named map[string]set
	rest  set
	items set
	other []pattern
}

type pattern struct {
	side *side
	text string
}

func (s set) members() members {
	all := members{named: map[string]set{}}
	s.applicable(func(p place) {
		for name, sub := range p.named("properties") {
			all.named[name] = append(all.named[name], sub)
		}
		for text, sub := range p.named("patternProperties") {
			all.other = append(all.other, pattern{p.side, text})
			all.rest = append(all.rest, sub)
		}
		if sub, ok := p.sub("additionalProperties"); ok && sub.value != false {
			all.rest = append(all.rest, sub)
			all.other = append(all.other, pattern{p.side, ""})
		}
		r := p.row()
		all.items = append(all.items, r.first...)
		if r.rest != nil {
			all.items = append(all.items, *r.rest)
		}
	})
	return all
}

// takes reports whether additionalProperties or a pattern applies to a property with this name.
func (m members) takes(name string) bool {
	return slices.ContainsFunc(m.other, func(p pattern) bool { return p.side.matches(p.text, name) })
}
