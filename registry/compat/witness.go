package compat

import (
	"encoding/json"
	"math/big"
	"slices"
	"strings"
)

const (
	maxTries   = 20_000 // maximum number of documents to try
	maxPerPart = 24     // maximum number of values per subschema
	maxDepth   = 3
)

// witness searches for a document that one side accepts and the other rejects. It returns nil if it finds none. It
// builds documents from the values, limits and lengths in both schemas.
func witness(accepting, rejecting *side) json.RawMessage {
	m := maker{both: []*side{accepting, rejecting}, tries: maxTries}
	m.pool()
	for _, value := range m.values(set{accepting.root()}, set{rejecting.root()}, 0) {
		text, err := json.Marshal(value)
		if err != nil || len(accepting.compiled.Validate(text)) > 0 {
			continue
		}
		if len(rejecting.compiled.Validate(text)) > 0 {
			return text
		}
	}
	return nil
}

type maker struct {
	both    []*side
	tries   int
	numbers []any
	texts   []any
	lengths []int
}

// pool collects the numbers and texts of both schemas.
func (m *maker) pool() {
	numbers, texts := map[string]bool{"0": true, "1": true, "-1": true, "0.5": true}, map[string]bool{"": true, "a": true}
	lengths := map[int]bool{0: true, 1: true}
	for _, s := range m.both {
		everyValue(s.doc, func(value any) {
			switch v := value.(type) {
			case json.Number:
				r, ok := rational(v)
				if !ok || len(v) > 30 {
					return
				}
				for _, step := range []int64{-1, 0, 1} {
					if near := new(big.Rat).Add(r, big.NewRat(step, 1)); near.IsInt() {
						numbers[near.Num().String()] = true
					} else {
						numbers[near.FloatString(6)] = true
					}
				}
				if r.IsInt() && r.Num().IsInt64() && r.Num().Int64() >= 0 && r.Num().Int64() < 300 {
					n := int(r.Num().Int64())
					lengths[n], lengths[n+1], lengths[max(0, n-1)] = true, true, true
				}
			case string:
				if len(v) < 200 {
					texts[v] = true
				}
			}
		})
	}
	for n := range lengths {
		texts[strings.Repeat("x", n)] = true
		m.lengths = append(m.lengths, n)
	}
	slices.Sort(m.lengths)
	for _, n := range sorted(numbers) {
		m.numbers = append(m.numbers, json.Number(n))
	}
	for _, example := range []string{"2026-11-30", "2026-11-30T12:00:00Z", "12:00:00Z", "P1D", "a@example.com", "https://example.com/a",
		"9b2c1e7e-8f60-4a2c-9c55-0d7b8d3f5a10", "192.0.2.1", "2001:db8::1", "example.com", "/a/0", "A1"} {
		texts[example] = true
	}
	for _, text := range sorted(texts) {
		m.texts = append(m.texts, text)
	}
}

func everyValue(value any, visit func(any)) {
	visit(value)
	switch v := value.(type) {
	case map[string]any:
		for _, name := range sorted(v) {
			everyValue(v[name], visit)
		}
	case []any:
		for _, item := range v {
			everyValue(item, visit)
		}
	}
}

// values generates values that may fit the set a, with the set b as a hint. The caller checks which values fit.
func (m *maker) values(a, b set, depth int) []any {
	var all []any
	a.applicable(func(p place) { all = append(all, append(p.enum(), p.constant()...)...) })
	may := anything
	if flat, _ := a.flat(); len(flat) > 0 {
		may = flat.kinds()
	}
	if may&null != 0 {
		all = append(all, nil)
	}
	if may&boolean != 0 {
		all = append(all, true, false)
	}
	deep := depth > maxDepth || m.tries <= 0
	if may&object != 0 && deep {
		all = append(all, map[string]any{})
	} else if may&object != 0 {
		all = append(all, m.objects(a, b, depth)...)
	}
	if may&array != 0 && deep {
		all = append(all, []any{})
	} else if may&array != 0 {
		all = append(all, m.arrays(a, b, depth)...)
	}
	if may&text != 0 {
		all = append(all, m.texts...)
	}
	if may&numbers != 0 {
		all = append(all, m.numbers...)
	}
	return m.some(a, b, all, depth)
}

