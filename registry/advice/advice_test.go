package advice_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/advice"
	"github.com/atelier-run/atelier/runtimes"
)

func version() registry.Version {
	return registry.Version{Title: "Weather", Spec: registry.Spec{
		Language: runtimes.Python, Runtime: runtimes.PythonEngine, Entrypoint: "main.py", Files: map[string]registry.File{"main.py": registry.File("x")},
		InputSchema:  json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}},"required":["city"]}`),
		OutputSchema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}}}`),
		Capabilities: runtimes.Capabilities{Hosts: []string{"*.example.com:443"}}, Limits: runtimes.DefaultLimits(),
	}}
}

func TestBetween(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(v *registry.Version)
		bump   registry.Bump
		says   string
	}{
		"nothing": {func(*registry.Version) {}, "none", ""},
		"code":    {func(v *registry.Version) { v.Files = map[string]registry.File{"main.py": registry.File("y")} }, "patch", "/files/main.py the file main.py changed"},
		"words":   {func(v *registry.Version) { v.Description = "More." }, "patch", "/description the description changed"},
		"input newly required": {func(v *registry.Version) {
			v.InputSchema = json.RawMessage(strings.Replace(string(v.InputSchema), `["city"]`, `["city","days"]`, 1))
		}, "major", "/inputSchema/required `days` became required in the input"},
		"input removed": {func(v *registry.Version) {
			v.InputSchema = json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`)
		}, "major", "/inputSchema/properties/days `days` was removed from the input"},
		"input added": {func(v *registry.Version) {
			v.InputSchema = json.RawMessage(strings.Replace(string(v.InputSchema), `"days"`, `"units":{"enum":["c","f"]},"days"`, 1))
		}, "minor", "/inputSchema/properties/units `units` was added to the input"},
		"input widened": {func(v *registry.Version) {
			v.InputSchema = json.RawMessage(strings.Replace(string(v.InputSchema), `"integer"`, `"number"`, 1))
		}, "minor", "/inputSchema/properties/days/type `days` is a number now; it was an integer in the input"},
		"input described": {func(v *registry.Version) {
			v.InputSchema = json.RawMessage(strings.Replace(string(v.InputSchema), `"type":"integer"`, `"type":"integer","description":"How many."`, 1))
		}, "patch", "/inputSchema the descriptions of the input schema changed"},
		"output added": {func(v *registry.Version) {
			v.OutputSchema = json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"},"rain":{"type":"number"}}}`)
		}, "minor", "/outputSchema/properties/rain `rain` was added to the output"},
		"output removed": {func(v *registry.Version) { v.OutputSchema = json.RawMessage(`{"type":"object"}`) }, "major", "/outputSchema/properties/text `text` was removed from the output"},
		"output widened": {func(v *registry.Version) {
			v.OutputSchema = json.RawMessage(`{"type":"object","properties":{"text":{"type":["string","null"]}}}`)
		}, "major", "`text` is a string or null now; it was a string in the output"},
		"output that cannot be compared": {func(v *registry.Version) {
			v.OutputSchema = json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"$dynamicAnchor":"x"}`)
		}, "major", "cannot be compared"},
		"host granted already":     {func(v *registry.Version) { v.Capabilities.Hosts = []string{"*.example.com:443", "api.example.com:443"} }, "none", ""},
		"new host":                 {func(v *registry.Version) { v.Capabilities.Hosts = []string{"*.example.com:443", "example.org:443"} }, "major", "/capabilities/hosts the host `example.org:443` is a new capability"},
		"host no longer requested": {func(v *registry.Version) { v.Capabilities.Hosts = nil }, "patch", "is no longer requested"},
		"new host function":        {func(v *registry.Version) { v.Capabilities.HostFunctions = []string{"readFile"} }, "major", "`readFile` is a new capability"},
		"new secret":               {func(v *registry.Version) { v.Secrets = []string{"KEY"} }, "major", "/secrets the secret `KEY` is a new capability"},
		"subprocess":               {func(v *registry.Version) { v.Capabilities.Subprocess = true }, "major", "starting processes is a new capability"},
		"limit":                    {func(v *registry.Version) { v.Limits.TimeoutMs = 1500 }, "patch", "/limits/timeoutMs the timeout is 1.5 s; it was 30 s"},
		"limit of bytes":           {func(v *registry.Version) { v.Limits.OutputBytes = 64 << 10 }, "patch", "/limits/outputBytes the output limit is 64 KiB; it was 1 MiB"},
		"limit by a byte":          {func(v *registry.Version) { v.Limits.OutputBytes++ }, "patch", "/limits/outputBytes the output limit is 1048577; it was 1048576"},
		"limit of a count":         {func(v *registry.Version) { v.Limits.RecursionDepth = 9 }, "patch", "/limits/recursionDepth the recursion limit is 9; it was 1000"},
		"runtime":                  {func(v *registry.Version) { v.Runtime = runtimes.Goja }, "patch", "/runtime the runtime is goja; it was python"},
		"entrypoint":               {func(v *registry.Version) { v.Entrypoint = "app.py" }, "patch", "/entrypoint"},
		"packages":                 {func(v *registry.Version) { v.Packages = []string{"x"} }, "patch", "/packages"},
		"environment":              {func(v *registry.Version) { v.Environment = map[string]string{"A": "1"} }, "patch", "/environment/A"},
		"approval":                 {func(v *registry.Version) { v.RequiresApproval = true }, "major", "/requiresApproval"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			after := version()
			tt.change(&after)
			reasons, err := advice.Between(version(), after)
			if err != nil {
				t.Fatal(err)
			}
			if got := advice.Of(reasons); got != tt.bump {
				t.Errorf("advised %s, want %s: %+v", got, tt.bump, reasons)
			}
			if tt.says == "" && len(reasons) > 0 {
				t.Errorf("reasons %+v", reasons)
			}
			if tt.says != "" && (len(reasons) == 0 || !strings.Contains(reasons[0].Pointer+" "+reasons[0].Message, tt.says)) {
				t.Errorf("reasons %+v, want first %q", reasons, tt.says)
			}
		})
	}
}
