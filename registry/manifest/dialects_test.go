package manifest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry/manifest"
	"github.com/atelier-run/atelier/registry/schema"
	"github.com/atelier-run/atelier/runtimes"
)

func TestAnthropic(t *testing.T) {
	t.Parallel()
	const object = `{"type":"object","additionalProperties":false,`
	optional := object + `"properties":{`
	for i := range 25 {
		if i > 0 {
			optional += ","
		}
		optional += `"p` + string(rune('a'+i)) + `":{"type":"string"}`
	}
	tests := map[string]struct {
		in   string
		want []string // warnings; none means strict
	}{
		"strict":             {object + `"properties":{"city":{"type":"string","format":"uri"},"n":{"type":"array","items":{"enum":["a",1,null]},"minItems":1}},"required":["city"]}`, nil},
		"strict with $defs":  {object + `"properties":{"a":{"$ref":"#/$defs/n"},"b":{"$ref":"#/$defs/n"}},"$defs":{"n":{"anyOf":[{"type":"null"},{"const":1}]}}}`, nil},
		"open object":        {`{"type":"object","properties":{}}`, []string{"strict is omitted: /additionalProperties: must be false"}},
		"constraints":        {object + `"properties":{"a":{"type":"integer","minimum":1}}}`, []string{"strict is omitted: /properties/a/minimum: is not supported"}},
		"two items":          {object + `"properties":{"a":{"type":"array","items":{"type":"null"},"minItems":2}}}`, []string{"strict is omitted: /properties/a/minItems: must be 0 or 1"}},
		"objects in enum":    {object + `"properties":{"a":{"enum":[{}]},"b":{"const":[]}}}`, []string{"strict is omitted: /properties/a/enum: must not contain objects or lists", "strict is omitted: /properties/b/const: must not be an object or a list"}},
		"recursion":          {object + `"properties":{"a":{"$ref":"#"}}}`, []string{"strict is omitted: /properties/a/$ref: must point into the schema", "strict is omitted: the schema refers to itself"}},
		"recursion by $defs": {object + `"properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"type":"array","items":{"$ref":"#/$defs/y"}},"y":{"anyOf":[{"$ref":"#/$defs/x"}]}}}`, []string{"strict is omitted: the schema refers to itself"}},
		"true":               {object + `"properties":{"a":true}}`, []string{"strict is omitted: /properties/a: must be an object, not true or false"}},
		"no type":            {object + `"properties":{"a":{}}}`, []string{"strict is omitted: /properties/a: must have a type"}},
		"format":             {object + `"properties":{"a":{"type":"string","format":"regex"}}}`, []string{"strict is omitted: /properties/a/format: the format is not one of date-time, time, date, duration, email, hostname, uri, ipv4, ipv6, uuid"}},
		"many optional":      {optional + `}}`, []string{"strict is omitted: the schema has more than 24 optional properties"}},
		"refused":            {object + `"properties":{"a b":{"type":"null"}},"anyOf":[{"type":"object","additionalProperties":false}]}`, []string{"Anthropic refuses tools whose input_schema has anyOf at the root; the root must describe one object.", "Anthropic refuses properties whose names are not 1 to 64 of a-z, A-Z, 0-9, _, . and -: a b"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := weather()
			v.InputSchema = json.RawMessage(tt.in)
			got := export(t, manifest.Anthropic, v)
			if diff := cmp.Diff(tt.want, got.Warnings); diff != "" {
				t.Error(diff)
			}
			var tool struct {
				Name, Description string
				InputSchema       json.RawMessage `json:"input_schema"`
				Strict            *bool
			}
			decodeExactly(t, got.Manifest, &tool)
			if strict := tool.Strict != nil && *tool.Strict; strict != (len(tt.want) == 0 || name == "refused") {
				t.Errorf("%s", got.Manifest)
			}
			keeps(t, v.InputSchema, tool.InputSchema, "type", "properties")
		})
	}
}

