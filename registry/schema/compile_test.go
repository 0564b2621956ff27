package schema_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry/schema"
)

func TestCompileRefuses(t *testing.T) {
	t.Parallel()
	const (
		elsewhere = "must not refer to another document; copy the schema to $defs and refer to #/$defs/name"
		itself    = "refers to itself for the same value, so validation would never end"
		bad       = "is not a regular expression of ECMA-262, which clients of the agent use; check brackets, groups and escapes"
	)
	tests := map[string]struct {
		in   string
		want []string // pointer: code: message
	}{
		"no JSON":               {`{"type":`, []string{"/type: syntax: is incomplete"}},
		"two documents":         {`{} {}`, []string{": syntax: has extra content after the JSON value"}},
		"key twice":             {`{"type":"object","type":"array"}`, []string{"/type: duplicate_key: is a duplicate name in its object"}},
		"a number":              {`5`, []string{": type: must be a boolean or an object"}},
		"unknown type":          {`{"properties":{"a":{"type":"strnig"}}}`, []string{`/properties/a/type: enum: must be one of: "array", "boolean", "integer", "null", "number", "object", "string"`}},
		"wrong shapes":          {`{"properties":{"a":5,"b":{"required":"x","minLength":-1}}}`, []string{"/properties/a: type: must be a boolean or an object", "/properties/b/minLength: minimum: must be at least 0", "/properties/b/required: type: must be an array"}},
		"other dialect":         {`{"$schema":"http://json-schema.org/draft-04/schema#"}`, []string{"/$schema: $schema: must be https://json-schema.org/draft/2020-12/schema (the default) or http://json-schema.org/draft-07/schema#"}},
		"$recursiveRef":         {`{"properties":{"a":{"$recursiveRef":"#"}}}`, []string{"/properties/a/$recursiveRef: $ref: belongs to draft 2019-09; use $ref or $dynamicRef"}},
		"another host":          {`{"properties":{"a":{"$ref":"https://example.com/x.json#/a"}}}`, []string{"/properties/a/$ref: $ref: " + elsewhere}},
		"a file":                {`{"$ref":"file:///etc/passwd"}`, []string{"/$ref: $ref: " + elsewhere}},
		"a relative file":       {`{"items":{"$ref":"./other.json"}}`, []string{"/items/$ref: $ref: " + elsewhere}},
		"another host by $id":   {`{"$id":"https://example.com/a/","items":{"$ref":"b.json"}}`, []string{"/items/$ref: $ref: " + elsewhere}},
		"no such location":      {`{"properties":{"a":{"$ref":"#/$defs/a"}}}`, []string{"/properties/a/$ref: $ref: refers to a location that does not exist in the schema"}},
		"no such anchor":        {`{"properties":{"a":{"$ref":"#a"}}}`, []string{"/properties/a/$ref: $ref: refers to an anchor that does not exist in the schema"}},
		"no schema there":       {`{"$ref":"#/x","x":{"type":5}}`, []string{"/x: $ref: is the target of a reference but is not a schema"}},
		"itself":                {`{"$ref":"#"}`, []string{": schema_too_complex: " + itself}},
		"itself by detours":     {`{"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"}]},"b":{"not":{"$ref":"#/$defs/a"}}},"items":{"$ref":"#/$defs/a"}}`, []string{"/$defs/a: schema_too_complex: " + itself}},
		"itself by condition":   {`{"if":{"$ref":"#"}}`, []string{": schema_too_complex: " + itself}},
		"itself by dependency":  {`{"dependentSchemas":{"a":{"$ref":"#"}}}`, []string{": schema_too_complex: " + itself}},
		"itself dynamically":    {`{"$dynamicAnchor":"x","allOf":[{"$dynamicRef":"#x"}]}`, []string{": schema_too_complex: " + itself}},
		"itself, but elsewhere": {`{"$dynamicAnchor":"x","items":{"$ref":"#/$defs/l"},"$defs":{"l":{"$id":"l","$dynamicAnchor":"x","allOf":[{"$dynamicRef":"#x"}]}}}`, []string{"/$defs/l: schema_too_complex: " + itself}},
		"bad pattern":           {`{"properties":{"a/b":{"pattern":"[a"}}}`, []string{"/properties/a~1b/pattern: format: " + bad}},
		"bad pattern of keys":   {`{"patternProperties":{"(":{}}}`, []string{"/patternProperties: propertyNames: has a property whose name is not allowed: (, which " + bad}},
		"large pattern":         {`{"pattern":"` + strings.Repeat("a{1,1000}", 11) + `"}`, []string{"/pattern: format: has repetitions that are too large; use smaller counts, or minLength and maxLength"}},
		"long pattern":          {`{"pattern":"` + strings.Repeat("a", 2001) + `"}`, []string{"/pattern: format: must have at most 2000 bytes; split it, or check the value in the program"}},
		"deep brackets":         {`{"pattern":"` + strings.Repeat("(", 1990) + `"}`, []string{"/pattern: format: " + bad}},
		"deep":                  {nest(`{"items":`, 64), []string{strings.Repeat("/items", 64) + ": too_deep: is nested deeper than 64 levels"}},
		"huge number":           {`{"minimum":1e308,"maximum":1e-999999}`, []string{"/maximum: schema_too_complex: has too many digits"}},
		"long enum":             {`{"enum":[` + strings.Repeat("1,", 1000) + `2]}`, []string{"/enum: schema_too_complex: has more than 1000 values; use a pattern or a check in the program"}},
		"many values":           {`{"allOf":[` + strings.Repeat("{},", 4000) + `{}]}`, []string{": schema_too_complex: has more than 4000 values"}},
		"many names":            {`{"allOf":[` + strings.Repeat(`{"$anchor":"x"},`, 256) + `{"$id":"y"}]}`, []string{"/allOf/256: schema_too_complex: is one of more than 256 named schemas"}},
		"same names":            {`{"allOf":[{"$id":"x"},{"$id":"x"}]}`, []string{": schema: cannot be compiled: check every $id, $anchor and $ref"}},
		"many stray references": {strays(65), []string{"/allOf/64/$ref: schema_too_complex: is one of more than 64 references to locations without a schema; put shared schemas under $defs"}},
		"a long chain":          {chain(200), []string{"/$defs/d72: schema_too_complex: nests more than 128 references and combinations for one value"}},
		"too many bytes":        {`{"title":"` + strings.Repeat("x", 256<<10) + `"}`, []string{": too_large: is larger than the limit of 256 KiB"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := schema.Compile(json.RawMessage(tt.in))
			if diff := cmp.Diff(tt.want, detailsOf(err)); diff != "" {
				t.Errorf("%v\n%s", err, diff)
			}
		})
	}
}

