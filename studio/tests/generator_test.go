package tests_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/schema"
	"github.com/atelier-run/atelier/studio/specs"
	"github.com/atelier-run/atelier/studio/tests"
)

// drafted returns an agent whose draft has this input schema.
type drafted string

func (d drafted) Agent(context.Context, string, string) (registry.Agent, error) {
	return registry.Agent{Draft: registry.Draft{Revision: 1, Spec: registry.Spec{InputSchema: json.RawMessage(d)}}}, nil
}

// For schemas that describe endless values, the generator must return small values. No schema may make it fail.
func TestGenerate_HostileSchemas_Bounded(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"nothing":          ``,
		"anything":         `true`,
		"itself":           `{"type":"object","properties":{"a":{"$ref":"#"}},"required":["a"]}`,
		"itself or itself": `{"type":"object","properties":{"a":{"anyOf":[{"$ref":"#"},{"type":"array","items":{"$ref":"#"}}]}},"required":["a"]}`,
		"wide":             `{"type":"object","properties":{"a":{"$ref":"#/$defs/l"}},"$defs":{"l":{"type":"array","minItems":50,"items":{"$ref":"#/$defs/l"}}}}`,
		"a billion":        `{"type":"object","properties":{"a":{"type":"array","minItems":1000000000},"b":{"type":"string","minLength":1000000000}},"required":["a","b"]}`,
		"all numbers":      `{"type":"object","properties":{"a":{"type":"number","minimum":-1e308,"maximum":1e308},"b":{"type":"integer","minimum":-1e308,"maximum":1e308},"c":{"type":"number","multipleOf":1e308}},"required":["a","b","c"]}`,
		"many long texts":  `{"type":"object","properties":{"a":{"type":"array","minItems":500,"items":{"type":"string","minLength":9000}}},"required":["a"]}`,
		"many constants":   `{"type":"object","properties":{"a":{"type":"array","minItems":500,"items":{"const":"` + strings.Repeat("x", 5000) + `"}}},"required":["a"]}`,
		"nothing fits":     `{"type":"object","properties":{"a":false},"required":["a"]}`,
		"a missing part":   `{"type":"object","properties":{"a":{"type":"string","pattern":"^[0-9]{40}$"}},"required":["a"]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := engine(echo)
			service := tests.New(tests.Options{Runs: run, Agents: drafted(text), Validator: specs.NewValidator(schema.NewCache(16))})
			found, err := service.Generate(t.Context(), registry.Actor{}, tests.GenerateRequest{Request: tests.Request{Seen: registry.AnyRevision()}, Count: 12, Seed: 3})
			if err != nil {
				t.Fatal(err)
			}
			for _, one := range found.Cases {
				if len(one.Test.Input) > 200_000 || strings.Contains(one.Result.Message, "panic") {
					t.Errorf("%d bytes, %+v", len(one.Test.Input), one.Result)
				}
			}
		})
	}
}
