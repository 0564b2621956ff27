package schema

import (
	"encoding/json"
	"math/bits"
	"time"
	"unicode/utf8"

	"github.com/atelier-run/atelier/internal/fault"
)

func (e *evaluation) object(n *node, object map[string]any, r *report, own *marks) bool {
	ok := e.counts(r, len(object), n.minProperties, n.maxProperties, "Properties", "property", "properties")
	for _, name := range n.required {
		if _, present := object[name]; !present {
			ok = e.wrong(r, "required", "is required: "+shown(name))
		}
	}
	for _, d := range n.dependentRequired {
		if _, present := object[d.property]; !present {
			continue
		}
		for _, name := range d.needs {
			if _, present := object[name]; !present {
				ok = e.wrong(r, "dependentRequired", "is required if "+shown(d.property)+" is present: "+shown(name))
			}
		}
	}
	if !e.spend(len(n.required)+len(n.dependentRequired)) || (!ok && r == nil) {
		return false
	}
	return e.members(n, object, r, own) && ok
}

// members checks the properties of an object.
func (e *evaluation) members(n *node, object map[string]any, r *report, own *marks) bool {
	if n.properties == nil && n.patterns == nil && n.additional == nil && n.names == nil {
		return true
	}
	ok := e.each(object, r, func(name string, v any) bool {
		fits := n.names == nil || e.name(n.names, name, r)
		return e.member(n, name, v, r, own) && fits
	})
	if n.additional != nil {
		own.everyProperty()
	}
	return ok
}

// each calls fits for the properties of an object until one property does not fit. With a report it visits all
// properties, sorted by name, so that the messages have a fixed order.
func (e *evaluation) each(object map[string]any, r *report, fits func(name string, v any) bool) bool {
	if r == nil {
		for name, v := range object {
			if !e.spend(8) || !fits(name, v) {
				return false
			}
		}
		return true
	}
	if !e.spend(len(object) * (8 + 4*bits.Len(uint(len(object))))) {
		return false
	}
	ok := true
	for _, name := range sortedKeys(object) {
		ok = fits(name, object[name]) && ok
		if e.over() {
			return false
		}
	}
	return ok
}

// name checks a property's name against propertyNames. It reports a problem with the pointer of the object, because a
// name has no pointer.
func (e *evaluation) name(n *node, name string, r *report) bool {
	branch := r.branch()
	if e.fits(n, name, branch, nil) {
		return true
	}
	why := ""
	if branch != nil && len(branch.found) > 0 {
		why = ", which " + branch.found[0].Message
	}
	return e.wrong(r, "propertyNames", "has a property whose name is not allowed: "+shown(name)+why)
}

func (e *evaluation) member(n *node, name string, v any, r *report, own *marks) bool {
	ok, known := true, false
	if sub, has := n.properties[name]; has {
		known = true
		ok = e.at(name, sub, v, r)
	}
	for _, p := range n.patterns {
		if e.matches(p.pattern, name) {
			known = true
			ok = e.at(name, p.node, v, r) && ok
		}
	}
	if known {
		own.property(name)
		return ok
	}
	if n.additional == nil {
		return ok
	}
	return e.extra("additionalProperties", n.additional, name, v, r) && ok
}

// extra checks a property that the schema does not name against n. code is the keyword that contains n.
func (e *evaluation) extra(code string, n *node, name string, v any, r *report) bool {
	if n.never {
		return e.wrong(r, code, "has a property that is not allowed: "+shown(name))
	}
	return e.at(name, n, v, r)
}

func (e *evaluation) array(n *node, array []any, r *report, own *marks) bool {
	ok := e.counts(r, len(array), n.minItems, n.maxItems, "Items", "item", "items")
	if n.unique && len(array) > 1 && (ok || r != nil) {
		ok = e.unique(array, r) && ok
	}
	for i, item := range array {
		sub := n.items
		if i < len(n.prefix) {
			sub = n.prefix[i]
		}
		if sub == nil {
			break
		}
		if e.over() || (!ok && r == nil) {
			return false
		}
		ok = e.at(itoa(i), sub, item, r) && ok
	}
	own.firstItems(min(len(n.prefix), len(array)))
	if n.items != nil {
		own.firstItems(len(array))
	}
	if n.contains != nil && (ok || r != nil) {
		ok = e.contains(n, array, r, own) && ok
	}
	return ok
}

func (e *evaluation) unique(array []any, r *report) bool {
	seen := make(map[string]int, len(array))
	for i, item := range array {
		key := keyOf(item)
		if !e.spend(4 + len(key)/8) {
			return false
		}
		if first, twice := seen[key]; twice {
			return e.wrong(r, "uniqueItems", "must have unique items; those at positions "+itoa(first)+" and "+itoa(i)+" are equal")
		}
		seen[key] = i
	}
	return true
}

