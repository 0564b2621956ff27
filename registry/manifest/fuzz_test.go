package manifest_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry/manifest"
	"github.com/atelier-run/atelier/registry/schema"
)

// FuzzExport checks that agents with arbitrary texts and any valid schema can be exported to JSON in every format, with
// the same result each time.
func FuzzExport(f *testing.F) {
	for _, seed := range []string{
		`{"type":"object","required":["a"],"properties":{"a":{"$ref":"#/$defs/b"}},"$defs":{"b":{"type":"string","pattern":"^a"}}}`,
		`{"type":"object","properties":{"a":{"anyOf":[{"type":"null"},{"enum":[1,"1"]}]}},"additionalProperties":{"type":"number"}}`,
		`{"type":"object","properties":{"":{"const":{"a":[]}},"$ref":{"type":"string"}}}`, `{"$ref":"#"}`, `true`, `{"allOf":[{"type":"object"}]}`,
		`{"type":["object","null"],"patternProperties":{"^x":{}},"unevaluatedProperties":false}`, `{"type":"object","title":"\u0000\u2028","default":1e400}`,
	} {
		f.Add([]byte(seed), "Weather", "Forecast & more for a <city>.\x1b[31m", "https://studio.example.com/")
	}
	published, err := manifest.Schema()
	if err != nil {
		f.Fatal(err)
	}
	ours, err := schema.Compile(published)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, input []byte, title, description, base string) {
		if _, err := schema.Compile(input); err != nil {
			return // cannot be saved
		}
		v := weather()
		v.Title, v.Description, v.InputSchema = title, description, input
		for _, format := range manifest.Formats() {
			got, err := manifest.Export(format, v, base)
			if err != nil {
				if fault.CodeOf(err) == fault.Internal {
					t.Fatalf("%s of %q: %v", format, input, err)
				}
				continue
			}
			if !json.Valid(got.Manifest) {
				t.Fatalf("%s of %q is not JSON: %s", format, input, got.Manifest)
			}
			if again, err := manifest.Export(format, v, base); err != nil || !bytes.Equal(again.Manifest, got.Manifest) {
				t.Fatalf("%s of %q differs the second time: %v", format, input, err)
			}
			if details := ours.Validate(got.Manifest); format == manifest.Atelier && len(details) > 0 && title != "" {
				for _, d := range details {
					if d.Pointer != "/title" && d.Pointer != "/description" && d.Pointer != "/handler/url" && d.Pointer != "/inputSchema" {
						t.Fatalf("%s: %v", got.Manifest, details)
					}
				}
			}
		}
	})
}
