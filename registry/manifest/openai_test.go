package manifest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry/manifest"
)

type openAITool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
		Strict      *bool           `json:"strict"`
	} `json:"function"`
}

func TestOpenAI(t *testing.T) {
	t.Parallel()
	const object = `{"type":"object","additionalProperties":false,`
	nested := object + `"properties":{"a":{"type":"string"}},"required":["a"]}`
	for range 10 {
		nested = object + `"properties":{"a":` + nested + `},"required":["a"]}`
	}
	tests := map[string]struct {
		in   string
		want []string // warnings; none means strict
	}{
		"strict":               {object + `"properties":{"city":{"type":"string","pattern":"^[A-Z]","description":"Where"},"days":{"type":["integer","null"],"minimum":1}},"required":["days","city"]}`, nil},
		"strict with $defs":    {object + `"properties":{"next":{"anyOf":[{"$ref":"#/$defs/n"},{"type":"null"}]}},"required":["next"],"$defs":{"n":` + object + `"properties":{"up":{"$ref":"#"}},"required":["up"]}}}`, nil},
		"strict array":         {object + `"properties":{"l":{"type":"array","items":{"type":"string","format":"date"},"maxItems":3}},"required":["l"]}`, nil},
		"nothing":              {``, []string{"strict is false: /additionalProperties: must be false", "strict is false: /required: must list every property"}},
		"optional property":    {object + `"properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a"]}`, []string{"strict is false: /required: must list every property; missing: b; make optional properties required and nullable"}},
		"open object inside":   {object + `"properties":{"a":{"type":"object","properties":{},"required":[]}},"required":["a"]}`, []string{"strict is false: /properties/a/additionalProperties: must be false"}},
		"unsupported keywords": {object + `"properties":{"a":{"type":"string","minLength":1,"default":"x"}},"required":["a"]}`, []string{"strict is false: /properties/a/default: is not supported", "strict is false: /properties/a/minLength: is not supported"}},
		"a property minLength": {object + `"properties":{"minLength":{"type":"number"}},"required":["minLength"]}`, nil},
		"unknown format":       {object + `"properties":{"a":{"type":"string","format":"uri"}},"required":["a"]}`, []string{"strict is false: /properties/a/format: the format is not one of date-time, time, date, duration, email, hostname, ipv4, ipv6, uuid"}},
		"no type":              {object + `"properties":{"a":{"enum":["x"]}},"required":["a"]}`, []string{"strict is false: /properties/a: must have a type"}},
		"true inside":          {object + `"properties":{"a":true},"required":["a"]}`, []string{"strict is false: /properties/a: must be an object, not true or false"}},
		"$ref with siblings":   {object + `"properties":{"a":{"$ref":"#","description":"x"}},"required":["a"]}`, []string{"strict is false: /properties/a: $ref must not have siblings"}},
		"anchor":               {object + `"properties":{"a":{"$ref":"#x"},"b":{"type":"null","$anchor":"x"}},"required":["a","b"]}`, []string{"strict is false: /properties/a/$ref: must point into the schema", "strict is false: /properties/b/$anchor: is not supported"}},
		"array without items":  {object + `"properties":{"a":{"type":"array"}},"required":["a"]}`, []string{"strict is false: /properties/a: is an array without items", "OpenAI refuses arrays without items: /properties/a"}},
		"anyOf at the root":    {object + `"properties":{},"required":[],"anyOf":[{"type":"null"}]}`, []string{"strict is false: the root must not have anyOf", "OpenAI refuses functions whose parameters have anyOf at the root; the root must describe one object."}},
		"too deep":             {nested, []string{"strict is false: " + strings.Repeat("/properties/a", 10) + ": is nested more than 10 levels deep"}},
		"many enum values":     {object + `"properties":{"a":{"type":"integer","enum":[0` + strings.Repeat(",1", 1000) + `]}},"required":["a"]}`, []string{"strict is false: the schema has more than 1000 enum values"}},
		"long enum values":     {object + `"properties":{"a":{"type":"string","enum":[""` + strings.Repeat(`,"`+strings.Repeat("x", 60)+`"`, 251) + `]}},"required":["a"]}`, []string{"strict is false: /properties/a/enum: has more than 250 values with more than 15000 characters"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := weather()
			v.InputSchema = json.RawMessage(tt.in)
			got := export(t, manifest.OpenAI, v)
			if diff := cmp.Diff(tt.want, got.Warnings); diff != "" {
				t.Error(diff)
			}
			var tool openAITool
			decodeExactly(t, got.Manifest, &tool)
			if tool.Type != "function" || tool.Function.Name != "weather" || tool.Function.Description != v.Description || tool.Function.Strict == nil || *tool.Function.Strict != (len(tt.want) == 0) {
				t.Errorf("%s", got.Manifest)
			}
			was := v.InputSchema
			if len(was) == 0 {
				was = json.RawMessage("{}")
			}
			keeps(t, was, tool.Function.Parameters, "type", "properties")
		})
	}
}