func (e *evaluation) contains(n *node, array []any, r *report, own *marks) bool {
	found := 0
	for i, item := range array {
		if e.at(itoa(i), n.contains, item, nil) {
			found++
			if n.marksContained {
				own.item(i)
			}
		}
	}
	least := 1
	if n.minContains != nil {
		least = *n.minContains
	}
	if found < least {
		return e.wrong(r, "contains", "must have at least "+plural(least, "item")+" matching contains")
	}
	if n.maxContains != nil && found > *n.maxContains {
		return e.wrong(r, "maxContains", "must have at most "+plural(*n.maxContains, "item")+" matching contains")
	}
	return true
}

// unevaluated checks the properties and items that no other keyword has evaluated.
func (e *evaluation) unevaluated(n *node, v any, r *report, own *marks) bool {
	if !e.spend(own.size()) {
		return false
	}
	ok := true
	switch v := v.(type) {
	case map[string]any:
		if n.unevaluatedProperties == nil {
			return true
		}
		ok = e.each(v, r, func(name string, value any) bool {
			return own.hasProperty(name) || e.extra("unevaluatedProperties", n.unevaluatedProperties, name, value, r)
		})
		own.everyProperty()
	case []any:
		if n.unevaluatedItems == nil {
			return true
		}
		for i, item := range v {
			if !own.hasItem(i) {
				ok = e.at(itoa(i), n.unevaluatedItems, item, r) && ok
			}
		}
		own.firstItems(len(v))
	}
	return ok
}

func (e *evaluation) text(n *node, s string, r *report) bool {
	if n.minLength == nil && n.maxLength == nil && n.pattern == nil {
		return true
	}
	if !e.spend(len(s) / 8) {
		return false
	}
	ok := true
	if n.minLength != nil || n.maxLength != nil {
		ok = e.counts(r, utf8.RuneCountInString(s), n.minLength, n.maxLength, "Length", "character", "characters")
	}
	if n.pattern != nil && !e.matches(n.pattern, s) {
		ok = e.wrong(r, "pattern", "must match the pattern "+cut(n.pattern.text, 200))
	}
	return ok
}

// matches reports whether a text matches a pattern. It costs steps in proportion to the size of the pattern and the
// length of the text. A pattern that may backtrack has a time limit.
func (e *evaluation) matches(p *pattern, s string) bool {
	if p.re2 != nil {
		return e.spend(4+p.size*(len(s)+1)/8) && p.re2.MatchString(s)
	}
	if !e.spend(64 + len(s)) {
		return false
	}
	start := time.Now()
	fits, err := p.ecma.MatchString(s)
	e.slow -= time.Since(start)
	if (err != nil || e.slow < 0) && e.stopped == nil {
		e.stopped = &fault.Detail{Pointer: e.pointer(), Code: TooComplex,
			Message: "takes too long to match the pattern " + cut(p.text, 200) + "; rewrite it without look-around and nested repetitions"}
	}
	return fits && err == nil
}

func (e *evaluation) number(n *node, literal json.Number, r *report) bool {
	if n.minimum == nil && n.maximum == nil && n.above == nil && n.below == nil && n.multiple == nil {
		return true
	}
	if !e.spend(len(literal) / 4) {
		return false
	}
	d, _ := parseDecimal(string(literal))
	ok := true
	if n.minimum != nil && d.compare(*n.minimum) < 0 {
		ok = e.wrong(r, "minimum", "must be at least "+n.minimum.String())
	}
	if n.maximum != nil && d.compare(*n.maximum) > 0 {
		ok = e.wrong(r, "maximum", "must be at most "+n.maximum.String())
	}
	if n.above != nil && d.compare(*n.above) <= 0 {
		ok = e.wrong(r, "exclusiveMinimum", "must be greater than "+n.above.String())
	}
	if n.below != nil && d.compare(*n.below) >= 0 {
		ok = e.wrong(r, "exclusiveMaximum", "must be less than "+n.below.String())
	}
	if n.multiple == nil {
		return ok
	}
	switch fits, known := d.multipleOf(*n.multiple); {
	case !known:
		ok = e.wrong(r, "multipleOf", "has too many digits to check whether it is a multiple of "+n.multiple.String())
	case !fits:
		ok = e.wrong(r, "multipleOf", "must be a multiple of "+n.multiple.String())
	}
	return ok && e.spend(16)
}

// counts checks a number of items, properties or characters against its limits. suffix completes the keyword: for Items
// the keywords are minItems and maxItems.
func (e *evaluation) counts(r *report, have int, least, most *int, suffix, one, many string) bool {
	ok := true
	if least != nil && have < *least {
		ok = e.wrong(r, "min"+suffix, "must have at least "+quantity(*least, one, many))
	}
	if most != nil && have > *most {
		ok = e.wrong(r, "max"+suffix, "must have at most "+quantity(*most, one, many))
	}
	return ok
}
