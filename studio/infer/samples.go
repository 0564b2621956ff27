package infer

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/jcs"
	"github.com/atelier-run/atelier/registry"
)

// These are the limits of samples. sampleDepth is the maximum nesting depth, and sampleBytes the maximum size of a
// value.
const (
	MaxSamples  = 100
	sampleDepth = 64
	sampleBytes = 4 << 20
)

// Sample is the input of a call, its output, or both.
type Sample struct {
	Input  json.RawMessage `json:"input,omitempty"`
	Output json.RawMessage `json:"output,omitempty"`
}

// FromSamples derives schemas that all samples match. A property is required if every sample contains it.
func (s *Service) FromSamples(samples []Sample) (registry.InferredSchemas, error) {
	if len(samples) == 0 || len(samples) > MaxSamples {
		return registry.InferredSchemas{}, fault.Invalid("/samples", "must contain 1 to %d samples.", MaxSamples)
	}
	var inputs, outputs []any
	for at, sample := range samples {
		for _, part := range []struct {
			name string
			raw  json.RawMessage
			to   *[]any
		}{{"input", sample.Input, &inputs}, {"output", sample.Output, &outputs}} {
			if len(part.raw) == 0 {
				continue
			}
			pointer := fmt.Sprintf("/samples/%d/%s", at, part.name)
			if err := jcs.Check(part.raw, jcs.Limits{Depth: sampleDepth, Bytes: sampleBytes}); err != nil {
				return registry.InferredSchemas{}, fault.Invalid(pointer, "must be JSON of at most 4 MiB, nested at most %d levels.", sampleDepth)
			}
			decoder := json.NewDecoder(bytes.NewReader(part.raw))
			decoder.UseNumber()
			var value any
			if err := decoder.Decode(&value); err != nil {
				return registry.InferredSchemas{}, fault.Invalid(pointer, "must be JSON.")
			}
			if _, object := value.(map[string]any); part.name == "input" && !object {
				return registry.InferredSchemas{}, fault.Invalid(pointer, "must be an object, because the input of an agent is an object.")
			}
			*part.to = append(*part.to, value)
		}
	}
	input, output := schemaOf(inputs), schemaOf(outputs)
	if len(inputs) == 0 {
		input = map[string]any{"type": "object"}
	}
	in, err := json.Marshal(input)
	if err != nil {
		return registry.InferredSchemas{}, err
	}
	out, err := json.Marshal(output)
	if err != nil {
		return registry.InferredSchemas{}, err
	}
	source := registry.SchemaSource{Source: registry.FromSample}
	guess := registry.InferredSchemas{
		InputSchema: in, OutputSchema: out, SchemaSource: source, SchemaSources: registry.SchemaSources{Input: &source, Output: &source},
		Notes: []registry.SchemaNote{{Message: fmt.Sprintf("These schemas are a guess from %d samples. Check which properties are required, and which values are allowed.", len(samples))}},
	}
	return guess, s.check(registry.Spec{}, result{InferredSchemas: guess})
}

// schemaOf returns a schema that all values match. Without values it returns {}.
func schemaOf(values []any) map[string]any {
	kinds, objects, items, texts := map[string]bool{}, []map[string]any{}, []any{}, []string{}
	for _, value := range values {
		switch v := value.(type) {
		case nil:
			kinds["null"] = true
		case bool:
			kinds["boolean"] = true
		case json.Number:
			kinds[numberKind(v)] = true
		case string:
			kinds["string"] = true
			texts = append(texts, v)
		case []any:
			kinds["array"] = true
			items = append(items, v...)
		case map[string]any:
			kinds["object"] = true
			objects = append(objects, v)
		}
	}
	if kinds["number"] {
		delete(kinds, "integer")
	}
	var types []any
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		types = append(types, kind)
	}
	schema := map[string]any{}
	switch len(types) {
	case 0:
		return schema
	case 1:
		schema["type"] = types[0]
	default:
		schema["type"] = types
	}
	if format := formatOf(texts); format != "" {
		schema["format"] = format
	}
	if found := schemaOf(items); len(found) > 0 {
		schema["items"] = found
	}
	describeObjects(schema, objects)
	return schema
}

// describeObjects adds the properties of all objects to a common schema.
func describeObjects(schema map[string]any, objects []map[string]any) {
	byName := map[string][]any{}
	for _, object := range objects {
		for name, value := range object {
			byName[name] = append(byName[name], value)
		}
	}
	properties, required := map[string]any{}, []string{}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		properties[name] = schemaOf(byName[name])
		if len(byName[name]) == len(objects) {
			required = append(required, name)
		}
	}
	if len(properties) > 0 {
		schema["properties"] = properties
	}
	if len(required) > 0 {
		schema["required"] = required
	}
}

func numberKind(n json.Number) string {
	if strings.ContainsAny(n.String(), ".eE") {
		return "number"
	}
	return "integer"
}

var uuidForm = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// formatOf returns the format that all texts match, or "" if there is none.
func formatOf(texts []string) string {
	if len(texts) == 0 {
		return ""
	}
	for name, fits := range map[string]func(string) bool{
		"date-time": func(text string) bool { _, err := time.Parse(time.RFC3339, text); return err == nil },
		"date":      func(text string) bool { _, err := time.Parse(time.DateOnly, text); return err == nil },
		"uuid":      uuidForm.MatchString,
	} {
		if !slices.ContainsFunc(texts, func(text string) bool { return !fits(text) }) {
			return name
		}
	}
	return ""
}

// Runs reads recorded runs.
type Runs interface {
	List(ctx context.Context, actor registry.Actor, filter registry.RunFilter) (registry.RunPage, error)
	Recorded(ctx context.Context, actor registry.Actor, id string) (registry.Run, error)
}

// runsBytes is the maximum total size of the recorded values that are read. Runs after this limit are ignored.
const runsBytes = 8 << 20

// fitsSample reports whether a recorded value is within the limits of samples, which are lower than those of runs.
func fitsSample(value json.RawMessage) bool {
	return jcs.Check(value, jcs.Limits{Depth: sampleDepth, Bytes: sampleBytes}) == nil
}

// FromRuns derives schemas from the newest recorded runs of an agent: the input schema from the inputs of all runs, and
// the output schema from the outputs of successful runs. Runs of programs with the flag pii_risk have no recorded
// values. Error: InvalidInput if no run has values.
func (s *Service) FromRuns(ctx context.Context, actor registry.Actor, runs Runs, filter registry.RunFilter) (registry.InferredSchemas, error) {
	page, err := runs.List(ctx, actor, filter)
	if err != nil {
		return registry.InferredSchemas{}, err
	}
	var samples []Sample
	size := 0
	for _, one := range page.Items {
		if !one.Status.Final() {
			continue
		}
		run, err := runs.Recorded(ctx, actor, one.ID)
		if fault.Is(err, fault.NotFound) { // The run was deleted after the list was read, because its retention time had ended.
			continue
		}
		if err != nil {
			return registry.InferredSchemas{}, err
		}
		sample, bytes := Sample{Input: run.Input}, len(run.Input)
		if run.Status == registry.Succeeded && fitsSample(run.Output) {
			sample.Output, bytes = run.Output, bytes+len(run.Output)
		}
		if run.Withheld || len(sample.Input) == 0 || sample.Input[0] != '{' || !fitsSample(sample.Input) || size+bytes > runsBytes {
			continue
		}
		samples, size = append(samples, sample), size+bytes
	}
	if len(samples) == 0 {
		return registry.InferredSchemas{}, fault.Invalid("/runs", "must select runs with recorded values; there are none. Run the agent first.")
	}
	return s.FromSamples(samples)
}