func TestGemini(t *testing.T) {
	t.Parallel()
	v := weather()
	v.InputSchema = json.RawMessage(`{"type":"object","properties":{"a":{"$ref":"#/$defs/a","title":"A"},"b":{"const":1},"c":{"oneOf":[{"enum":[true]}]},"d":{"$ref":"#"}},"$defs":{"a":{"type":"string"}}}`)
	v.OutputSchema = json.RawMessage(`{"type":"object","minProperties":1}`)
	got := export(t, manifest.Gemini, v)
	want := []string{
		"Gemini may ignore parts of the input schema: /properties/a: $ref has the sibling title",
		"Gemini may ignore parts of the input schema: /properties/b/const: is not supported",
		"Gemini may ignore parts of the input schema: /properties/c/oneOf: is treated as anyOf",
		"Gemini may ignore parts of the input schema: /properties/c/oneOf/0/enum: must contain only strings and numbers",
		"Gemini may ignore parts of the input schema: the schema is recursive; only a few levels are unrolled",
		"Gemini may ignore parts of the output schema: /minProperties: is not supported",
	}
	if diff := cmp.Diff(want, got.Warnings); diff != "" {
		t.Error(diff)
	}
	var tool struct {
		FunctionDeclarations []struct {
			Name, Description    string
			ParametersJsonSchema json.RawMessage //nolint:revive // the name that Gemini uses
			ResponseJsonSchema   json.RawMessage //nolint:revive // the name that Gemini uses
		}
	}
	decodeExactly(t, got.Manifest, &tool)
	keeps(t, v.InputSchema, tool.FunctionDeclarations[0].ParametersJsonSchema)
	keeps(t, v.OutputSchema, tool.FunctionDeclarations[0].ResponseJsonSchema)
}

