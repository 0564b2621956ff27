package compat

import (
	"maps"
	"slices"
	"strings"
)

// prover tries to prove that every value of a set fits a schema. It appends each constraint that it cannot prove to
// found.
type prover struct {
	subject   string
	added     bool // true if the proof is about whether the new schema accepts every document of the old one
	described bool // treat an object that is open by omission as if it had only described properties
	quiet     bool // do not append to found
	found     []Change
	open      map[string]int // path lengths of the goals under proof; the prover assumes a goal that recurs deeper in the document
	steps     int
}

const (
	maxSteps   = 20_000
	maxChanges = 40
	maxNesting = 200
)

// goal is one statement to prove: every value that fits all schemas of the field these also fits the schema of the
// field that. path is the position of the value in a document.
type goal struct {
	these set
	that  place
	path  string
	depth int
}

func (p *prover) run(a, b *side) bool {
	p.open = map[string]int{}
	if a.named || b.named {
		p.add(goal{that: b.root()}, "", "cannot be compared: one of its schemas has names ($id, $anchor, $dynamicRef) within", "cannot be compared: one of its schemas has names ($id, $anchor, $dynamicRef) within")
		return false
	}
	return p.proves(goal{these: set{a.root()}, that: b.root()})
}

// add records why a goal is not proven, and returns false. It uses the message added if the new schema must accept
// every document, and the message gone if the old schema must.
func (p *prover) add(g goal, keyword, added, gone string) bool {
	if p.quiet || len(p.found) >= maxChanges {
		return false
	}
	pointer := g.that.pointer
	if keyword != "" {
		pointer += "/" + keyword
	}
	subject, message, effect := p.subject, gone, Widens
	if g.path != "" {
		subject = quoted(g.path)
	}
	if p.added {
		message, effect = added, Narrows
	}
	p.found = append(p.found, Change{Effect: effect, Pointer: pointer, Message: subject + " " + message, path: g.path, words: message})
	return false
}

func quoted(path string) string { return "`" + path + "`" }

// silently runs a proof and does not record why the proof fails.
func (p *prover) silently(try func() bool) bool {
	before := p.quiet
	p.quiet = true
	defer func() { p.quiet = before }()
	return try()
}

// proves tries to prove a goal directly, then case by case if the set has alternatives.
func (p *prover) proves(g goal) bool {
	p.steps++
	if p.steps > maxSteps || g.depth > maxNesting {
		return p.add(g, "", "is too complex to compare", "is too complex to compare")
	}
	g.depth++
	key := g.key()
	if length, again := p.open[key]; again {
		// A goal that recurs deeper in the document may be assumed, which is proof by induction. A goal that recurs for the
		// same value may not be assumed, because that assumption would prove every statement.
		return len(g.path) > length || p.add(g, "", "is too complex to compare", "is too complex to compare")
	}
	p.open[key] = len(g.path)
	defer delete(p.open, key)
	flat, never := g.these.flat()
	if never || flat.kinds() == 0 {
		return true
	}
	g.these = flat
	if values, finite := flat.values(); finite {
		return p.provesValues(g, values)
	}
	cases := g.these.cases()
	if len(cases) == 0 {
		return p.provesWhole(g)
	}
	if p.silently(func() bool { return p.provesWhole(g) }) {
		return true
	}
	all := true
	for _, one := range cases {
		part := g
		part.these = one
		all = p.proves(part) && all
	}
	return all
}

func (g goal) key() string { return g.these.key() + "\x01" + g.that.key() }

func (s set) key() string {
	keys := make([]string, 0, len(s))
	for _, p := range s {
		keys = append(keys, p.key())
	}
	slices.Sort(keys)
	return strings.Join(slices.Compact(keys), "\x00")
}

// cases splits a flat set at its first anyOf or oneOf, and returns nil if the set has neither. Properties of all
// alternatives still count as described, so the prover does not report them as unknown.
func (s set) cases() []set {
	for i, p := range s {
		for _, keyword := range []string{"anyOf", "oneOf"} {
			branches := p.list(keyword)
			if len(branches) == 0 {
				continue
			}
			rest := slices.Clone(s)
			rest[i] = p.without(keyword)
			all := make([]set, 0, len(branches))
			for _, branch := range branches {
				all = append(all, append(slices.Clone(rest), branch))
			}
			return all
		}
	}
	return nil
}

// without returns a schema without one keyword, so that cases does not split it at this keyword again.
func (p place) without(keyword string) place {
	members, _ := p.value.(map[string]any)
	members = maps.Clone(members)
	delete(members, keyword)
	return place{side: p.side, pointer: p.pointer, value: members, removed: p.removed + "-" + keyword}
}

// provesValues checks whether each value of an enumerated set fits the schema.
func (p *prover) provesValues(g goal, values []any) bool {
	var refused []string
	for _, value := range values {
		fits, known := g.that.accepts(value)
		if !known {
			if p.silently(func() bool { return p.provesWhole(g) }) {
				return true
			}
			return p.add(g, "", "cannot be compared", "cannot be compared")
		}
		if !fits {
			refused = append(refused, shown(value))
		}
	}
	if len(refused) == 0 {
		return true
	}
	list := listed(refused)
	return p.add(g, "", "no longer accepts "+list, "may also be "+list+" now")
}

// provesWhole tries to prove the keywords of the schema one after the other.
func (p *prover) provesWhole(g goal) bool {
	if takes, ok := g.that.value.(bool); ok {
		return takes || p.add(g, "", "is no longer allowed", "is now allowed")
	}
	if slices.ContainsFunc(g.these, func(one place) bool { return one.removed == "" && !one.conditional && same(one, g.that) }) {
		return true
	}
	ok := p.types(g)
	for _, one := range []func(goal) bool{p.references, p.listed, p.numbers, p.texts, p.items, p.properties, p.combinations} {
		ok = one(g) && ok
	}
	return ok
}

func (p *prover) references(g goal) bool {
	ok := true
	if g.that.has("$ref") {
		target, found := g.that.ref()
		if !found {
			return p.add(g, "$ref", "has a reference that cannot be compared", "has a reference that cannot be compared")
		}
		ok = p.proves(goal{these: g.these, that: target, path: g.path, depth: g.depth})
	}
	for _, part := range g.that.list("allOf") {
		ok = p.proves(goal{these: g.these, that: part, path: g.path, depth: g.depth}) && ok
	}
	return ok
}

func (p *prover) types(g goal) bool {
	may, must := g.these.kinds(), typesOf(g.that)
	if may&^must == 0 {
		return true
	}
	now, was := must.text(), may.text()
	if !p.added {
		now, was = was, now
	}
	return p.add(g, "type", "is "+now+" now; it was "+was, "is "+now+" now; it was "+was)
}

// listed tries to prove enum and const. Only a set that enumerates its values can fit them.
func (p *prover) listed(g goal) bool {
	for _, keyword := range []string{"enum", "const"} {
		value, ok := g.that.get(keyword)
		if !ok {
			continue
		}
		values, _ := value.([]any)
		if keyword == "const" {
			values = []any{value}
		}
		names := make([]string, 0, len(values))
		for _, v := range values {
			names = append(names, shown(v))
		}
		return p.add(g, keyword, "must be "+orOneOf(names)+" now", "need not be "+orOneOf(names)+" any more")
	}
	return true
}

func orOneOf(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return "one of " + listed(names)
}
