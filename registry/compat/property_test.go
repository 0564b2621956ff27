package compat_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/atelier-run/atelier/registry/compat"
	"github.com/atelier-run/atelier/registry/schema"
)

const (
	seeds     = 200 // pairs of schemas
	documents = 60  // per pair
)

// trial holds a pair of schemas, the result of their comparison and the checked documents.
type trial struct {
	what   string
	result compat.Result
	seen   []document
}

type document struct {
	text          string
	taken, taking bool // accepted by the old schema, accepted by the new schema
	onlyDescribed bool
}

// lies returns a message for each document that contradicts a result.
func (t trial) lies(r compat.Result) []string {
	var all []string
	for _, d := range t.seen {
		forward := d.taken && !d.taking && (r.Forward == compat.Yes || (r.Forward == compat.Described && d.onlyDescribed))
		backward := d.taking && !d.taken && r.Backward == compat.Yes
		if forward || backward {
			all = append(all, fmt.Sprintf("%s\n  forward %s, backward %s, and there is %s", t.what, r.Forward, r.Backward, d.text))
		}
	}
	return all
}

// TestNoCounterExample compares generated schemas and searches for documents that contradict the answers. To show that
// it detects wrong answers, it also alters the answers and expects the documents to contradict them.
func TestNoCounterExample(t *testing.T) {
	t.Parallel()
	wrong := map[string]func(r compat.Result) compat.Result{
		"never narrower": func(r compat.Result) compat.Result { r.Forward = compat.Yes; return r },
		"never wider":    func(r compat.Result) compat.Result { r.Backward = compat.Yes; return r },
		"open as if described": func(r compat.Result) compat.Result {
			if r.Forward == compat.Described {
				r.Forward = compat.Yes
			}
			return r
		},
	}
	answers, foundOut := map[compat.Answer]int{}, map[string]int{}
	for seed := range uint64(seeds) {
		one, ok := try(t, seed)
		if !ok {
			continue
		}
		answers[one.result.Forward]++
		for _, lie := range one.lies(one.result) {
			t.Error(lie)
		}
		for name, falsify := range wrong {
			foundOut[name] += len(one.lies(falsify(one.result)))
		}
	}
	t.Logf("%d pairs of schemas, %d documents each: %v; planted faults detected: %v", seeds, documents, answers, foundOut)
	for answer, least := range map[compat.Answer]int{compat.Yes: 30, compat.No: 30, compat.Described: 2} {
		if answers[answer] < least {
			t.Errorf("the answer %s was given only %d times", answer, answers[answer])
		}
	}
	for name := range wrong {
		if foundOut[name] == 0 {
			t.Errorf("no document contradicts the planted fault %q", name)
		}
	}
}

// FuzzNoCounterExample continues TestNoCounterExample with other seeds.
func FuzzNoCounterExample(f *testing.F) {
	f.Add(uint64(0))
	f.Add(uint64(15426))                                                       // a case ignored the properties of another alternative
	f.Add(uint64(2388))                                                        // a case of one part of allOf was used to prove itself
	for _, seed := range []uint64{34407, 38912, 40079, 50428, 68600, 122457} { // properties described by an alternative were unknown in other cases
		f.Add(seed)
	}
	f.Add(uint64(160702)) // contains was mistaken for a description of the items
	f.Fuzz(func(t *testing.T, seed uint64) {
		one, _ := try(t, seed)
		for _, lie := range one.lies(one.result) {
			t.Error(lie)
		}
	})
}

// try compares a pair of schemas. ok is false if the generator made an invalid schema.
func try(t *testing.T, seed uint64) (one trial, ok bool) {
	t.Helper()
	d := dice{rand.New(rand.NewPCG(seed, 7))}
	before := d.schema(0)
	after := d.changed(d.changed(before))
	old, errOld := schema.Compile(written(t, before))
	now, errNow := schema.Compile(written(t, after))
	if errOld != nil || errNow != nil {
		return trial{}, false
	}
	r, err := compat.Compare(written(t, before), written(t, after), "it")
	if err != nil {
		t.Fatal(err)
	}
	one = trial{what: fmt.Sprintf("seed %d:\n  old %s\n  new %s", seed, written(t, before), written(t, after)), result: r}
	for range documents {
		value := d.document(before, after)
		text, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		one.seen = append(one.seen, document{string(text), len(old.Validate(text)) == 0, len(now.Validate(text)) == 0, describes(understood(before), value)})
	}
	return one, true
}

