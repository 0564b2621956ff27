package infer

import (
	"context"
	_ "embed" // embeds the script that converts schemas
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/digest"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/packages"
)

// converter asks the library of an exported schema for its JSON Schema.
//
//go:embed convert.js
var converter string

// converted is the result of the script for one exported schema.
type converted struct {
	Vendor  string          `json:"vendor"`
	Schema  json.RawMessage `json:"schema"`
	Notes   []string        `json:"notes"`
	Problem string          `json:"problem"` // reason why the library cannot convert this schema
	Absent  bool            `json:"absent"`  // whether the library has no conversion to JSON Schema
}

// exported replaces the inferred schemas by the schemas that the program exports as input and output. To read them, it
// loads the program in the engine that runs the program. places contains the positions of the exports in the source.
func (s *Service) exported(ctx context.Context, spec registry.Spec, job runtimes.Job, sum string, places map[string]registry.SchemaNote, found *result) (runtimes.Outcome, error) {
	release, err := s.providePackages(ctx, spec, &job)
	if err != nil {
		return runtimes.Outcome{}, err
	}
	defer release()
	if job.Runtime, err = s.Chooser.Runtime(ctx, spec); err != nil {
		return runtimes.Outcome{}, err
	}
	engine, ok := s.Programs[job.Runtime]
	if !ok {
		return runtimes.Outcome{}, fault.New(fault.RuntimeUnavailable, "This server does not have the runtime %s.", job.Runtime)
	}
	if err := addConverter(&job); err != nil {
		return runtimes.Outcome{}, err
	}
	outcome, err := engine.Run(ctx, job, silent{})
	if err != nil {
		return outcome, err
	}
	if e := outcome.Error; e != nil {
		return outcome, failed(ctx, spec, *e, firstOf(places))
	}
	var schemas map[string]converted
	if err := json.Unmarshal(outcome.Output, &schemas); err != nil {
		return outcome, refuse(spec, fault.Detail{Message: "The program did not return a valid answer."})
	}
	return outcome, replace(spec, sum, schemas, places, found)
}

// addConverter makes the script the entry file of a job. The script may import the program and the libraries that it
// needs.
func addConverter(job *runtimes.Job) error {
	entry := "atelier.schemas.mjs"
	for n := 2; job.Files[entry] != nil; n++ {
		entry = fmt.Sprintf("atelier.schemas.%d.mjs", n)
	}
	program, err := json.Marshal("./" + job.Entrypoint)
	if err != nil {
		return err
	}
	var text strings.Builder
	fmt.Fprintf(&text, "import * as program from %s;\n", program)
	has := func(file string) bool {
		if job.Packages == nil {
			return false
		}
		_, ok := job.Packages.Sources["node_modules/"+file]
		return ok
	}
	switch {
	case has("zod/v4/index.js"):
		text.WriteString("import * as zod from \"zod/v4\";\n")
	case has("zod/package.json"):
		text.WriteString("import * as zod from \"zod\";\n")
	default:
		text.WriteString("const zod = undefined;\n")
	}
	if has("zod-to-json-schema/package.json") {
		text.WriteString("import { zodToJsonSchema } from \"zod-to-json-schema\";\n")
	} else {
		text.WriteString("const zodToJsonSchema = undefined;\n")
	}
	job.Files = maps.Clone(job.Files)
	job.Files[entry] = []byte(text.String() + converter)
	files := map[string]registry.File{}
	for name, content := range job.Files {
		files[name] = content
	}
	job.Entrypoint = entry
	job.CodeDigest, err = digest.Code(files, entry)
	return err
}

// replace sets the converted schemas in found. If the library cannot convert a schema, it returns an error with the
// position of the export in the source.
func replace(spec registry.Spec, sum string, schemas map[string]converted, places map[string]registry.SchemaNote, found *result) error {
	for _, side := range []string{"input", "output"} {
		one, ok := schemas[side]
		if !ok {
			continue
		}
		at := places[side]
		switch {
		case one.Problem != "":
			return refuse(spec, fault.Detail{File: at.File, Line: at.Line, Code: "no_json_schema", Message: cut("The exported " + side + " schema " + one.Problem)})
		case one.Absent:
			found.notes = append(found.notes, note{SchemaNote: registry.SchemaNote{File: at.File, Line: at.Line, Message: cut(fmt.Sprintf(
				"The library %q has no JSON Schema form (Standard JSON Schema), so the %s schema comes from the types. The exported schema checks the %s in the run.", one.Vendor, side, side))}, About: side + " schema"})
			continue
		}
		source := &registry.SchemaSource{Source: registry.FromZod, CodeDigest: sum}
		if one.Vendor != "zod" {
			source.Source = registry.FromStandardSchema
		}
		found.notes = slices.DeleteFunc(found.notes, func(n note) bool { return n.About == side })
		for _, message := range one.Notes[:min(len(one.Notes), maxNotes)] {
			found.notes = append(found.notes, note{registry.SchemaNote{File: at.File, Line: at.Line, Message: cut(side + ": " + message)}, side})
		}
		if side == "input" {
			found.InputSchema, found.SchemaSources.Input, found.SchemaSource, found.input = one.Schema, source, *source, at
		} else {
			found.OutputSchema, found.SchemaSources.Output, found.output = one.Schema, source, at
		}
	}
	return nil
}

// firstOf returns the position of the export named input, or of the export named output if there is no input.
func firstOf(places map[string]registry.SchemaNote) registry.SchemaNote {
	if at, ok := places["input"]; ok {
		return at
	}
	return places["output"]
}

// providePackages installs the packages of a program before it is loaded. The caller must call release at the end.
func (s *Service) providePackages(ctx context.Context, spec registry.Spec, job *runtimes.Job) (release func(), err error) {
	if !packages.Needed(spec) {
		return func() {}, nil
	}
	if s.Packages == nil {
		return nil, fault.New(fault.RuntimeUnavailable, "This server installs no packages.")
	}
	provided, release, err := s.Packages.Provide(ctx, job.Workspace, "", spec, func(packages.Step) {})
	if err != nil {
		return nil, err
	}
	job.Packages = &provided
	return release, nil
}
