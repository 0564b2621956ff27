package manifest_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/jcs"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/manifest"
	"github.com/atelier-run/atelier/registry/schema"
	"github.com/atelier-run/atelier/runtimes"
)

const base = "https://studio.example.com/"

func weather() registry.Version {
	return registry.Version{
		AgentID: "0190f0f0-0000-7000-8000-000000000001", Agent: "weather", Title: "Weather", Description: "Forecast & more for a <city>.",
		Version: "1.2.0", Digest: jcs.Sum(nil), Spec: registry.Spec{
			InputSchema: json.RawMessage(`{"type":"object","required":["city"],"properties":{"city":{"type":"string","minLength":1},"days":{"type":"integer","default":12345678901234567890}},"additionalProperties":false}`),
			SafetyFlags: []string{"external_call"}, Capabilities: runtimes.Capabilities{Hosts: []string{"api.example.com:443"}},
		},
	}
}

func TestAtelier(t *testing.T) {
	t.Parallel()
	const want = `{
  "manifestVersion": "1",
  "name": "weather",
  "title": "Weather",
  "description": "Forecast & more for a <city>.",
  "version": "1.2.0",
  "reference": "weather@1.2.0",
  "digest": "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  "inputSchema": {
    "type": "object",
    "required": [
      "city"
    ],
    "properties": {
      "city": {
        "type": "string",
        "minLength": 1
      },
      "days": {
        "type": "integer",
        "default": 12345678901234567890
      }
    },
    "additionalProperties": false
  },
  "outputSchema": {},
  "safetyFlags": [
    "external_call"
  ],
  "requiresApproval": false,
  "capabilities": {
    "hosts": [
      "api.example.com:443"
    ],
    "hostFunctions": [],
    "subprocess": false
  },
  "deprecated": false,
  "handler": {
    "type": "code_agent",
    "agentId": "0190f0f0-0000-7000-8000-000000000001",
    "version": "1.2.0",
    "url": "https://studio.example.com/api/v1/code-agents/weather/execute"
  }
}`
	got := export(t, manifest.Atelier, weather())
	if diff := cmp.Diff(want, string(got.Manifest)); diff != "" || got.Warnings != nil {
		t.Errorf("%v\n%s", got.Warnings, diff)
	}
}

// TestSchema validates manifests against their published schema.
func TestSchema(t *testing.T) {
	t.Parallel()
	raw, err := manifest.Schema()
	if err != nil {
		t.Fatal(err)
	}
	s, err := schema.Compile(raw)
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]registry.Version{
		"full": weather(),
		"bare": {Agent: "a", Version: "0.0.1-rc.1+b", Digest: jcs.Sum(nil)},
		"true": {Agent: "a", Version: "1.0.0", Digest: jcs.Sum(nil), Spec: registry.Spec{OutputSchema: json.RawMessage(" true ")}},
	} {
		if details := s.Validate(export(t, manifest.Atelier, v).Manifest); details != nil {
			t.Errorf("%s: %v", name, details)
		}
	}
	tests := map[string]struct{ path, value, want string }{
		"other version of the format": {"manifestVersion", `"2"`, `must be "1"`},
		"bad name":                    {"name", `"Weather"`, "must match the pattern"},
		"pinned to a range":           {"reference", `"weather@^1"`, "must match the pattern"},
		"short digest":                {"digest", `"sha256:00"`, "must match the pattern"},
		"schema in text":              {"inputSchema", `"{}"`, "must be a boolean or an object"},
		"null for a list":             {"safetyFlags", `null`, "must be an array"},
		"unknown member":              {"price", `1`, "has a property that is not allowed: price"},
		"unknown handler":             {"handler", `{"type":"web","agentId":"","version":"","url":"https://a.example"}`, `must be "code_agent"`},
		"handler without url":         {"handler", `{"type":"code_agent","agentId":"","version":""}`, "is required: url"},
		"relative url":                {"handler", `{"type":"code_agent","agentId":"","version":"","url":"/x"}`, "must be an absolute URI"},
		"no granted hosts":            {"capabilities", `{"hostFunctions":[],"subprocess":false}`, "is required: hosts"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var members map[string]json.RawMessage
			if err := json.Unmarshal(export(t, manifest.Atelier, weather()).Manifest, &members); err != nil {
				t.Fatal(err)
			}
			members[tt.path] = json.RawMessage(tt.value)
			changed, err := json.Marshal(members)
			if err != nil {
				t.Fatal(err)
			}
			details := s.Validate(changed)
			if len(details) != 1 || !strings.Contains(details[0].Message, tt.want) {
				t.Errorf("got %v", details)
			}
		})
	}
}

