package schema_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/atelier-run/atelier/registry/schema"
)

func TestSentences(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		schema, doc string
		want        []string // pointer: code: message
	}{
		"fits":             {`{"type":"object","required":["a"]}`, `{"a":1}`, nil},
		"type":             {`{"type":"number"}`, `"1"`, []string{": type: must be a number"}},
		"types":            {`{"type":["string","integer","null"]}`, `1.5`, []string{": type: must be a string, an integer or null"}},
		"integer":          {`{"type":"integer"}`, `1.50`, []string{": type: must be an integer"}},
		"whole is integer": {`{"type":"integer"}`, `[1.0]`, []string{": type: must be an integer"}},
		"1.0 is integer":   {`{"items":{"type":"integer"}}`, `[1.0,1e2,10e-1,-0,0.0,12345678901234567890]`, nil},
		"required":         {`{"required":["city","days"]}`, `{}`, []string{": required: is required: city", ": required: is required: days"}},
		"additional":       {`{"properties":{"a":{}},"additionalProperties":false}`, `{"a":1,"y":1,"x":2}`, []string{": additionalProperties: has a property that is not allowed: x", ": additionalProperties: has a property that is not allowed: y"}},
		"pointers":         {`{"properties":{"a/b":{"items":{"properties":{"c~d":{"type":"string"}}}}}}`, `{"a/b":[{},{"c~d":1}]}`, []string{"/a~1b/1/c~0d: type: must be a string"}},
		"enum":             {`{"enum":["Oslo",1,null,{"a":[1]}]}`, `"oslo"`, []string{`: enum: must be one of: "Oslo", 1, null, {"a":[1]}`}},
		"long enum":        {`{"enum":["` + strings.Repeat("x", 200) + `","` + strings.Repeat("y", 200) + `"]}`, `1`, []string{`: enum: must be one of: "` + strings.Repeat("x", 200) + `", …`}},
		"enum of numbers":  {`{"items":{"enum":[1.0,9007199254740993]}}`, `[1,10e-1,9007199254740993,9007199254740992]`, []string{`/3: enum: must be one of: 1.0, 9007199254740993`}},
		"const":            {`{"const":{"a":1,"b":[2]}}`, `{"b":[3],"a":1.0}`, []string{`: const: must be {"a":1,"b":[2]}`}},
		"minimum":          {`{"minimum":1}`, `0.999999999999999999999999999`, []string{": minimum: must be at least 1"}},
		"maximum":          {`{"maximum":-0.25}`, `-0.2499999999999999999999`, []string{": maximum: must be at most -0.25"}},
		"above":            {`{"exclusiveMinimum":0}`, `0e10`, []string{": exclusiveMinimum: must be greater than 0"}},
		"below":            {`{"exclusiveMaximum":1e3}`, `1000.0`, []string{": exclusiveMaximum: must be less than 1000"}},
		"big bounds":       {`{"maximum":9007199254740992}`, `9007199254740993`, []string{": maximum: must be at most 9007199254740992"}},
		"huge bounds":      {`{"maximum":1e300}`, `1e301`, []string{": maximum: must be at most 0.1e301"}},
		"multiple":         {`{"multipleOf":0.1}`, `0.35`, []string{": multipleOf: must be a multiple of 0.1"}},
		"exact multiple":   {`{"items":{"multipleOf":0.01}}`, `[0.07,1.13,19.99,-4,0,1e300]`, nil},
		"long multiple":    {`{"multipleOf":3}`, strings.Repeat("9", 1000), []string{": multipleOf: has too many digits to check whether it is a multiple of 3"}},
		"lengths":          {`{"items":{"minLength":2,"maxLength":3}}`, `["a","ää","😀😀😀","😀😀😀😀"]`, []string{"/0: minLength: must have at least 2 characters", "/3: maxLength: must have at most 3 characters"}},
		"items":            {`{"minItems":1}`, `[]`, []string{": minItems: must have at least 1 item"}},
		"max items":        {`{"maxItems":1}`, `[1,2]`, []string{": maxItems: must have at most 1 item"}},
		"properties":       {`{"minProperties":2}`, `{}`, []string{": minProperties: must have at least 2 properties"}},
		"unique":           {`{"uniqueItems":true}`, `[1,"1",{"a":1,"b":2},{"b":2.0,"a":1}]`, []string{": uniqueItems: must have unique items; those at positions 2 and 3 are equal"}},
		"tuple":            {`{"prefixItems":[{"type":"string"}],"items":false}`, `["a",1]`, []string{"/1: false: is not allowed"}},
		"contains":         {`{"contains":{"type":"string"},"minContains":2,"maxContains":2}`, `[1,"a"]`, []string{": contains: must have at least 2 items matching contains"}},
		"max contains":     {`{"contains":{"type":"string"},"maxContains":1}`, `["a","b"]`, []string{": maxContains: must have at most 1 item matching contains"}},
		"pattern":          {`{"pattern":"^[A-Z]{3}$"}`, `"nok"`, []string{": pattern: must match the pattern ^[A-Z]{3}$"}},
		"names":            {`{"propertyNames":{"maxLength":3}}`, `{"abcd":1}`, []string{": propertyNames: has a property whose name is not allowed: abcd, which must have at most 3 characters"}},
		"odd names":        {`{"additionalProperties":false}`, "{\"a\\u0007\u202e\":1,\"" + strings.Repeat("k", 200) + "\":2}", []string{": additionalProperties: has a property that is not allowed: a\ufffd\ufffd", ": additionalProperties: has a property that is not allowed: " + strings.Repeat("k", 97) + "…"}},
		"dependent":        {`{"dependentRequired":{"card":["address"]}}`, `{"card":1}`, []string{": dependentRequired: is required if card is present: address"}},
		"draft-07":         {`{"$schema":"http://json-schema.org/draft-07/schema#","dependencies":{"a":["b"]},"properties":{"x":{"items":[{"type":"string"}],"additionalItems":false}}}`, `{"a":1,"x":["",2]}`, []string{": dependentRequired: is required if a is present: b", "/x/1: false: is not allowed"}},
		"not":              {`{"not":{"required":["a"]}}`, `{"a":1}`, []string{": not: matches a schema under not"}},
		"if":               {`{"if":{"properties":{"a":{"const":1}}},"then":{"required":["b"]},"else":{"required":["c"]}}`, `{"a":1}`, []string{": required: is required: b"}},
		"unevaluated":      {`{"allOf":[{"properties":{"a":{}}}],"unevaluatedProperties":false}`, `{"a":1,"b":2}`, []string{": unevaluatedProperties: has a property that is not allowed: b"}},
		"anyOf of types":   {`{"anyOf":[{"type":"string"},{"type":"null"}]}`, `1`, []string{": type: must be a string or null"}},
		"anyOf, one meant": {`{"anyOf":[{"type":"string","minLength":3},{"type":"null"}]}`, `"a"`, []string{": minLength: must have at least 3 characters"}},
		"oneOf by kind":    {`{"oneOf":[{"properties":{"kind":{"const":"a"},"n":{"type":"number"}}},{"properties":{"kind":{"const":"b"},"n":{"type":"string"}}}]}`, `{"kind":"b","n":1}`, []string{"/n: type: must be a string"}},
		"anyOf, none":      {`{"anyOf":[{"required":["a"]},{"required":["b"]}]}`, `{}`, []string{": anyOf: must match one of 2 alternatives, but matches none"}},
		"oneOf, two":       {`{"oneOf":[{"type":"null"},{"type":"number"},{"minimum":2}]}`, `3`, []string{": oneOf: must match exactly one of 3 alternatives, but matches those at positions 1 and 2"}},
		"nothing":          {`false`, `1`, []string{": false: is not allowed"}},
		"once":             {`{"allOf":[{"type":"string"},{"type":"string"}]}`, `1`, []string{": type: must be a string"}},
		"all":              {`{"properties":{"a":{"type":"string"},"b":{"minimum":5,"multipleOf":2}},"required":["c"]}`, `{"a":1,"b":3}`, []string{": required: is required: c", "/a: type: must be a string", "/b: minimum: must be at least 5", "/b: multipleOf: must be a multiple of 2"}},
		"date":             {`{"format":"date"}`, `"2026-02-30"`, []string{": format: must be a date, for example 2026-11-30"}},
		"date-time":        {`{"format":"date-time"}`, `"2026-02-20"`, []string{": format: must be a date and time, for example 2026-11-30T12:00:00Z"}},
		"email":            {`{"format":"email"}`, `"@example.com"`, []string{": format: must be an email address"}},
		"uri":              {`{"format":"uri"}`, `"/relative"`, []string{": format: must be an absolute URI, for example https://example.com/path"}},
		"uuid":             {`{"format":"uuid"}`, `"1234"`, []string{": format: must be a UUID"}},
		"unknown format":   {`{"format":"nonsense"}`, `"x"`, nil},
		"no JSON":          {`{}`, `{"a":}`, []string{"/a: syntax: is not valid JSON at byte 5"}},
		"key twice":        {``, `{"a":1,"a":2}`, []string{"/a: duplicate_key: is a duplicate name in its object"}},
		"out of range":     {`{"type":"number"}`, `[1e999]`, []string{"/0: bad_number: has a number that is too large for a double"}},
		"too deep":         {`{}`, nest(`{"a":`, 256), []string{strings.Repeat("/a", 256) + ": too_deep: is nested deeper than 256 levels"}},
		"ECMAScript space": {`{"pattern":"^\\s.[\\s]$"}`, `"\u00a0x\ufeff"`, nil},
		"ECMAScript dot":   {`{"pattern":"^.$"}`, `"\u2028"`, []string{": pattern: must match the pattern ^.$"}},
		"look-ahead":       {`{"pattern":"^(?!admin)[a-z]+$"}`, `"administrator"`, []string{": pattern: must match the pattern ^(?!admin)[a-z]+$"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := schema.Compile(json.RawMessage(tt.schema))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, lines(s.Validate([]byte(tt.doc)))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestValuesAreNotEchoed checks that messages do not contain a document's values.
func TestValuesAreNotEchoed(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	s, err := schema.Compile(json.RawMessage(`{"properties":{
		"a":{"const":"x"},"b":{"enum":["y"]},"c":{"pattern":"^z$"},"d":{"format":"email"},"e":{"maxLength":1},"f":{"type":"number"},
		"g":{"not":{"type":"string"}},"h":{"anyOf":[{"const":1},{"maxLength":2}]},"i":false,"j":{"format":"uri"},"k":{"uniqueItems":true}}}`))
	if err != nil {
		t.Fatal(err)
	}
	doc := map[string]any{"k": []string{secret, secret}}
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"} {
		doc[name] = secret
	}
	raw, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	details := s.Validate(raw)
	if len(details) != len(doc) {
		t.Errorf("%d details about %d properties: %v", len(details), len(doc), details)
	}
	if strings.Contains(fmt.Sprint(details), secret) {
		t.Error(details)
	}
}

func TestDetailsAreBounded(t *testing.T) {
	t.Parallel()
	s, err := schema.Compile(json.RawMessage(`{"items":{"type":"string"}}`))
	if err != nil {
		t.Fatal(err)
	}
	details := s.Validate([]byte("[" + strings.Repeat("1,", 100_000) + "1]"))
	if len(details) != schema.MaxDetails || details[49].Pointer != "/49" {
		t.Errorf("%d details", len(details))
	}
}

// TestValidateIsBounded checks pairs of schema and document that would otherwise take minutes or never end.
func TestValidateIsBounded(t *testing.T) {
	t.Parallel()
	const tooLarge, tooSlow = "is too large to validate", "takes too long to match"
	long := strings.Repeat("a", 1<<20)
	tests := map[string]struct{ schema, doc, want string }{
		"recursion in two places": {
			schema: `{"$defs":{"n":{"allOf":[{"properties":{"c":{"$ref":"#/$defs/n"}}},{"properties":{"c":{"$ref":"#/$defs/n"}}}]}},"$ref":"#/$defs/n"}`,
			doc:    strings.Repeat(`{"c":`, 200) + "1" + strings.Repeat("}", 200),
			want:   tooLarge,
		},
		"recursion in anyOf": {
			schema: `{"items":{"anyOf":[{"$ref":"#"},{"$ref":"#"},{"type":"null"}]},"maxItems":1}`,
			doc:    strings.Repeat(`[`, 200) + "1,2" + strings.Repeat("]", 200),
			want:   tooLarge,
		},
		"wide schema, wide document": {
			schema: `{"allOf":[` + strings.TrimSuffix(strings.Repeat(`{"additionalProperties":{}},`, 1900), ",") + `]}`,
			doc:    wide(50_000),
			want:   tooLarge,
		},
		"large pattern, long text":   {`{"pattern":"^(.{0,90}){0,9}x$"}`, `"` + long + `"`, tooLarge},
		"backtracking":               {`{"pattern":"^(?=a)(a+)+$"}`, `"` + long[:1000] + `!"`, tooSlow},
		"backtracking again":         {`{"items":{"pattern":"^(?=a)(a+)+$"}}`, `[` + strings.Repeat(`"`+long[:26]+`!",`, 1000) + `""]`, tooSlow},
		"backtracking in names":      {`{"patternProperties":{"^(?=a)(a+)+$":{}}}`, `{"` + long[:1000] + `!":1}`, tooSlow},
		"backtracking under not":     {`{"not":{"pattern":"^(?=a)(a+)+$"}}`, `"` + long[:1000] + `!"`, tooSlow},
		"repetitions of repetitions": {`{"pattern":"(?=a)(.{0,2000000000}){0,2000000000}x"}`, `"` + long[:60_000] + `"`, tooSlow},
		"a number of many digits":    {`{"multipleOf":3,"maximum":10}`, strings.Repeat("9", 1<<20), "must be at most 10"},
		"an exponent of many digits": {`{"multipleOf":3,"minimum":1,"enum":[3]}`, "1e-" + strings.Repeat("9", 1<<20), "must be one of: 3"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := schema.Compile(json.RawMessage(tt.schema))
			if err != nil {
				t.Fatal(err)
			}
			work := schema.MaxWork
			if tt.want == tooLarge {
				work /= 100 // also rejected, and faster under the race detector
			}
			details := s.ValidateWithin([]byte(tt.doc), work)
			if len(details) == 0 || !strings.Contains(fmt.Sprint(details), tt.want) {
				t.Errorf("got %.500v", details)
			}
		})
	}
}

func wide(n int) string {
	var b strings.Builder
	b.WriteString(`{"k":1`)
	for i := range n {
		fmt.Fprintf(&b, `,"k%d":1`, i)
	}
	b.WriteString("}")
	return b.String()
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	cache := schema.NewCache(2)
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for j := range 20 {
				s, err := cache.Get(json.RawMessage(fmt.Sprintf(`{"type":"string","pattern":"^(?=a)a{%d}$"}`, j%3+1)))
				if err != nil {
					t.Error(err)
					return
				}
				fits := len(s.Validate([]byte(`"`+strings.Repeat("a", i%3+1)+`"`))) == 0
				if fits != (i%3 == j%3) {
					t.Errorf("%d a's, %d wanted: %v", i%3+1, j%3+1, fits)
				}
			}
		})
	}
	group.Wait()
}

