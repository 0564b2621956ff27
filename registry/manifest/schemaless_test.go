package manifest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/manifest"
)

func TestExport_NoInputSchema_Warns(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]bool{
		`{"type":"object"}`: true,
		`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","additionalProperties":true}`: true,
		`{"type":"object","additionalProperties":false}`:                                                         false,
		`{"type":"object","properties":{"city":{"type":"string"}}}`:                                              false,
	} {
		for _, format := range manifest.Formats() {
			v := registry.Version{Agent: "trip", Version: "1.0.0", Description: "Plans."}
			v.InputSchema, v.OutputSchema = json.RawMessage(input), json.RawMessage(`{}`)
			result, err := manifest.Export(format, v, "http://127.0.0.1")
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(strings.Join(result.Warnings, " "), "no input schema"); got != want {
				t.Errorf("%s as %s: %v", input, format, result.Warnings)
			}
		}
	}
}
