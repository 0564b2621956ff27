package compat

import "slices"

// combinations tries to prove the keywords anyOf and oneOf. It proves a keyword of uncompared only if both schemas have
// the same value for it.
func (p *prover) combinations(g goal) bool {
	ok := p.alternatives(g, "anyOf", "must match one of `anyOf` now", "no longer needs to match one of `anyOf`")
	ok = p.alternatives(g, "oneOf", "must match exactly one of `oneOf` now", "no longer needs to match exactly one of `oneOf`") && ok
	for _, group := range uncompared {
		if keyword := group[0]; g.that.has(keyword) && !p.unchanged(g, group) {
			ok = p.add(g, keyword, "cannot be compared: it has "+keyword, "cannot be compared: it has "+keyword)
		}
	}
	return ok
}

// uncompared lists keywords that are rare in schemas of tools. The prover does not analyse them: it proves them only if
// the other schema has them with the same values. The keywords of one group depend on each other, so they are compared
// together.
var uncompared = [][]string{
	{"not"}, {"if", "then", "else"}, {"contains", "minContains", "maxContains"}, {"propertyNames"},
	{"dependentRequired"}, {"dependentSchemas"}, {"dependencies"}, {"unevaluatedProperties"}, {"unevaluatedItems"}, {"$dynamicRef"},
}

// unchanged reports whether one schema of the set has the keywords of a group with the same values. If the meaning of a
// keyword depends on the rest of its schema, the keyword counts as changed.
func (p *prover) unchanged(g goal, group []string) bool {
	switch group[0] {
	case "dependencies", "$dynamicRef":
		return false
	case "unevaluatedProperties", "unevaluatedItems":
		value, _ := g.that.get(group[0])
		return value == true
	}
	return slices.ContainsFunc(g.these, func(one place) bool {
		return !one.conditional && !slices.ContainsFunc(group, func(keyword string) bool {
			return one.has(keyword) != g.that.has(keyword) || one.has(keyword) && !alike(one, g.that, keyword)
		})
	})
}

// alternatives tries to prove anyOf or oneOf. The proof needs one alternative that accepts every value of the set. For
// oneOf, all other alternatives must also reject every value. If the set has several types, each type may have its own
// alternative.
func (p *prover) alternatives(g goal, keyword, added, gone string) bool {
	branches := g.that.list(keyword)
	if len(branches) == 0 {
		return true
	}
	fits := func(these set) bool {
		i := slices.IndexFunc(branches, func(branch place) bool {
			return p.silently(func() bool { return p.proves(goal{these: these, that: branch, path: g.path, depth: g.depth}) })
		})
		if i < 0 || keyword == "anyOf" {
			return i >= 0
		}
		for j, other := range branches {
			if j != i && !p.disjoint(append(slices.Clone(these), branches[i]), set{other}, g.depth) {
				return false
			}
		}
		return true
	}
	return fits(g.these) || p.byKind(g, fits) || p.add(g, keyword, added, gone)
}

// byKind tries to prove a condition separately for each type, if a set has several types.
func (p *prover) byKind(g goal, fits func(set) bool) bool {
	k := g.these.kinds()
	split := map[string]kind{"null": null, "boolean": boolean, "string": text, "array": array, "object": object, "integer": integer}
	if k&fraction != 0 {
		delete(split, "integer")
		split["number"] = numbers
	}
	parts := 0
	for _, name := range sorted(split) {
		if k&split[name] == 0 {
			continue
		}
		parts++
		if !fits(append(slices.Clone(g.these), place{side: g.that.side, value: map[string]any{"type": name}, synthetic: true})) {
			return false
		}
	}
	return parts > 1
}

const maxDisjointDepth = 24

// disjoint tries to prove that no value fits both sets.
func (p *prover) disjoint(a, b set, depth int) bool {
	p.steps++
	if p.steps > maxSteps || depth > maxDisjointDepth {
		return false
	}
	left, never := a.flat()
	right, neither := b.flat()
	if never || neither {
		return true
	}
	shared := left.kinds() & right.kinds()
	if shared == 0 || left.rejectedBy(right) || right.rejectedBy(left) {
		return true
	}
	return shared == object && p.membersDisjoint(left, right, depth)
}

// rejectedBy reports whether a set enumerates its values and another set rejects each of these values.
func (s set) rejectedBy(other set) bool {
	values, finite := s.values()
	return finite && !slices.ContainsFunc(values, func(value any) bool { return !other.rejects(value) && other.kinds()&valueKind(value) != 0 })
}

// membersDisjoint tries to prove that no object fits both sets: one set requires a property, and no value of this
// property fits both sets.
func (p *prover) membersDisjoint(left, right set, depth int) bool {
	l, r := shape{these: left, names: left.described()}, shape{these: right, names: right.described()}
	needed := left.requires()
	for name := range right.requires() {
		needed[name] = true
	}
	for _, name := range sorted(needed) {
		x, _ := l.value(name)
		y, _ := r.value(name)
		if p.disjoint(x, y, depth+1) {
			return true
		}
	}
	return false
}