// some returns a bounded number of values that fit the set a. It prefers values that the set b rejects. At the top
// level it returns all values.
func (m *maker) some(a, b set, all []any, depth int) []any {
	if depth == 0 {
		return all
	}
	m.tries -= len(all)
	var wanted, fitting []any
	for _, value := range all {
		switch {
		case a.rejects(value):
		case b.rejects(value):
			wanted = append(wanted, value)
		default:
			fitting = append(fitting, value)
		}
	}
	return append(spread(wanted), spread(fitting)...)
}

// spread selects values at even distances, so that the selection contains every kind of value.
func spread(all []any) []any {
	if len(all) <= maxPerPart {
		return all
	}
	some := make([]any, 0, maxPerPart)
	for i := range maxPerPart {
		some = append(some, all[i*len(all)/maxPerPart])
	}
	return some
}

// objects generates an object with all described properties, a minimal one, and variants with one changed property.
func (m *maker) objects(a, b set, depth int) []any {
	mine, theirs := a.members(), b.members()
	described := a.described()
	for name := range theirs.named {
		described[name] = true
	}
	flat, _ := a.flat()
	required := flat.requires()
	choices := map[string][]any{}
	for _, name := range sorted(described) {
		these := mine.named[name]
		if len(these) == 0 {
			these = mine.rest
		}
		choices[name] = m.any(these, theirs.named[name], depth+1)
	}
	others := m.any(mine.rest, theirs.rest, depth+1)
	whole, least := map[string]any{}, map[string]any{}
	for name, values := range choices {
		if len(values) == 0 {
			continue
		}
		if _, known := mine.named[name]; known {
			whole[name] = values[0]
		}
		if required[name] {
			least[name] = values[0]
		}
	}
	all := []any{whole, least, map[string]any{}}
	for _, base := range []map[string]any{least, whole} {
		for _, name := range sorted(choices) {
			all = append(all, with(base, name, nil, true))
			for _, value := range choices[name] {
				all = append(all, with(base, name, value, false))
			}
		}
		for _, other := range others {
			all = append(all, with(base, "x-other", other, false))
		}
	}
	return all
}

// any generates values for each schema separately. The schemas may contradict each other, so that no value fits all of
// them.
func (m *maker) any(a, b set, depth int) []any {
	all := m.values(nil, b, depth)
	for _, p := range a {
		all = append(m.values(set{p}, b, depth), all...)
	}
	return all
}

func with(base map[string]any, name string, value any, drop bool) map[string]any {
	one := make(map[string]any, len(base)+1)
	for key, v := range base {
		one[key] = v
	}
	if drop {
		delete(one, name)
	} else {
		one[name] = value
	}
	return one
}

// arrays generates arrays of the lengths that the schemas mention.
func (m *maker) arrays(a, b set, depth int) []any {
	flat, _ := a.flat()
	theirs := b.members().items
	all := []any{[]any{}}
	first := m.values(flat.item(0), theirs, depth+1)
	for _, item := range first {
		all = append(all, []any{item})
	}
	for _, n := range m.lengths {
		if n > 12 || len(first) == 0 {
			continue
		}
		alike, mixed := make([]any, n), make([]any, n)
		for i := range n {
			alike[i] = first[0]
			if choices := m.values(flat.item(i), theirs, depth+1); len(choices) > 0 {
				mixed[i] = choices[i%len(choices)]
				if i < flat.positions() {
					alike[i] = choices[0]
				}
			}
		}
		all = append(all, alike, mixed)
	}
	return all
}
