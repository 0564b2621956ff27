package manifest_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/manifest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// examples are versions whose manifests are stored in testdata in every format. web/src/features/tool/vendors.test.ts
// loads them with the vendors' packages.
func examples() map[string]registry.Version {
	strict, nested, odd := weather(), weather(), weather()
	strict.InputSchema = json.RawMessage(`{"type":"object","properties":{"city":{"type":"string","description":"Where"},"days":{"type":["integer","null"]}},"required":["city","days"],"additionalProperties":false}`)
	strict.OutputSchema = json.RawMessage(`{"type":"object","properties":{"warmest":{"type":"number"}},"required":["warmest"],"additionalProperties":false}`)
	strict.SafetyFlags, strict.Capabilities.Hosts = nil, nil
	nested.Agent = "tree-walk"
	nested.InputSchema = json.RawMessage(`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"root":{"$ref":"#/$defs/node"},"shape":{"oneOf":[{"const":"a"},{"type":"object","properties":{"k":{"enum":[1,"x",null]}}}]}},"required":["root"],"$defs":{"node":{"type":"object","properties":{"name":{"type":"string","minLength":1,"default":"#/$defs/node"},"children":{"type":"array","items":{"$ref":"#/$defs/node"},"maxItems":9}},"additionalProperties":false}}}`)
	nested.OutputSchema = json.RawMessage(`{"type":"array","items":{"$ref":"#/$defs/leaf"},"$defs":{"leaf":{"type":"string"}}}`)
	odd.Agent, odd.Title, odd.Description, odd.RequiresApproval, odd.Deprecated = "odd_1", "", "", true, true
	odd.InputSchema = json.RawMessage(`{"type":["object"],"title":"T","properties":{"any":true,"never":false,"a b":{"$ref":"#x"},"id":{"$id":"https://example.com/id","$ref":"#/$defs/y","$defs":{"y":{}}}},"$defs":{"x":{"$anchor":"x","type":"string"}},"if":{"required":["any"]},"then":{"minProperties":2}}`)
	odd.OutputSchema = json.RawMessage(`true`)
	return map[string]registry.Version{"strict": strict, "nested": nested, "odd": odd}
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for name, v := range examples() {
		for _, format := range manifest.Formats() {
			t.Run(name+"/"+format, func(t *testing.T) {
				t.Parallel()
				got := export(t, format, v)
				var file bytes.Buffer
				encoder := json.NewEncoder(&file)
				encoder.SetEscapeHTML(false)
				encoder.SetIndent("", "  ")
				if err := encoder.Encode(map[string]any{"warnings": append([]string{}, got.Warnings...), "manifest": got.Manifest}); err != nil {
					t.Fatal(err)
				}
				path := filepath.Join("testdata", name+"."+format+".json")
				if *update {
					if err := os.WriteFile(path, file.Bytes(), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(string(want), file.String()); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

// TestNamesAreSafe checks that every vendor accepts the tool name of each format.
func TestNamesAreSafe(t *testing.T) {
	t.Parallel()
	safe := regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`)
	for _, name := range []string{"a", "weather-2_x", "a" + string(bytes.Repeat([]byte("z"), 62))} {
		if err := registry.CheckName(name); err != nil {
			t.Fatal(err)
		}
		for _, format := range manifest.Formats() {
			v := weather()
			v.Agent = name
			var tool struct {
				Name                 string
				Function             struct{ Name string }
				FunctionDeclarations []struct{ Name string }
				Paths                map[string]struct{ Post struct{ OperationID string } }
			}
			if err := json.Unmarshal(export(t, format, v).Manifest, &tool); err != nil {
				t.Fatal(err)
			}
			called := tool.Name + tool.Function.Name
			for _, f := range tool.FunctionDeclarations {
				called += f.Name
			}
			for _, path := range tool.Paths {
				called += path.Post.OperationID
			}
			if called != name || !safe.MatchString(called) {
				t.Errorf("%s of %s is called %q", format, name, called)
			}
		}
	}
}