func TestOpenAIReasonsAreBounded(t *testing.T) {
	t.Parallel()
	v := weather()
	var properties []string
	for i := range 6000 {
		properties = append(properties, fmt.Sprintf(`"p%d":{"type":"array"}`, i))
	}
	v.InputSchema = json.RawMessage(`{"type":"object","properties":{` + strings.Join(properties, ",") + `}}`)
	if got := export(t, manifest.OpenAI, v); len(got.Warnings) > 40 || len(got.Warnings) < 20 {
		t.Errorf("%d warnings", len(got.Warnings))
	}
}

func TestOpenAIRoot(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ in, want string }{
		"absent":          {``, `{"type":"object","properties":{}}`},
		"null":            {`null`, `{"type":"object","properties":{}}`},
		"empty":           {`{}`, `{"type":"object","properties":{}}`},
		"true":            {`true`, `{"type":"object","properties":{}}`},
		"by reference":    {`{"$ref":"#/$defs/a","$defs":{"a":{"type":"object"}}}`, `{"type":"object","properties":{},"$ref":"#/$defs/a","$defs":{"a":{"type":"object"}}}`},
		"order and text":  {`{"title":"<b>","type":"object","x-z":1.50,"properties":{"b":{},"a":{}}}`, `{"title":"<b>","type":"object","x-z":1.50,"properties":{"b":{},"a":{}}}`},
		"no properties":   {`{"type":"object","required":["a"]}`, `{"properties":{},"type":"object","required":["a"]}`},
		"a list of types": {`{"type":["object"],"properties":{}}`, `{"type":"object","properties":{}}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := weather()
			v.InputSchema = json.RawMessage(tt.in)
			var tool openAITool
			decodeExactly(t, export(t, manifest.OpenAI, v).Manifest, &tool)
			if got := compact(t, tool.Function.Parameters); got != tt.want {
				t.Errorf("got %s", got)
			}
		})
	}
}

func TestInputIsAnObject(t *testing.T) {
	t.Parallel()
	for _, in := range []string{`{"type":"string"}`, `{"type":["object","null"]}`, `false`} {
		for _, format := range []string{manifest.OpenAI, manifest.LangChain} {
			v := weather()
			v.InputSchema = json.RawMessage(in)
			if _, err := manifest.Export(format, v, base); !fault.Is(err, fault.InvalidInput) {
				t.Errorf("%s of %s: %v", format, in, err)
			}
		}
	}
}

func TestOpenAIDescription(t *testing.T) {
	t.Parallel()
	v := weather()
	v.Description = strings.Repeat("é", 1025)
	got := export(t, manifest.OpenAI, v)
	if !strings.Contains(strings.Join(got.Warnings, "\n"), "The description has 1025 characters; OpenAI allows 1024.") || !strings.Contains(string(got.Manifest), v.Description) {
		t.Errorf("%v", got.Warnings)
	}
	v.Description = ""
	var tool openAITool
	decodeExactly(t, export(t, manifest.OpenAI, v).Manifest, &tool)
	if tool.Function.Description != "Weather" {
		t.Errorf("got %q", tool.Function.Description)
	}
}
