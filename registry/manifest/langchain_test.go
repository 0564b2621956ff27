package manifest_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/atelier-run/atelier/registry/manifest"
)

func TestLangChain(t *testing.T) {
	t.Parallel()
	v := weather()
	got := export(t, manifest.LangChain, v)
	if got.Warnings != nil {
		t.Error(got.Warnings)
	}
	var tool struct {
		Title, Name, Description string
		Parameters, Schema       json.RawMessage
		OutputSchema             json.RawMessage `json:"outputSchema"`
		Metadata                 map[string]any
		Handler                  manifest.Handler
	}
	decodeExactly(t, got.Manifest, &tool)
	if tool.Name != "weather" || tool.Title != "weather" || tool.Description != v.Description || string(tool.OutputSchema) != "{}" {
		t.Errorf("%s", got.Manifest)
	}
	if diff := cmp.Diff(manifest.Build(v, base).Handler, tool.Handler); diff != "" {
		t.Error(diff)
	}
	if tool.Metadata["reference"] != "weather@1.2.0" || tool.Metadata["digest"] != v.Digest {
		t.Errorf("%v", tool.Metadata)
	}
	keeps(t, v.InputSchema, tool.Parameters, "title", "description")
	if compact(t, tool.Parameters) != compact(t, tool.Schema) {
		t.Error("parameters and schema differ")
	}
	// With these members, LangChain would treat the tool as one of OpenAI, Anthropic or Bedrock.
	var members map[string]any
	if err := json.Unmarshal(got.Manifest, &members); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"type", "input_schema", "toolSpec"} {
		if members[name] != nil {
			t.Errorf("has %s", name)
		}
	}
}

func TestLangChainRoot(t *testing.T) {
	t.Parallel()
	v := weather()
	v.InputSchema = json.RawMessage(`{"title":"Weather input","type":"object","$ref":"#/$defs/a","$defs":{"a":{"type":"object"}}}`)
	got := export(t, manifest.LangChain, v)
	want := []string{"The root of parameters has the tool's title instead of the schema's, because LangChain reads it there."}
	if diff := cmp.Diff(want, got.Warnings); diff != "" {
		t.Error(diff)
	}
	var tool struct {
		Parameters struct{ Title, Description string }
	}
	if err := json.Unmarshal(got.Manifest, &tool); err != nil || tool.Parameters.Title != "weather" || tool.Parameters.Description != v.Description {
		t.Errorf("%s", got.Manifest)
	}
	// LangChain drops a schema that has no properties at its root.
	if !bytes.Contains(got.Manifest, []byte(`"properties": {}`)) {
		t.Errorf("%s", got.Manifest)
	}
	v.Description, v.Title = "", ""
	got = export(t, manifest.LangChain, v)
	if !slices.Contains(got.Warnings, "The agent has no description, which models use to choose tools. Write one and publish.") || !bytes.Contains(got.Manifest, []byte(`"description": "weather code agent"`)) {
		t.Errorf("%v\n%s", got.Warnings, got.Manifest)
	}
}

// decodeExactly decodes JSON into a target, and fails the test if the target has no field for a member.
func decodeExactly(t *testing.T, raw json.RawMessage, target any) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(target); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
}

func compact(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