// written encodes a generated schema; some use draft-07.
func written(t *testing.T, s any) json.RawMessage {
	t.Helper()
	object, ok := s.(map[string]any)
	if ok {
		whole := map[string]any{"$defs": map[string]any{"leaf": map[string]any{"type": "integer", "minimum": 1}, "tree": map[string]any{
			"type": "object", "properties": map[string]any{"a": map[string]any{"$ref": "#/$defs/tree"}, "b": map[string]any{"$ref": "#/$defs/leaf"}},
		}}}
		for k, v := range object {
			whole[k] = v
		}
		if object["title"] == "7" {
			whole["$schema"] = "http://json-schema.org/draft-07/schema#"
		}
		s = whole
	}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// understood returns a schema without the keywords that its dialect ignores: draft-07 ignores newer keywords and
// everything next to a reference.
func understood(s any) any {
	object, ok := s.(map[string]any)
	if !ok || object["title"] != "7" {
		return s
	}
	return asDraft7(s)
}

func asDraft7(s any) any {
	switch s := s.(type) {
	case []any:
		all := make([]any, len(s))
		for i, part := range s {
			all[i] = asDraft7(part)
		}
		return all
	case map[string]any:
		if ref, ok := s["$ref"].(string); ok {
			return map[string]any{"$ref": ref}
		}
		kept := map[string]any{}
		for keyword, part := range s {
			switch keyword {
			case "dependentRequired", "dependentSchemas", "minContains", "maxContains", "unevaluatedProperties", "unevaluatedItems", "prefixItems":
			default:
				kept[keyword] = asDraft7(part)
			}
		}
		return kept
	}
	return s
}

// describes reports whether all objects in a value have only properties that the schema describes. Objects whose schema
// explicitly allows or rejects other properties do not count. The function shares no code with the package under test.
func describes(s, value any) bool {
	object, ok := value.(map[string]any)
	if !ok {
		items, _ := value.([]any)
		return !slices.ContainsFunc(items, func(item any) bool { return !describesAll(itemSchemas(s), item) })
	}
	names := map[string][]any{}
	open := spoken(s, names)
	for name, member := range object {
		subs, known := names[name]
		if (!known && !open && len(names) > 0) || !describesAll(subs, member) {
			return false
		}
	}
	return true
}

func describesAll(schemas []any, value any) bool {
	merged := map[string]any{"allOf": schemas}
	return describes(merged, value)
}

func itemSchemas(s any) []any {
	var all []any
	inPlace(s, func(object map[string]any) {
		if items, ok := object["items"]; ok {
			all = append(all, items)
		}
		first, _ := object["prefixItems"].([]any)
		all = append(all, first...)
	})
	return all
}

// spoken collects the schemas of named properties and reports whether a keyword allows or rejects other properties.
func spoken(s any, names map[string][]any) (open bool) {
	inPlace(s, func(object map[string]any) {
		properties, _ := object["properties"].(map[string]any)
		for name, sub := range properties {
			names[name] = append(names[name], sub)
		}
		patterns, _ := object["patternProperties"].(map[string]any)
		for pattern, sub := range patterns {
			names["a"] = append(names["a"], sub)
			if pattern == "[ab]" {
				names["b"] = append(names["b"], sub)
			}
		}
		required, _ := object["required"].([]any)
		for _, name := range required {
			names[name.(string)] = append(names[name.(string)], true)
		}
		dependent, _ := object["dependentRequired"].(map[string]any)
		for name, others := range dependent {
			names[name] = append(names[name], true)
			for _, other := range others.([]any) {
				names[other.(string)] = append(names[other.(string)], true)
			}
		}
		for _, keyword := range []string{"additionalProperties", "unevaluatedProperties", "propertyNames"} {
			_, has := object[keyword]
			open = open || has
		}
	})
	return open
}

func inPlace(s any, visit func(map[string]any)) {
	object, ok := s.(map[string]any)
	if !ok {
		return
	}
	if object["$ref"] == "#/$defs/tree" {
		inPlace(map[string]any{"properties": map[string]any{"a": map[string]any{"$ref": "#/$defs/tree"}, "b": true}}, visit)
	}
	visit(object)
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		parts, _ := object[keyword].([]any)
		for _, part := range parts {
			inPlace(part, visit)
		}
	}
	for _, keyword := range []string{"if", "then", "else"} {
		inPlace(object[keyword], visit)
	}
}