func TestCompileAccepts(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]string{
		"absent":             ``,
		"null":               `null`,
		"empty":              `{}`,
		"true":               `true`,
		"recursion downward": `{"type":"object","properties":{"next":{"$ref":"#"}}}`,
		"64 stray refs":      strays(64),
		"a chain of 120":     chain(120),
		"expansion in time":  bomb(11),
		"draft-07":           `{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"a":{"type":"string"}},"properties":{"x":{"$ref":"#/definitions/a"}}}`,
		"the meta-schema":    `{"$ref":"https://json-schema.org/draft/2020-12/schema"}`,
		"look-ahead":         `{"pattern":"^(?=.*[0-9])(?!.*x).+$"}`,
		"back reference":     `{"pattern":"^(a|b)\\1$"}`,
		"1000 enum values":   `{"enum":[` + strings.Repeat("1,", 999) + `2]}`,
		"unknown keywords":   `{"x-order":1,"discriminator":{"propertyName":"a"},"nullable":true}`,
		"anchor in example":  `{"examples":[{"$dynamicAnchor":"5 5","type":"nonsense"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := schema.Compile(json.RawMessage(in)); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestCompileIsBounded compiles schemas that would take the library minutes or much memory.
func TestCompileIsBounded(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]string{
		"doubled 24 times": bomb(24),
		"doubled 60 times": bomb(60),
		"ten to the tenth": fan(10, 10),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := schema.Compile(json.RawMessage(in)) // must return in time
			details := detailsOf(err)
			if len(details) != 1 || !strings.Contains(details[0], "schema_too_complex: expands to more than 10000 schemas") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestCheckInput(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		in string
		ok bool
	}{
		"absent":               {``, true},
		"empty":                {`{}`, true},
		"object":               {`{"type":"object"}`, true},
		"object in a list":     {`{"type":["object"]}`, true},
		"object by reference":  {`{"$ref":"#/$defs/a","$defs":{"a":{"type":"object"}}}`, true},
		"object by allOf":      {`{"allOf":[{"title":"x"},{"type":"object"}]}`, true},
		"objects by anyOf":     {`{"anyOf":[{"type":"object"},{"$ref":"#/anyOf/0"}]}`, true},
		"an object or nothing": {`{"type":["object","null"]}`, false},
		"objects and a string": {`{"oneOf":[{"type":"object"},{"type":"string"}]}`, false},
		"properties only":      {`{"properties":{"a":{}}}`, false},
		"string":               {`{"type":"string"}`, false},
		"false":                {`false`, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := schema.Compile(json.RawMessage(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			err = s.CheckInput()
			if (err == nil) != tt.ok || (err != nil && !fault.Is(err, fault.InvalidInput)) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestAnything(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]bool{``: true, `null`: true, `{}`: true, `true`: true, ` {} `: true, `false`: false, `{"type":"object"}`: false} {
		s, err := schema.Compile(json.RawMessage(in))
		if err != nil || s.Anything() != want {
			t.Errorf("%q: %v (%v)", in, !want, err)
		}
	}
}

func FuzzCompile(f *testing.F) {
	for _, seed := range []string{
		`{"type":"object","required":["a"],"properties":{"a":{"$ref":"#/$defs/b"}},"$defs":{"b":{"pattern":"^(?=a)[a-z]+$"}}}`,
		`{"$id":"x","$dynamicAnchor":"n","anyOf":[{"$dynamicRef":"#n"},{"$id":"y","$anchor":"z"}]}`,
		`{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"$id":"#a"}],"additionalItems":{"$ref":"#a"},"dependencies":{"a":["b"],"c":{}}}`,
		`{"allOf":[{"$ref":"#/allOf/1"},{"$ref":"#/allOf/0"}]}`, `{"minimum":1e400}`, `{"multipleOf":0.0001,"maximum":-0}`, `{"$ref":"#/%25/~0~1"}`, `false`,
		`{"if":{"const":[1,{"a":1.0}]},"then":{"uniqueItems":true},"unevaluatedItems":{"enum":[1,"1",null]}}`, bomb(24),
	} {
		f.Add([]byte(seed), []byte(`{"a":[1,1.0,{"b":"aa"}],"c":null}`))
	}
	f.Fuzz(func(t *testing.T, raw, doc []byte) {
		s, err := schema.Compile(raw)
		if err != nil {
			if !fault.Is(err, fault.InvalidInput) || len(detailsOf(err)) == 0 {
				t.Fatalf("%q: %v", raw, err)
			}
			return
		}
		details := s.Validate(doc)
		if again := s.Validate(doc); !cmp.Equal(details, again) {
			t.Fatalf("%q is not judged the same twice by %q: %v, %v", doc, raw, details, again)
		}
		if len(details) > schema.MaxDetails {
			t.Fatalf("%d details", len(details))
		}
	})
}

// bomb returns a schema that refers to itself twice on each of n levels, so that its expansion has 2^n schemas.
func bomb(n int) string {
	var b strings.Builder
	b.WriteString(`{"$defs":{"d0":{}`)
	for i := range n {
		fmt.Fprintf(&b, `,"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i+1, i, i)
	}
	fmt.Fprintf(&b, `},"$ref":"#/$defs/d%d"}`, n)
	return b.String()
}