func TestMCPHints(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		flags               []string
		capabilities        runtimes.Capabilities
		readOnly, openWorld bool
	}{
		"computes":     {nil, runtimes.Capabilities{HostFunctions: []string{"log"}}, true, false},
		"says so":      {[]string{"side_effect"}, runtimes.Capabilities{}, false, false},
		"goes out":     {nil, runtimes.Capabilities{Hosts: []string{"a.example:443"}}, false, true},
		"calls tools":  {nil, runtimes.Capabilities{HostFunctions: []string{"callTool"}}, false, false},
		"sees secrets": {[]string{"pii_risk"}, runtimes.Capabilities{}, true, false},
	}
	for name, tt := range tests {
		v := weather()
		v.SafetyFlags, v.Capabilities = tt.flags, tt.capabilities
		var tool struct{ Annotations map[string]bool }
		if err := json.Unmarshal(export(t, manifest.MCP, v).Manifest, &tool); err != nil {
			t.Fatal(err)
		}
		want := map[string]bool{"readOnlyHint": tt.readOnly, "openWorldHint": tt.openWorld}
		if diff := cmp.Diff(want, tool.Annotations); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestInputIsAnObjectEverywhere(t *testing.T) {
	t.Parallel()
	for _, format := range manifest.Formats()[1:] {
		v := weather()
		v.InputSchema = json.RawMessage(`{"type":"array"}`)
		if _, err := manifest.Export(format, v, base); !fault.Is(err, fault.InvalidInput) {
			t.Errorf("%s: %v", format, err)
		}
	}
}

// TestOpenAPIMovesReferences checks that references are rewritten, and that text that looks like a reference is not.
func TestOpenAPIMovesReferences(t *testing.T) {
	t.Parallel()
	v := weather()
	v.InputSchema = json.RawMessage(`{"type":"object","properties":{"$ref":{"const":{"$ref":"#/a"}},"a":{"items":[{"$ref":"#"}],"default":{"$ref":"#"}},"b":{"dependencies":{"x":["y"],"z":{"not":{"$ref":"#/$defs/q"}}}}},"$defs":{"q":{"enum":[{"$ref":"#"}]}},"examples":[{"$ref":"#"}]}`)
	v.OutputSchema = json.RawMessage(`{"$ref":"#/$defs/o","$defs":{"o":{"type":"number","maximum":12345678901234567890}}}`)
	got := export(t, manifest.OpenAPI, v)
	var document struct {
		Components struct {
			Schemas struct{ Input, Output json.RawMessage }
		}
	}
	if err := json.Unmarshal(got.Manifest, &document); err != nil {
		t.Fatal(err)
	}
	const input = `{"type":"object","properties":{"$ref":{"const":{"$ref":"#/a"}},"a":{"items":[{"$ref":"#/components/schemas/Input"}],"default":{"$ref":"#"}},"b":{"dependencies":{"x":["y"],"z":{"not":{"$ref":"#/components/schemas/Input/$defs/q"}}}}},"$defs":{"q":{"enum":[{"$ref":"#"}]}},"examples":[{"$ref":"#"}]}`
	const output = `{"$ref":"#/components/schemas/Output/$defs/o","$defs":{"o":{"type":"number","maximum":12345678901234567890}}}`
	if diff := cmp.Diff([]string{input, output}, []string{compact(t, document.Components.Schemas.Input), compact(t, document.Components.Schemas.Output)}); diff != "" || got.Warnings != nil {
		t.Errorf("%v\n%s", got.Warnings, diff)
	}
}

// TestOpenAPI_Draft7_SameMeaningIn2020 checks that draft-07 schemas and their exported forms accept the same documents.
func TestOpenAPI_Draft7_SameMeaningIn2020(t *testing.T) {
	t.Parallel()
	v := weather()
	v.InputSchema = json.RawMessage(`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{
		"pair":{"type":"array","items":[{"type":"string"},{"items":[{"type":"integer"}],"additionalItems":{"type":"null"}}],"additionalItems":false},
		"open":{"type":"array","items":[{"type":"string"}]},"list":{"items":{"type":"string"},"additionalItems":false},
		"deep":{"$ref":"#/properties/pair/items/1/items/0"},"rest":{"$ref":"#/properties/pair/items/1/additionalItems"},
		"sibling":{"$ref":"#/definitions/s","maxLength":1,"description":"kept"},"items":{"const":{"items":[1]}}},
		"dependencies":{"open":["list"],"rest":{"required":["deep"]}},"definitions":{"s":{"type":"string"}}}`)
	var exported struct {
		Components struct{ Schemas map[string]json.RawMessage }
	}
	if err := json.Unmarshal(export(t, "openapi", v).Manifest, &exported); err != nil {
		t.Fatal(err)
	}
	moved := strings.ReplaceAll(string(exported.Components.Schemas["Input"]), "#/components/schemas/Input", "#")
	for _, gone := range []string{"draft-07", "additionalItems", `"dependencies"`, `"maxLength"`} {
		if strings.Contains(moved, gone) {
			t.Errorf("%s is in %s", gone, moved)
		}
	}
	before, err := schema.Compile(v.InputSchema)
	if err != nil {
		t.Fatal(err)
	}
	after, err := schema.Compile(json.RawMessage(moved))
	if err != nil {
		t.Fatalf("%v: %s", err, moved)
	}
	for doc, valid := range map[string]bool{
		`{"pair":["a",[1,null,null]]}`: true, `{"pair":[1]}`: false, `{"pair":["a",["b"]]}`: false, `{"pair":["a",[1,2]]}`: false, `{"pair":["a",[],1]}`: false,
		`{"open":["a",1],"list":[]}`: true, `{"open":["a"]}`: false, `{"list":["a","b"]}`: true, `{"list":[1]}`: false,
		`{"deep":1}`: true, `{"deep":"x"}`: false, `{"rest":null}`: false, `{"rest":null,"deep":1}`: true, `{"rest":1,"deep":1}`: false, `{"sibling":"long"}`: true, `{"sibling":1}`: false,
		`{"items":{"items":[1]}}`: true, `{"items":{"prefixItems":[1]}}`: false,
	} {
		was, is := len(before.Validate([]byte(doc))) == 0, len(after.Validate([]byte(doc))) == 0
		if was != valid || is != valid {
			t.Errorf("%s: draft-07 %v, 2020-12 %v, want %v", doc, was, is, valid)
		}
	}
}
