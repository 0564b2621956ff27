package compat_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/registry/compat"
	"github.com/atelier-run/atelier/registry/schema"
)

const draft7 = `"$schema":"http://json-schema.org/draft-07/schema#",`

func TestCompare(t *testing.T) {
	t.Parallel()
	const city = `"city":{"type":"string"}`
	tests := map[string]struct {
		before, after     string
		forward, backward compat.Answer
		says              []string // part of each change message, in order
	}{
		"nothing":                {`{"type":"object"}`, `{ "type" : "object" }`, "yes", "yes", nil},
		"absent and empty":       {``, `{}`, "yes", "yes", nil},
		"a description":          {`{"type":"object"}`, `{"type":"object","description":"x"}`, "yes", "yes", nil},
		"optional property":      {`{"type":"object","properties":{` + city + `}}`, `{"type":"object","properties":{` + city + `,"days":{"type":"integer"}}}`, "described", "yes", []string{"adds /properties/days `days` was added"}},
		"required property":      {`{"type":"object","properties":{` + city + `}}`, `{"type":"object","properties":{` + city + `,"days":{"type":"integer"}},"required":["days"]}`, "no", "yes", []string{"narrows /required `days` is new and required"}},
		"became required":        {`{"type":"object","properties":{` + city + `}}`, `{"type":"object","properties":{` + city + `},"required":["city"]}`, "no", "yes", []string{"narrows /required `city` became required"}},
		"no longer required":     {`{"type":"object","properties":{` + city + `},"required":["city"]}`, `{"type":"object","properties":{` + city + `}}`, "yes", "no", []string{"widens /required `city` is no longer required"}},
		"removed property":       {`{"type":"object","properties":{` + city + `,"days":{"type":"integer"}}}`, `{"type":"object","properties":{` + city + `}}`, "yes", "no", []string{"removes /properties/days `days` was removed"}},
		"removed from a closed":  {`{"type":"object","properties":{` + city + `,"days":{"type":"integer"}},"additionalProperties":false}`, `{"type":"object","properties":{` + city + `},"additionalProperties":false}`, "no", "yes", []string{"removes /properties/days `days` was removed"}},
		"added to a closed":      {`{"properties":{` + city + `},"additionalProperties":false}`, `{"properties":{` + city + `,"days":{"type":"integer"}},"additionalProperties":false}`, "yes", "no", []string{"adds", "widens /additionalProperties `days` is now allowed"}},
		"other type":             {`{"properties":{"a":{"type":"string"}}}`, `{"properties":{"a":{"type":"integer"}}}`, "no", "no", []string{"`a` is an integer now; it was a string", "`a` is an integer now"}},
		"one type more":          {`{"properties":{"a":{"type":"string"}}}`, `{"properties":{"a":{"type":["string","null"]}}}`, "yes", "no", []string{"widens /properties/a/type `a` is a string or null now; it was a string"}},
		"integer to number":      {`{"type":"integer"}`, `{"type":"number"}`, "yes", "no", []string{"widens"}},
		"lower maximum":          {`{"type":"integer","maximum":14}`, `{"type":"integer","maximum":10}`, "no", "yes", []string{"narrows /maximum it must be at most 10 now; the limit was 14"}},
		"maximum in other words": {`{"type":"integer","exclusiveMaximum":15}`, `{"type":"integer","maximum":14}`, "yes", "yes", nil},
		"one value less":         {`{"enum":["metric","imperial"]}`, `{"enum":["metric"]}`, "no", "yes", []string{`narrows  it no longer accepts "imperial"`}},
		"one value more":         {`{"enum":["metric"]}`, `{"enum":["metric","imperial"]}`, "yes", "no", []string{`widens  it may also be "imperial" now`}},
		"nested":                 {`{"properties":{"a":{"properties":{"b":{"maxLength":3}}}}}`, `{"properties":{"a":{"properties":{"b":{"maxLength":2}}}}}`, "no", "yes", []string{"`a.b` must have at most 2 characters now"}},
		"items":                  {`{"properties":{"a":{"items":{"type":"integer"}}}}`, `{"properties":{"a":{"items":{"type":"number"}}}}`, "yes", "no", []string{"`a[]` is"}},
		"reference":              {`{"$defs":{"n":{"type":"integer"}},"properties":{"a":{"$ref":"#/$defs/n"}}}`, `{"properties":{"a":{"type":"integer"}}}`, "yes", "yes", nil},
		"recursion":              {`{"properties":{"v":{"type":"integer"},"next":{"$ref":"#"}}}`, `{"properties":{"v":{"type":"number"},"next":{"$ref":"#"}}}`, "yes", "no", []string{"`v` is"}},
		"alternatives":           {`{"anyOf":[{"type":"string"},{"type":"integer"}]}`, `{"type":["string","integer","null"]}`, "yes", "no", []string{"widens"}},
		"types to alternatives":  {`{"type":["string","integer"]}`, `{"anyOf":[{"type":"string"},{"type":"number"}]}`, "yes", "no", []string{"widens"}},
		"one alternative more": {`{"type":"object","oneOf":[{"properties":{"k":{"const":"a"}},"required":["k"]}]}`,
			`{"type":"object","oneOf":[{"properties":{"k":{"const":"a"}},"required":["k"]},{"properties":{"k":{"const":"b"}},"required":["k"]}]}`, "yes", "no", nil},
		"alternatives in a part":  {`{"allOf":[{"anyOf":[{"type":"string"},{"type":"integer"}]}]}`, `{"type":["string","integer","null"]}`, "yes", "no", []string{"widens"}},
		"a case proves no other":  {`{"allOf":[{"oneOf":[{}]}]}`, `{"if":{"type":"boolean"},"else":{"type":"null"}}`, "no", "yes", nil},
		"a part in every case":    {`{"$defs":{"a":{"anyOf":[{"minLength":2},{"maxLength":5}]}},"$ref":"#/$defs/a"}`, `{"type":"string"}`, "no", "unknown", nil},
		"draft-07 beside 2020-12": {`{` + draft7 + `"items":[{"type":"integer"}],"additionalItems":false}`, `{"prefixItems":[{"type":"integer"}],"items":false}`, "yes", "yes", nil},
		"ignored beside $ref":     {`{` + draft7 + `"definitions":{"n":{"type":"number"}},"properties":{"a":{"$ref":"#/definitions/n","maximum":3}}}`, `{"properties":{"a":{"type":"number","maximum":3}}}`, "no", "yes", nil},
		"format":                  {`{"type":"string"}`, `{"type":"string","format":"date"}`, "no", "yes", []string{"must have the format date now"}},
		"format without meaning":  {`{"type":"string"}`, `{"type":"string","format":"postcode"}`, "yes", "yes", nil},
		"pattern":                 {`{"type":"string","pattern":"^a"}`, `{"type":"string","pattern":"^[ab]"}`, "unknown", "unknown", []string{"must match", "need not match"}},
		"same exclusion":          {`{"not":{"const":1},"maximum":3}`, `{"not":{"const":1},"maximum":5}`, "yes", "no", []string{"widens /maximum"}},
		"same condition":          {`{"if":{"maximum":3},"then":{"minimum":1}}`, `{"if":{"maximum":3},"then":{"minimum":1},"title":"x"}`, "yes", "yes", nil},
		"other exclusion":         {`{"type":"string","not":{"pattern":"^a"}}`, `{"type":"string","not":{"pattern":"^aa"}}`, "unknown", "no", []string{"narrows /not it cannot be compared: it has not", "widens"}},
		"unevaluated":             {`{"properties":{"a":true}}`, `{"properties":{"a":true},"unevaluatedProperties":false}`, "no", "yes", []string{"unevaluatedProperties"}},
		"map of numbers":          {`{"additionalProperties":{"type":"integer"}}`, `{"additionalProperties":{"type":"number"}}`, "yes", "no", []string{"`*` is a number now"}},
		"typed where it was open": {`{"type":"object"}`, `{"type":"object","properties":{"a":{"type":"string"}}}`, "no", "yes", []string{"`a` is a string now; it was anything"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := compat.Compare(json.RawMessage(tt.before), json.RawMessage(tt.after), "it")
			if err != nil {
				t.Fatal(err)
			}
			if got.Forward != tt.forward || got.Backward != tt.backward {
				t.Errorf("forward %s, backward %s, want %s and %s: %+v (refused %s, taken %s)", got.Forward, got.Backward, tt.forward, tt.backward, got.Changes, got.Refused, got.Taken)
			}
			if tt.says != nil && len(got.Changes) != len(tt.says) {
				t.Fatalf("changes %+v, want %q", got.Changes, tt.says)
			}
			for i, want := range tt.says {
				c := got.Changes[i]
				if text := string(c.Effect) + " " + c.Pointer + " " + c.Message; !strings.Contains(text, want) {
					t.Errorf("change %d is %q, want %q", i, text, want)
				}
			}
		})
	}
}

// TestWitnessesAreTrue checks that each counterexample fits one schema and not the other.
func TestWitnessesAreTrue(t *testing.T) {
	t.Parallel()
	before, after := `{"properties":{"days":{"type":"integer","maximum":14}}}`, `{"properties":{"days":{"type":"integer","maximum":10}},"required":["days"]}`
	got, err := compat.Compare(json.RawMessage(before), json.RawMessage(after), "the input")
	if err != nil || got.Refused == nil {
		t.Fatalf("%+v, %v", got, err)
	}
	if !fits(t, before, got.Refused) || fits(t, after, got.Refused) {
		t.Errorf("%s is not a counterexample", got.Refused)
	}
}

func TestBrokenSchemasAreRefused(t *testing.T) {
	t.Parallel()
	if _, err := compat.Compare(json.RawMessage(`{"type":7}`), nil, "it"); err == nil {
		t.Error("no error")
	}
}

func fits(t *testing.T, text string, document json.RawMessage) bool {
	t.Helper()
	s, err := schema.Compile(json.RawMessage(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return len(s.Validate(document)) == 0
}