// fan returns a schema with levels of anyOf, each with width references to the next level.
func fan(levels, width int) string {
	var b strings.Builder
	b.WriteString(`{"items":{"$ref":"#/$defs/d0"},"$defs":{`)
	for i := range levels {
		ref := fmt.Sprintf(`{"$ref":"#/$defs/d%d"}`, i+1)
		fmt.Fprintf(&b, `"d%d":{"anyOf":[%s]},`, i, strings.TrimSuffix(strings.Repeat(ref+",", width), ","))
	}
	fmt.Fprintf(&b, `"d%d":{"type":"string"}}}`, levels)
	return b.String()
}

func chain(n int) string {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/d0","$defs":{`)
	for i := range n {
		fmt.Fprintf(&b, `"d%d":{"$ref":"#/$defs/d%d"},`, i, i+1)
	}
	fmt.Fprintf(&b, `"d%d":{}}}`, n)
	return b.String()
}

func strays(n int) string {
	var refs, places []string
	for i := range n {
		refs = append(refs, fmt.Sprintf(`{"$ref":"#/x/%d"}`, i))
		places = append(places, `{"type":"string"}`)
	}
	return `{"allOf":[` + strings.Join(refs, ",") + `],"x":[` + strings.Join(places, ",") + `]}`
}

func nest(open string, n int) string {
	return strings.Repeat(open, n) + "{}" + strings.Repeat("}", n)
}

// detailsOf formats the details of an error as "pointer: code: message".
func detailsOf(err error) []string {
	var f *fault.Error
	if !errors.As(err, &f) || f.Code != fault.InvalidInput {
		return nil
	}
	return lines(f.Details)
}

func lines(details []fault.Detail) []string {
	var all []string
	for _, d := range details {
		all = append(all, d.Pointer+": "+d.Code+": "+d.Message)
	}
	return all
}

// TestMetaSchemasAreMadeOnce checks that meta-schemas are built once. Each takes as long as many small schemas, and a
// server compiles dozens when it starts.
func TestMetaSchemasAreMadeOnce(t *testing.T) {
	const most = 2000 // building a meta-schema takes many times that
	for _, dialect := range []string{"https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#"} {
		text := fmt.Appendf(nil, `{"$schema":%q,"type":"object","properties":{"a":{"type":"string"}}}`, dialect)
		allocated := testing.AllocsPerRun(10, func() {
			if _, err := schema.Compile(text); err != nil {
				t.Fatal(err)
			}
		})
		if allocated > most {
			t.Errorf("to compile a small schema of %s allocates %.0f times, more than %d", dialect, allocated, most)
		}
	}
}
