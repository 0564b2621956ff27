package agents

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/specs"
)

// ValidateRequest holds the code, schemas and documents to check. Fields that are empty are not checked.
type ValidateRequest struct {
	Language     runtimes.Language
	Runtime      runtimes.Name // "" means auto
	Code         string
	Files        map[string]registry.File
	Entrypoint   string
	Environment  map[string]string
	Packages     []string
	Rules        *runtimes.Rules
	InputSchema  json.RawMessage
	OutputSchema json.RawMessage
	Input        json.RawMessage
	Output       json.RawMessage
	Infer        bool // whether to infer the schemas from the code
	Name, Title  string
	Description  *string // not checked if nil
}

// ValidateReport lists the errors and warnings of a validation.
type ValidateReport struct {
	Valid    bool             `json:"valid"`
	Errors   []fault.Detail   `json:"errors"`
	Warnings []fault.Detail   `json:"warnings"`
	Module   *runtimes.Module `json:"module,omitempty"` // imports and exports of a WebAssembly module
	// RuntimeChoice is the runtime that auto would select from the code alone, with the reason.
	RuntimeChoice *registry.RuntimeChoice `json:"runtimeChoice,omitempty"`
	// Verdict is the verdict of the gate about the code. It is nil if the settings are invalid or the gate is off.
	Verdict *registry.Verdict `json:"verdict,omitempty"`
	// Inferred holds the schemas that the types of the code describe. It is nil if they were not requested or the code
	// has errors.
	Inferred *registry.InferredSchemas `json:"inferred,omitempty"`
}

// description checks all texts of the request. It returns the description, or "" if there is none.
func (r ValidateRequest) description() (string, error) {
	description := ""
	if r.Description != nil {
		description = *r.Description
	}
	for _, one := range [][2]string{{"/name", r.Name}, {"/title", r.Title}, {"/description", description}} {
		if err := registry.CheckText(one[0], one[1]); err != nil {
			return "", err
		}
	}
	return description, nil
}

// Validate parses code in the sandbox, compiles schemas and checks documents against them. It runs no code.
func (s *Service) Validate(ctx context.Context, actor registry.Actor, req ValidateRequest) (ValidateReport, error) {
	report := ValidateReport{Errors: []fault.Detail{}, Warnings: []fault.Detail{}}
	described, err := req.description()
	if err != nil {
		return report, err
	}
	if req.Code != "" || len(req.Files) > 0 {
		spec := registry.Spec{Language: req.Language, Runtime: req.Runtime, Files: req.Files, Entrypoint: req.Entrypoint, Environment: req.Environment, Packages: req.Packages, Rules: req.Rules}
		if req.Code != "" {
			if spec.Entrypoint == "" {
				spec.Entrypoint = specs.Entrypoint(req.Language)
			}
			spec.Files = map[string]registry.File{spec.Entrypoint: registry.File(req.Code)}
		}
		if err := s.validateCode(ctx, actor, spec, &report); err != nil {
			return report, err
		}
		if req.Infer && len(report.Errors) == 0 && s.Inference != nil {
			if err := s.inferInto(ctx, actor, spec, &report); err != nil {
				return report, err
			}
		}
	}
	if err := s.validateDocument("/input", req.InputSchema, req.Input, &report); err != nil {
		return report, err
	}
	if err := s.validateDocument("/output", req.OutputSchema, req.Output, &report); err != nil {
		return report, err
	}
	if req.Description != nil {
		report.Warnings = append(report.Warnings, registry.DescriptionWarnings(req.Name, req.Title, described)...)
	}
	report.Valid = len(report.Errors) == 0
	return report, nil
}

func (s *Service) validateCode(ctx context.Context, actor registry.Actor, spec registry.Spec, report *ValidateReport) error {
	spec, err := s.Specs.Complete(spec)
	if refused := (*fault.Error)(nil); errors.As(err, &refused) && refused.Code == fault.InvalidInput {
		report.Errors = append(report.Errors, refused.Details...)
		return nil
	}
	if err != nil {
		return err
	}
	engine, choice, err := s.Engines.Choose(ctx, actor.Workspace, "", spec)
	if err != nil {
		return err
	}
	found, err := s.Inspector.Check(ctx, s.question(actor, spec, engine))
	if len(found.Errors) == 0 {
		report.RuntimeChoice = choice
	}
	report.Errors = append(report.Errors, found.Errors...)
	report.Warnings = append(report.Warnings, found.Warnings...)
	report.Module = found.Module
	if err == nil && s.Gate != nil {
		report.Verdict, err = s.Gate.Judge(ctx, actor.Workspace, spec, nil)
	}
	return err
}

// inferInto adds the inferred schemas to the report. If no schema can be inferred from the types of the program, it
// adds a warning.
func (s *Service) inferInto(ctx context.Context, actor registry.Actor, spec registry.Spec, report *ValidateReport) error {
	found, err := s.Inference.Infer(ctx, actor, spec)
	var refused *fault.Error
	switch {
	case err == nil:
		report.Inferred = &found
		return nil
	case errors.As(err, &refused) && (refused.Code == fault.InvalidInput || refused.Code == fault.RuntimeUnavailable):
		report.Warnings = append(report.Warnings, refused.Details...)
		if len(refused.Details) == 0 {
			report.Warnings = append(report.Warnings, fault.Detail{Message: refused.Message})
		}
		return nil
	}
	return err
}

// validateDocument checks a schema, and then a document against the schema. field is /input or /output.
func (s *Service) validateDocument(field string, schema, document json.RawMessage, report *ValidateReport) error {
	if len(schema) == 0 {
		return nil
	}
	if err := s.Validator.Check(schema); err != nil {
		return s.schemaFault(field+"Schema", err, report)
	}
	if len(document) == 0 {
		return nil
	}
	details, err := s.Validator.Validate(schema, document)
	if err != nil {
		return err
	}
	for _, d := range details {
		d.Pointer = field + d.Pointer
		report.Errors = append(report.Errors, d)
	}
	return nil
}

// schemaFault adds the problems of a schema to the report. It returns any error that is not about the schema.
func (s *Service) schemaFault(field string, err error, report *ValidateReport) error {
	var refused *fault.Error
	if err == nil || !errors.As(err, &refused) || refused.Code != fault.InvalidInput {
		return err
	}
	for _, d := range refused.Details {
		d.Pointer = field + d.Pointer
		report.Errors = append(report.Errors, d)
	}
	return nil
}
