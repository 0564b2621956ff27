package manifest_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry/manifest"
)

func TestReadTool_EachForm(t *testing.T) {
	t.Parallel()
	const schema = `{"type":"object","properties":{"city":{"type":"string"}}}`
	for _, tt := range []struct{ name, definition, form, tool, inputAt string }{
		{"chat completions", `{"type":"function","function":{"name":"forecast","description":"d","strict":true,"parameters":` + schema + `}}`, "openai", "forecast", "/tool/function/parameters"},
		{"responses", `{"type":"function","name":"forecast","description":"d","parameters":` + schema + `}`, "openai", "forecast", "/tool/parameters"},
		{"mcp", `{"name":"forecast","title":"Forecast","description":"d","inputSchema":` + schema + `,"outputSchema":{"type":"object"}}`, "mcp", "forecast", "/tool/inputSchema"},
		{"anthropic", `{"name":"forecast","description":"d","input_schema":` + schema + `}`, "anthropic", "forecast", "/tool/input_schema"},
		{"langchain schema", `{"name":"forecast","description":"d","schema":` + schema + `}`, "langchain", "forecast", "/tool/schema"},
		{"langchain args_schema", `{"name":"forecast","description":"d","args_schema":` + schema + `}`, "langchain", "forecast", "/tool/args_schema"},
		{"langchain args", `{"name":"forecast","description":"d","args":{"city":{"type":"string"}}}`, "langchain", "forecast", "/tool/args"},
		{"pydantic", `{"title":"forecast","description":"d","type":"object","properties":{"city":{"type":"string"}}}`, "langchain", "forecast", "/tool"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tool, err := manifest.ReadTool(json.RawMessage(tt.definition), "/tool")
			if err != nil {
				t.Fatal(err)
			}
			if tool.Form != tt.form || tool.Name != tt.tool || tool.Description != "d" || tool.InputAt != tt.inputAt || !strings.Contains(string(tool.Input), `"city"`) {
				t.Errorf("read %+v with the input %s", tool, tool.Input)
			}
		})
	}
}

// TestReadTool_OwnExports checks that ReadTool accepts the manifests that Export writes.
func TestReadTool_OwnExports(t *testing.T) {
	t.Parallel()
	v := weather()
	for _, format := range []string{manifest.OpenAI, manifest.Anthropic, manifest.LangChain, manifest.MCP} {
		tool, err := manifest.ReadTool(export(t, format, v).Manifest, "/tool")
		if err != nil || tool.Name != v.Agent || !strings.Contains(string(tool.Input), "properties") {
			t.Errorf("%s: read %+v, %v", format, tool, err)
		}
	}
}

func TestReadTool_Annotations_BecomeSafetyFlags(t *testing.T) {
	t.Parallel()
	for hints, want := range map[string][]string{
		`{}`: nil, `{"readOnlyHint":true}`: nil, `{"readOnlyHint":false}`: {"side_effect"}, `{"destructiveHint":true,"openWorldHint":true}`: {"side_effect", "external_call"},
	} {
		tool, err := manifest.ReadTool(json.RawMessage(`{"name":"a","inputSchema":{"type":"object"},"annotations":`+hints+`}`), "/tool")
		if err != nil || !slices.Equal(tool.SafetyFlags, want) {
			t.Errorf("%s gives %v, %v", hints, tool.SafetyFlags, err)
		}
	}
}

func TestReadTool_Wrong_NamesTheField(t *testing.T) {
	t.Parallel()
	for definition, want := range map[string]string{
		`{`:                                 "/tool",
		`7`:                                 "/tool",
		`null`:                              "/tool",
		`[{"name":"a"}]`:                    "/tool",
		`{"name":"a"}`:                      "/tool",
		`{"type":"web_search"}`:             "/tool",
		`{"type":"function"}`:               "/tool/name",
		`{"type":"function","function":7}`:  "/tool/function",
		`{"type":"function","function":{}}`: "/tool/function",
		`{"type":"function","function":{"name":7}}`:                       "/tool/function/name",
		`{"type":"function","function":{"name":"a","parameters":[]}}`:     "/tool/function/parameters",
		`{"name":"a","description":{},"inputSchema":{}}`:                  "/tool/description",
		`{"name":"a","inputSchema":"string"}`:                             "/tool/inputSchema",
		`{"name":"a","inputSchema":{},"outputSchema":3}`:                  "/tool/outputSchema",
		`{"name":"a","inputSchema":{},"annotations":[]}`:                  "/tool/annotations",
		`{"title":7,"properties":{}}`:                                     "/tool/title",
		`{"name":"a","schema":` + strings.Repeat(`{"not":`, 200) + `true`: "/tool",
	} {
		_, err := manifest.ReadTool(json.RawMessage(definition), "/tool")
		var f *fault.Error
		if !errors.As(err, &f) || f.Code != fault.InvalidInput || f.Details[0].Pointer != want {
			t.Errorf("%.60s gives %+v", definition, err)
		}
	}
}

func TestAgentName(t *testing.T) {
	t.Parallel()
	for tool, want := range map[string]string{
		"weather": "weather", "getWeather": "get-weather", "math.add@1": "math-add-1", "GET_URL": "get_url", "_9lives": "lives", "天気": "", strings.Repeat("a", 80): strings.Repeat("a", 63),
	} {
		if got := manifest.AgentName(tool); got != want {
			t.Errorf("%s becomes %q", tool, got)
		}
	}
}
