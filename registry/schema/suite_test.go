package schema_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "github.com/google/jsonschema-go/jsonschema" // its module contains the suite

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry/schema"
)

type suiteGroup struct {
	Description string
	Schema      json.RawMessage
	Tests       []struct {
		Description string
		Data        json.RawMessage
		Valid       bool
	}
}

// TestSuite runs the official tests of JSON Schema. A schema may be rejected only because it needs another document or
// a custom dialect. format.json is omitted, because it requires formats not to be asserted.
func TestSuite(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ least, refused int }{
		"draft2020-12": {least: 1055, refused: 20},
		"draft7":       {least: 788, refused: 11},
	}
	for draft, tt := range tests {
		t.Run(draft, func(t *testing.T) {
			t.Parallel()
			ran, refused := 0, 0
			var left []string
			for file, groups := range readSuite(t, draft) {
				for _, group := range groups {
					s, err := schema.Compile(inDialect(t, draft, group.Schema))
					if err != nil {
						refused++
						left = append(left, file+": "+group.Description)
						checkRefusal(t, file+": "+group.Description, err)
						continue
					}
					for _, test := range group.Tests {
						ran++
						if details := s.Validate(test.Data); (len(details) == 0) != test.Valid {
							t.Errorf("%s: %s: %s: want valid %v, got %v", file, group.Description, test.Description, test.Valid, details)
						}
					}
				}
			}
			slices.Sort(left)
			t.Logf("JSON Schema Test Suite, %s: %d tests ran; left out are format.json, which wants formats not to be asserted, and %d groups whose schemas need another document or a dialect of their own:\n%s", draft, ran, refused, strings.Join(left, "\n"))
			if ran < tt.least || refused > tt.refused {
				t.Errorf("ran %d tests, refused %d schemas", ran, refused)
			}
		})
	}
}

// readSuite reads the suite from the module that contains it, so that the repository needs no copy.
func readSuite(t *testing.T, draft string) map[string][]suiteGroup {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.Dir}}", "github.com/google/jsonschema-go/jsonschema").Output()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "testdata", draft, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	suite := map[string][]suiteGroup{}
	for _, file := range files {
		name := filepath.Base(file)
		if name == "format.json" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var groups []suiteGroup
		if err := json.Unmarshal(text, &groups); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		suite[name] = groups
	}
	return suite
}

// inDialect adds draft-07 to schemas of its part of the suite, which expects the runner to do so.
func inDialect(t *testing.T, draft string, raw json.RawMessage) json.RawMessage {
	t.Helper()
	var object map[string]json.RawMessage
	if draft != "draft7" || json.Unmarshal(raw, &object) != nil || object["$schema"] != nil {
		return raw
	}
	object["$schema"] = json.RawMessage(`"http://json-schema.org/draft-07/schema#"`)
	raw, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func checkRefusal(t *testing.T, name string, err error) {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || len(f.Details) != 1 {
		t.Errorf("%s: %v", name, err)
		return
	}
	d := f.Details[0]
	elsewhere := d.Code == "$ref" && strings.Contains(d.Message, "another document")
	if !elsewhere && d.Code != "$schema" {
		t.Errorf("%s: %v", name, err)
	}
}
