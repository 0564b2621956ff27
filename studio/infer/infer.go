// Package infer derives the schemas of an agent from the types of its main, or from samples of its values. Types are
// read in the sandbox, where Python also loads the program. The answer of the sandbox is checked like a schema that a
// person writes.
package infer

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/registry/digest"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/router"
	"github.com/atelier-run/atelier/studio/packages"
	"github.com/atelier-run/atelier/studio/quotas"
	"github.com/atelier-run/atelier/studio/specs"
)

const (
	// maxMs limits the time of one inference. A program with a lower limit keeps it.
	maxMs    = 10_000
	maxNotes = 100
	maxNote  = 2000 // bytes of a note
)

// Options configures a Service. Engines describe the types of a program instead of running it; Lacks explains why one
// is missing.
type Options struct {
	Specs     *specs.Checker
	Validator *specs.Validator
	Router    *router.Router
	Quotas    *quotas.Service // nil for none
	Packages  *packages.Service
	Engines   map[runtimes.Language]runtimes.Runtime
	Lacks     func(runtimes.Language) string
	NewID     func() string
}

// Service infers schemas. It is safe for concurrent use.
type Service struct{ Options }

// New returns the service.
func New(o Options) *Service { return &Service{o} }

// Infer returns the schemas that the types of a program describe. Errors: InvalidInput with file and line for a program
// that cannot be loaded or described; RuntimeUnavailable; those of a run's quotas and queue.
func (s *Service) Infer(ctx context.Context, actor registry.Actor, spec registry.Spec) (registry.InferredSchemas, error) {
	spec, err := s.Specs.Complete(spec)
	if err != nil {
		return registry.InferredSchemas{}, err
	}
	engine, ok := s.Engines[spec.Language]
	if !ok {
		return registry.InferredSchemas{}, fault.Invalid("/language", "must be python, typescript or javascript; for other languages, give samples.")
	}
	if lacks := s.Lacks(spec.Language); lacks != "" {
		return registry.InferredSchemas{}, fault.New(fault.RuntimeUnavailable, "%s", lacks)
	}
	sum, err := digest.Code(spec.Files, spec.Entrypoint)
	if err != nil {
		return registry.InferredSchemas{}, err
	}
	job := s.job(actor, spec, sum)
	release, err := s.providePackages(ctx, spec, &job)
	if err != nil {
		return registry.InferredSchemas{}, err
	}
	defer release()
	outcome, err := s.run(ctx, engine, job, actor.ID)
	if err != nil {
		return registry.InferredSchemas{}, err
	}
	if e := outcome.Error; e != nil {
		if ctx.Err() != nil {
			return registry.InferredSchemas{}, &fault.Error{Code: fault.Cancelled, Message: "The inference was cancelled.", Err: ctx.Err()}
		}
		return registry.InferredSchemas{}, refuse(spec, fault.Detail{File: e.File, Line: e.Line, Column: e.Column, Code: string(e.Type), Message: e.Message})
	}
	return s.read(spec, sum, outcome.Output)
}

func (s *Service) job(actor registry.Actor, spec registry.Spec, sum string) runtimes.Job {
	files := make(map[string][]byte, len(spec.Files))
	for path, content := range spec.Files {
		files[path] = content
	}
	limits := s.Specs.Limits(spec.Limits)
	limits.TimeoutMs, limits.CPUMs = min(limits.TimeoutMs, maxMs), min(limits.CPUMs, maxMs)
	return runtimes.Job{
		RunID: s.NewID(), Workspace: actor.Workspace, Language: spec.Language, Files: files, Entrypoint: spec.Entrypoint, CodeDigest: sum,
		Environment: spec.Environment, Limits: limits, Isolation: spec.Isolation, Rules: s.Specs.Rules(actor.Workspace, spec),
	}
}

// providePackages installs the packages of a Python program, which is loaded to read its types. The time that this takes
// does not count for the limits. release must be called at the end.
func (s *Service) providePackages(ctx context.Context, spec registry.Spec, job *runtimes.Job) (release func(), err error) {
	if spec.Language != runtimes.Python || !packages.Needed(spec) {
		return func() {}, nil
	}
	if s.Packages == nil {
		return nil, fault.New(fault.RuntimeUnavailable, "This server installs no packages.")
	}
	found, release, err := s.Packages.Provide(ctx, job.Workspace, "", spec, func(packages.Step) {})
	if err != nil {
		return nil, err
	}
	job.Packages = &found
	return release, nil
}

