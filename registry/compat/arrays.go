package compat

// row describes the items of an array under one schema: schemas for the first items by position, and a schema for the
// remaining items.
type row struct {
	first []place
	rest  *place
}

func (p place) row() row {
	if prefix := p.list("prefixItems"); len(prefix) > 0 {
		return row{prefix, p.optional("items")}
	}
	if value, ok := p.get("items"); ok {
		if _, positions := value.([]any); positions && p.side.draft7 {
			return row{p.list("items"), p.optional("additionalItems")}
		}
	}
	return row{nil, p.optional("items")}
}

func (p place) optional(keyword string) *place {
	if sub, ok := p.sub(keyword); ok {
		return &sub
	}
	return nil
}

// item returns the schemas for the item at a position. Beyond the last position of the row, item returns the schemas
// for the remaining items.
func (s set) item(position int) set {
	var all set
	for _, p := range s {
		switch r := p.row(); {
		case position < len(r.first):
			all = append(all, r.first[position])
		case r.rest != nil:
			all = append(all, *r.rest)
		}
	}
	return all
}

// positions returns the number of array positions for which a flat set has separate schemas.
func (s set) positions() int {
	n := 0
	for _, p := range s {
		n = max(n, len(p.row().first))
	}
	return n
}

// longest returns the maximum number of items that a flat set allows in an array. limited is false if the set has no
// maximum.
func (s set) longest() (n int, limited bool) {
	n, limited = s.most("maxItems")
	for _, p := range s {
		if r := p.row(); r.rest != nil && !p.conditional && r.rest.value == false && (!limited || len(r.first) < n) {
			n, limited = len(r.first), true
		}
	}
	return n, limited
}

func (p *prover) items(g goal) bool {
	if g.these.kinds()&array == 0 {
		return true
	}
	longest, limited := g.these.longest()
	ok := p.sizes(g, "minItems", "maxItems", "items", g.these.least("minItems"), longest, limited)
	if unique, _ := g.that.get("uniqueItems"); unique == true && (!limited || longest > 1) && !g.these.unique() {
		ok = p.add(g, "uniqueItems", "must now have unique items", "may now have duplicate items")
	}
	asked := g.that.row()
	for i := range max(len(asked.first), g.these.positions()) {
		if limited && i >= longest {
			break
		}
		if i < len(asked.first) {
			ok = p.item(g, i, asked.first[i]) && ok
		} else if asked.rest != nil {
			ok = p.item(g, i, *asked.rest) && ok
		}
	}
	if beyond := max(len(asked.first), g.these.positions()); asked.rest != nil && (!limited || longest > beyond) {
		ok = p.item(g, beyond, *asked.rest) && ok
	}
	return ok
}

func (p *prover) item(g goal, position int, asked place) bool {
	return p.proves(goal{these: g.these.item(position), that: asked, path: g.path + "[]", depth: g.depth})
}

func (s set) unique() bool {
	for _, p := range s {
		if unique, _ := p.get("uniqueItems"); unique == true {
			return true
		}
	}
	return false
}
