package compat

import (
	"encoding/json"
	"math/big"
	"strconv"

	"github.com/atelier-run/atelier/registry/schema"
)

func rational(n json.Number) (*big.Rat, bool) { return new(big.Rat).SetString(string(n)) }

// bound is one end of a range. A nil value means unbounded.
type bound struct {
	value *big.Rat
	open  bool // the range excludes the value itself
}

// bounds returns the range of numbers that a flat set allows. If the set allows only integers, both bounds are
// integers.
func (s set) bounds() (low, high bound) {
	for _, p := range s {
		low = low.tightest(p.bound("minimum", false), 1)
		low = low.tightest(p.bound("exclusiveMinimum", true), 1)
		high = high.tightest(p.bound("maximum", false), -1)
		high = high.tightest(p.bound("exclusiveMaximum", true), -1)
	}
	if s.kinds()&fraction == 0 {
		low, high = low.whole(1), high.whole(-1)
	}
	return low, high
}

func (p place) bound(keyword string, open bool) bound {
	n, ok := p.number(keyword)
	if !ok {
		return bound{}
	}
	value, _ := rational(n)
	return bound{value, open}
}

// tightest returns the narrower of two bounds. inwards is 1 for the lower bound and -1 for the upper.
func (b bound) tightest(other bound, inwards int) bound {
	switch {
	case other.value == nil:
		return b
	case b.value == nil:
		return other
	}
	switch order := other.value.Cmp(b.value) * inwards; {
	case order > 0, order == 0 && other.open:
		return other
	}
	return b
}

func (b bound) whole(inwards int) bound {
	if b.value == nil {
		return b
	}
	if b.value.IsInt() {
		if b.open {
			return bound{value: new(big.Rat).Add(b.value, big.NewRat(int64(inwards), 1))}
		}
		return b
	}
	floor := new(big.Int).Div(b.value.Num(), b.value.Denom()) // Div is Euclidean division: it rounds down for a positive divisor
	if inwards > 0 {
		floor.Add(floor, big.NewInt(1))
	}
	return bound{value: new(big.Rat).SetInt(floor)}
}

// within reports whether the bound b is at least as narrow as the bound asked.
func (b bound) within(asked bound, inwards int) bool {
	if b.value == nil {
		return false
	}
	order := b.value.Cmp(asked.value) * inwards
	return order > 0 || (order == 0 && (b.open || !asked.open))
}

func (p *prover) numbers(g goal) bool {
	if g.these.kinds()&numbers == 0 {
		return true
	}
	low, high := g.these.bounds()
	ok := true
	for _, one := range []struct {
		keyword, words, gone string
		open                 bool
		inwards              int
		is                   bound
	}{
		{"minimum", "at least", "below", false, 1, low}, {"exclusiveMinimum", "greater than", "as low as", true, 1, low},
		{"maximum", "at most", "above", false, -1, high}, {"exclusiveMaximum", "less than", "as high as", true, -1, high},
	} {
		asked := g.that.bound(one.keyword, one.open)
		if asked.value == nil || one.is.within(asked, one.inwards) {
			continue
		}
		n, _ := g.that.number(one.keyword)
		was := ""
		if one.is.value != nil {
			was = "; the limit was " + one.is.text()
		}
		ok = p.add(g, one.keyword, "must be "+one.words+" "+string(n)+" now"+was, "may be "+one.gone+" "+string(n)+" now")
	}
	return p.multiples(g) && ok
}

func (b bound) text() string {
	if b.value.IsInt() {
		return b.value.Num().String()
	}
	f, _ := b.value.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}

func (p *prover) multiples(g goal) bool {
	n, ok := g.that.number("multipleOf")
	if !ok {
		return true
	}
	step, _ := rational(n)
	for _, one := range g.these {
		if has, ok := one.number("multipleOf"); ok {
			own, _ := rational(has)
			if new(big.Rat).Quo(own, step).IsInt() {
				return true
			}
		}
	}
	return p.add(g, "multipleOf", "must be a multiple of "+string(n)+" now", "need not be a multiple of "+string(n)+" any more")
}

// most and least return the strictest limit that a flat set has under a keyword such as maxItems.
func (s set) most(keyword string) (n int, ok bool) {
	for _, p := range s {
		if here, has := p.count(keyword); has && (!ok || here < n) {
			n, ok = here, true
		}
	}
	return n, ok
}

func (s set) least(keyword string) int {
	n := 0
	for _, p := range s {
		if here, has := p.count(keyword); has {
			n = max(n, here)
		}
	}
	return n
}

// sizes tries to prove two keywords such as minItems and maxItems, whose names are lowest and highest. Every value of
// the set has at least atLeast elements. If limited is true, every value also has at most atMost elements.
func (p *prover) sizes(g goal, lowest, highest, unit string, atLeast, atMost int, limited bool) bool {
	ok := true
	if asked, has := g.that.count(lowest); has && asked > atLeast {
		n := strconv.Itoa(asked)
		ok = p.add(g, lowest, "must have at least "+n+" "+unit+" now", "may have fewer than "+n+" "+unit+" now")
	}
	if asked, has := g.that.count(highest); has && (!limited || asked < atMost) {
		n := strconv.Itoa(asked)
		ok = p.add(g, highest, "must have at most "+n+" "+unit+" now", "may have more than "+n+" "+unit+" now")
	}
	return ok
}

func (p *prover) texts(g goal) bool {
	if g.these.kinds()&text == 0 {
		return true
	}
	longest, limited := g.these.most("maxLength")
	ok := p.sizes(g, "minLength", "maxLength", "characters", g.these.least("minLength"), longest, limited)
	if pattern, has := g.that.text("pattern"); has && !g.these.add("pattern", pattern) {
		ok = p.add(g, "pattern", "must match "+shown(pattern)+" now", "need not match "+shown(pattern)+" any more")
	}
	if format, has := g.that.text("format"); has && schema.Asserts(format) && !g.these.add("format", format) {
		ok = p.add(g, "format", "must have the format "+format+" now", "need not have the format "+format+" any more")
	}
	return ok
}

// add reports whether one of the schemas has the keyword with this value.
func (s set) add(keyword, value string) bool {
	for _, p := range s {
		if here, ok := p.text(keyword); ok && here == value {
			return true
		}
	}
	return false
}