func TestCache(t *testing.T) {
	t.Parallel()
	cache := schema.NewCache(2)
	get := func(raw string) *schema.Schema {
		t.Helper()
		s, err := cache.Get(json.RawMessage(raw))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	a, b := get(`{"type":"string"}`), get(`{"type":"number"}`)
	if get(`{"type":"string"}`) != a || get(`{"type":"number"}`) != b {
		t.Error("compiled twice")
	}
	get(`{"type":"string"}`)
	get(`{"type":"null"}`)
	if get(`{"type":"string"}`) != a {
		t.Error("the most recently used schema was removed from the cache")
	}
	if get(`{"type":"number"}`) == b {
		t.Error("the cache has more schemas than its capacity")
	}
	if _, err := cache.Get(json.RawMessage(`{"type":5}`)); err == nil {
		t.Error("no error")
	}
	if !get("").Anything() || !get("null").Anything() {
		t.Error("an absent schema rejects a document")
	}
}

func BenchmarkValidate(b *testing.B) {
	s, err := schema.Compile(json.RawMessage(`{"type":"object","additionalProperties":false,"required":["city"],"properties":{
		"city":{"type":"string","enum":["Bergen","Berlin","Lisbon","Nairobi","Oslo","Tokyo"]},"days":{"type":"integer","minimum":1,"maximum":7},"units":{"enum":["metric","imperial"]}}}`))
	if err != nil {
		b.Fatal(err)
	}
	doc := []byte(`{"city":"Oslo","days":3,"units":"metric"}`)
	b.ReportAllocs()
	for b.Loop() {
		if details := s.Validate(doc); details != nil {
			b.Fatal(details)
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	raw := json.RawMessage(`{"type":"object","additionalProperties":false,"required":["city"],"properties":{"city":{"type":"string"},"days":{"type":"integer","minimum":1}}}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := schema.Compile(raw); err != nil {
			b.Fatal(err)
		}
	}
}

// TestBesideReferenceInDraft7 checks that draft-07 ignores all keywords next to a reference, also keywords of newer
// drafts.
func TestBesideReferenceInDraft7(t *testing.T) {
	t.Parallel()
	s, err := schema.Compile(json.RawMessage(`{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"any":{}},
		"$ref":"#/definitions/any","if":{"type":"string"},"else":false,"const":1,"contains":{"const":1},"maximum":0}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, document := range []string{`2`, `"x"`, `[2]`} {
		if details := s.Validate([]byte(document)); len(details) > 0 {
			t.Errorf("%s: %v", document, details)
		}
	}
}