// TestMembersOfTheContract fails if a member of the manifest is renamed, removed or moved, because clients depend on
// them.
func TestMembersOfTheContract(t *testing.T) {
	t.Parallel()
	raw, err := manifest.Schema()
	if err != nil {
		t.Fatal(err)
	}
	var s struct{ Required []string }
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	want := []string{"manifestVersion", "name", "title", "description", "version", "reference", "digest", "inputSchema", "outputSchema", "safetyFlags", "requiresApproval", "capabilities", "deprecated", "handler"}
	if diff := cmp.Diff(want, s.Required); diff != "" {
		t.Error(diff)
	}
}

func TestUnknownFormat(t *testing.T) {
	t.Parallel()
	_, err := manifest.Export("soap", weather(), base)
	if !fault.Is(err, fault.InvalidInput) || !strings.Contains(err.Error(), "/format: must be one of: atelier, openai, langchain, anthropic, gemini, mcp, openapi") {
		t.Errorf("got %v", err)
	}
	for _, format := range manifest.Formats() {
		export(t, format, weather())
	}
}

// TestBuildCopies checks that changing a manifest does not change its version, which other goroutines share.
func TestBuildCopies(t *testing.T) {
	t.Parallel()
	v := weather()
	m := manifest.Build(v, base)
	m.SafetyFlags[0], m.Capabilities.Hosts[0], m.InputSchema[1] = "x", "x", 'x'
	if diff := cmp.Diff(weather(), v); diff != "" {
		t.Error(diff)
	}
}

func TestWarningsArePrintable(t *testing.T) {
	t.Parallel()
	v := weather()
	v.InputSchema = json.RawMessage(`{"type":"object","properties":{"a\r\nSet-Cookie: x\u202e` + strings.Repeat("k", 1000) + `":{"minLength":1}}}`)
	got := export(t, manifest.OpenAI, v)
	if len(got.Warnings) == 0 {
		t.Error("no warnings")
	}
	for _, warning := range got.Warnings {
		if strings.ContainsAny(warning, "\r\n\u202e") || len(warning) > 1000 {
			t.Errorf("%q", warning)
		}
	}
}

func export(t *testing.T, format string, v registry.Version) manifest.Result {
	t.Helper()
	got, err := manifest.Export(format, v, base)
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(got.Manifest) {
		t.Fatalf("%s", got.Manifest)
	}
	return got
}

// keeps fails the test unless is has all members of the schema was unchanged. It may have the added members at its
// root.
func keeps(t *testing.T, was, is json.RawMessage, added ...string) {
	t.Helper()
	var before, after map[string]json.RawMessage
	if err := json.Unmarshal(was, &before); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(is, &after); err != nil {
		t.Fatal(err)
	}
	for name, value := range after {
		if _, ok := before[name]; !ok && !slices.Contains(added, name) {
			t.Errorf("%s was added", name)
		} else if ok && !slices.Contains(added, name) && digest(t, value) != digest(t, before[name]) {
			t.Errorf("%s is %s, was %s", name, value, before[name])
		}
	}
	for name := range before {
		if after[name] == nil {
			t.Errorf("%s is missing", name)
		}
	}
}

func digest(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	sum, err := jcs.Digest(raw)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}
