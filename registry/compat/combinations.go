package compat

import "slices"

// combinations proves anyOf, oneOf, not, if and the unevaluated keywords.
func (p *prover) combinations(g goal) bool {
	ok := p.anyOf(g)
	ok = p.oneOf(g) && ok
	ok = p.excluded(g) && ok
	ok = p.condition(g) && ok
	for _, keyword := range []string{"unevaluatedProperties", "unevaluatedItems"} {
		if value, has := g.that.get(keyword); has && value != true {
			ok = p.add(g, keyword, "cannot be compared: it has "+keyword, "cannot be compared: it has "+keyword)
		}
	}
	if g.that.has("$dynamicRef") {
		ok = p.add(g, "$dynamicRef", "cannot be compared: it has $dynamicRef", "cannot be compared: it has $dynamicRef")
	}
	return ok
}

// anyOf needs one alternative that accepts every value. A set with several types may have one alternative per type.
func (p *prover) anyOf(g goal) bool {
	branches := g.that.list("anyOf")
	if len(branches) == 0 {
		return true
	}
	fits := func(these set) bool {
		return slices.ContainsFunc(branches, func(branch place) bool {
			return p.silently(func() bool { return p.shows(goal{these: these, that: branch, path: g.path, depth: g.depth}) })
		})
	}
	if fits(g.these) || p.byKind(g, fits) {
		return true
	}
	return p.add(g, "anyOf", "must match one of "+quoted("anyOf")+" now", "no longer needs to match one of "+quoted("anyOf")+"")
}

// byKind proves a condition separately for each type of a set that has several types.
func (p *prover) byKind(g goal, fits func(set) bool) bool {
	k := g.these.kinds()
	split := [][2]any{{null, "null"}, {boolean, "boolean"}, {text, "string"}, {array, "array"}, {object, "object"}, {integer, "integer"}}
	if k&fraction != 0 {
		split[5] = [2]any{numbers, "number"}
	}
	parts := 0
	for _, one := range split {
		if kind, _ := one[0].(kind); k&kind == 0 {
			continue
		}
		parts++
		made := place{side: g.that.side, value: map[string]any{"type": one[1]}, made: true}
		if !fits(append(slices.Clone(g.these), made)) {
			return false
		}
	}
	return parts > 1
}

// oneOf needs one alternative that accepts every value, and every other alternative must reject them all.
func (p *prover) oneOf(g goal) bool {
	branches := g.that.list("oneOf")
	if len(branches) == 0 {
		return true
	}
	fits := func(these set) bool {
		for i, branch := range branches {
			if !p.silently(func() bool { return p.shows(goal{these: these, that: branch, path: g.path, depth: g.depth}) }) {
				continue
			}
			for j, other := range branches {
				if j != i && !p.apart(append(slices.Clone(these), branch), set{other}, g.depth) {
					return false
				}
			}
			return true
		}
		return false
	}
	if fits(g.these) || p.byKind(g, fits) {
		return true
	}
	return p.add(g, "oneOf", "must match exactly one of "+quoted("oneOf")+" now", "no longer needs to match exactly one of "+quoted("oneOf")+"")
}

func (p *prover) excluded(g goal) bool {
	asked, has := g.that.sub("not")
	if !has || p.apart(g.these, set{asked}, g.depth) {
		return true
	}
	return p.add(g, "not", "now excludes more", "now excludes less")
}

// condition proves if, then and else. A value that fits "if" also fits the set.
func (p *prover) condition(g goal) bool {
	condition, has := g.that.sub("if")
	if !has {
		return true
	}
	ok := true
	if then, has := g.that.sub("then"); has {
		with := append(slices.Clone(g.these), condition)
		ok = p.shows(goal{these: with, that: then, path: g.path, depth: g.depth})
	}
	if otherwise, has := g.that.sub("else"); has {
		ok = p.shows(goal{these: g.these, that: otherwise, path: g.path, depth: g.depth}) && ok
	}
	return ok
}

const deepestApart = 12

// apart proves that no value fits both sets.
func (p *prover) apart(a, b set, depth int) bool {
	p.steps++
	if p.steps > maxSteps || depth > deepestApart*2 {
		return false
	}
	left, never := a.flat()
	right, neither := b.flat()
	if never || neither {
		return true
	}
	shared := left.kinds() & right.kinds()
	if shared == 0 || p.valuesApart(left, right) || p.valuesApart(right, left) {
		return true
	}
	if p.excludes(left, right, depth) || p.excludes(right, left, depth) {
		return true
	}
	if shared != object {
		return false
	}
	return p.membersApart(left, right, depth)
}

// valuesApart handles a set that lists its values: the other set must reject each of them.
func (p *prover) valuesApart(listing, other set) bool {
	values, finite := listing.values()
	return finite && !slices.ContainsFunc(values, func(value any) bool { return !other.refuses(value) && other.kinds()&valueKind(value) != 0 })
}

// excludes handles a set with a "not" that excludes every value of the other set.
func (p *prover) excludes(having, other set, depth int) bool {
	return slices.ContainsFunc(having, func(one place) bool {
		not, ok := one.sub("not")
		if one.not != nil {
			not, ok = *one.not, true
		}
		// The exclusion must hold for objects with any additional properties.
		return ok && p.strictly(func() bool { return p.shows(goal{these: other, that: not, depth: depth}) })
	})
}

// membersApart handles objects: both sets require one property, and its values cannot fit both.
func (p *prover) membersApart(left, right set, depth int) bool {
	l, r := shape{these: left, names: left.described()}, shape{these: right, names: right.described()}
	needed := left.requires()
	for name := range right.requires() {
		needed[name] = true
	}
	for _, name := range sorted(needed) {
		x, _ := l.value(name)
		y, _ := r.value(name)
		if p.apart(x, y, depth+1) {
			return true
		}
	}
	return false
}