// run executes a job in its turn, and counts it in the quotas.
func (s *Service) run(ctx context.Context, engine runtimes.Runtime, job runtimes.Job, caller string) (outcome runtimes.Outcome, err error) {
	var place quotas.Place
	if s.Quotas != nil {
		if place, err = s.Quotas.Admit(ctx, job.Workspace); err != nil {
			return outcome, err
		}
	}
	ticket, err := s.Router.Admit(job.Workspace, router.Source{Caller: caller, Interactive: true})
	if err != nil {
		place.Back()
		return outcome, err
	}
	defer ticket.Release()
	defer func() { place.End(outcome.Usage.CPU, 0) }()
	if err := ticket.Wait(ctx, func(router.Position) {}); err != nil {
		return outcome, &fault.Error{Code: fault.Cancelled, Message: "The inference was cancelled.", Err: err}
	}
	return engine.Run(ctx, job, silent{})
}

// answer is the output of an engine.
type answer struct {
	InputSchema  json.RawMessage       `json:"inputSchema"`
	OutputSchema json.RawMessage       `json:"outputSchema"`
	Source       registry.SchemaOrigin `json:"source"`
	Notes        []registry.SchemaNote `json:"notes"`
	Failed       *registry.SchemaNote  `json:"failed"`
}

// read checks the answer of an engine, which the program may have written itself.
func (s *Service) read(spec registry.Spec, sum string, output json.RawMessage) (registry.InferredSchemas, error) {
	var found answer
	if err := json.Unmarshal(output, &found); err != nil {
		return registry.InferredSchemas{}, refuse(spec, fault.Detail{Message: "The program sent no readable answer."})
	}
	if f := found.Failed; f != nil {
		return registry.InferredSchemas{}, refuse(spec, fault.Detail{File: f.File, Line: f.Line, Code: "too_large", Message: cut(f.Message)})
	}
	if !slices.Contains(registry.SchemaOrigins(), found.Source) {
		return registry.InferredSchemas{}, refuse(spec, fault.Detail{Message: "The program sent no readable answer."})
	}
	inferred := registry.InferredSchemas{
		InputSchema: found.InputSchema, OutputSchema: found.OutputSchema, Notes: notes(spec, found.Notes),
		SchemaSource: registry.SchemaSource{Source: found.Source, CodeDigest: sum},
	}
	if spec.Language != runtimes.Python && packages.Needed(spec) {
		inferred.Notes = append(inferred.Notes, registry.SchemaNote{Message: "The types of npm packages are not read: a type that comes from one accepts any value."})
	}
	return inferred, s.check(inferred)
}

// check refuses schemas that could not be saved.
func (s *Service) check(inferred registry.InferredSchemas) error {
	problems := &fault.Error{Code: fault.InvalidInput, Message: "The inferred schemas are not valid."}
	for _, one := range []struct {
		field string
		err   error
	}{{"/inputSchema", s.Validator.CheckInput(inferred.InputSchema)}, {"/outputSchema", s.Validator.Check(inferred.OutputSchema)}} {
		var refused *fault.Error
		if one.err != nil && (!errors.As(one.err, &refused) || refused.Code != fault.InvalidInput) {
			return one.err
		}
		if refused == nil {
			continue
		}
		for _, d := range refused.Details {
			d.Pointer = one.field + d.Pointer
			problems.Details = append(problems.Details, d)
		}
	}
	if len(problems.Details) > 0 {
		return problems
	}
	return nil
}

// refuse reports a program whose types cannot be described.
func refuse(spec registry.Spec, d fault.Detail) error {
	if _, ok := spec.Files[d.File]; !ok || d.Line < 0 || d.Column < 0 {
		d.File, d.Line, d.Column = "", 0, 0
	}
	return &fault.Error{Code: fault.InvalidInput, Message: "The schemas could not be inferred from the code.", Details: []fault.Detail{d}}
}

func notes(spec registry.Spec, said []registry.SchemaNote) []registry.SchemaNote {
	kept := []registry.SchemaNote{}
	for _, note := range said[:min(len(said), maxNotes)] {
		if _, ok := spec.Files[note.File]; !ok || note.Line < 0 {
			note.File, note.Line = "", 0
		}
		note.Message = cut(note.Message)
		kept = append(kept, note)
	}
	return kept
}

func cut(text string) string { return strings.ToValidUTF8(text[:min(len(text), maxNote)], "") }

// silent is the host of a program whose types are read: its output goes nowhere, and it may call nothing.
type silent struct{}

func (silent) Emit(runtimes.Event) {}

func (silent) Call(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return nil, &runtimes.CallError{Code: "denied", Message: "Host calls are not available while the types of a program are read."}
}
