// Package infer derives the schemas of an agent from the types of its main function, or from sample values. Types are
// read in the sandbox; for Python, the program is loaded there too. An inferred schema is checked like a schema that a
// person writes.
package infer

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

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
	// maxMs is the maximum time of an inference in milliseconds. If a program has a lower limit, that limit applies.
	maxMs    = 10_000
	maxNotes = 100
	maxNote  = 2000 // maximum size of a note in bytes
)

// Chooser selects the engine that runs a program.
type Chooser interface {
	Runtime(ctx context.Context, spec registry.Spec) (runtimes.Name, error)
}

// Options configures a Service. Engines read the types of a program without running the program. Lacks explains why an
// engine is missing.
type Options struct {
	Specs     *specs.Checker
	Validator *specs.Validator
	Router    *router.Router
	Quotas    *quotas.Service // nil if workspaces have no quotas
	Packages  *packages.Service
	Engines   map[runtimes.Language]runtimes.Runtime
	Programs  map[runtimes.Name]runtimes.Runtime // runtimes that load programs which export schemas
	Chooser   Chooser
	Lacks     func(runtimes.Language) string
	NewID     func() string
}

// Service infers schemas. It is safe for concurrent use.
type Service struct{ Options }

// New returns the service.
func New(o Options) *Service { return &Service{o} }

// Infer returns the schemas that the types of a program describe. Errors: InvalidInput with file and line if the
// program cannot be loaded or its types cannot be described; RuntimeUnavailable; errors of the quotas and of the queue,
// as for a run.
func (s *Service) Infer(ctx context.Context, actor registry.Actor, spec registry.Spec) (registry.InferredSchemas, error) {
	return s.infer(ctx, actor, spec, true)
}

// errPackages reports that a program can only be loaded with its packages.
var errPackages = errors.New("the schemas of the program need its packages")

// Quick does the same as Infer, but does not install packages. If the program can only be loaded with its packages, it
// returns an error.
func (s *Service) Quick(ctx context.Context, actor registry.Actor, spec registry.Spec) (registry.InferredSchemas, error) {
	return s.infer(ctx, actor, spec, false)
}

func (s *Service) infer(ctx context.Context, actor registry.Actor, spec registry.Spec, install bool) (registry.InferredSchemas, error) {
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
	install = install || !packages.Needed(spec)
	if !install && spec.Language == runtimes.Python {
		return registry.InferredSchemas{}, errPackages
	}
	job := s.job(actor, spec, sum)
	if spec.Language == runtimes.Python { // Python must load the program in order to read its types.
		release, err := s.prepare(ctx, spec, &job)
		if err != nil {
			return registry.InferredSchemas{}, err
		}
		defer release()
	}
	described, lacking, err := s.withTypes(ctx, spec, job, install)
	if err != nil {
		return registry.InferredSchemas{}, err
	}
	turn, err := s.admit(ctx, job.Workspace, actor.ID)
	if err != nil {
		return registry.InferredSchemas{}, err
	}
	defer turn.end()
	outcome, err := engine.Run(ctx, described, silent{})
	turn.cpu += outcome.Usage.CPU
	if err != nil {
		return registry.InferredSchemas{}, err
	}
	if e := outcome.Error; e != nil {
		return registry.InferredSchemas{}, failed(ctx, spec, *e, registry.SchemaNote{})
	}
	found, exports, err := s.read(spec, sum, outcome.Output)
	if err != nil {
		return registry.InferredSchemas{}, err
	}
	if len(exports) > 0 {
		if !install {
			return registry.InferredSchemas{}, errPackages
		}
		outcome, err := s.exported(ctx, spec, job, sum, exports, &found)
		turn.cpu += outcome.Usage.CPU
		if err != nil {
			return registry.InferredSchemas{}, err
		}
	}
	return s.finish(spec, found, lacking)
}

// withTypes adds the type declarations of npm packages to a job. lacking is the reason why some declarations are
// missing, or "" if none are missing.
func (s *Service) withTypes(ctx context.Context, spec registry.Spec, job runtimes.Job, install bool) (described runtimes.Job, lacking string, err error) {
	if spec.Language == runtimes.Python || !packages.Needed(spec) {
		return job, "", nil
	}
	const effect = "types from packages accept any value."
	if !install || s.Packages == nil {
		return job, "The packages are not installed: " + effect, nil
	}
	if err := s.within(ctx, job.Workspace); err != nil {
		return job, "", err
	}
	types, err := s.Packages.ProvideTypes(ctx, job.Workspace, spec)
	switch {
	case fault.Is(err, fault.InvalidInput), fault.Is(err, fault.IndexUnavailable): // The types of the program itself can still be read.
		return job, "The types of the packages are missing, so " + effect + " " + err.Error(), nil
	case err != nil:
		return job, "", err
	case !types.Complete:
		lacking = "The packages have too many types to read them all: " + effect
	}
	job.Files = maps.Clone(job.Files)
	for name, text := range types.Files {
		if _, own := job.Files[name]; !own {
			job.Files[name] = []byte(text)
		}
	}
	return job, lacking, nil
}

// prepare installs the packages of a job before the job gets a slot, because an installation may take minutes. If the
// quota of the workspace is used up, it returns an error instead.
func (s *Service) prepare(ctx context.Context, spec registry.Spec, job *runtimes.Job) (release func(), err error) {
	if packages.Needed(spec) {
		if err := s.within(ctx, job.Workspace); err != nil {
			return nil, err
		}
	}
	return s.providePackages(ctx, spec, job)
}

// within returns an error if the quota of the workspace is used up.
func (s *Service) within(ctx context.Context, workspace string) error {
	if s.Quotas == nil {
		return nil
	}
	return s.Quotas.Check(ctx, workspace)
}

// failed returns the error for a program that could not be loaded. If the error has no position in the program's files,
// it gets the position at.
func failed(ctx context.Context, spec registry.Spec, e runtimes.ProgramError, at registry.SchemaNote) error {
	if ctx.Err() != nil {
		return &fault.Error{Code: fault.Cancelled, Message: "The inference was cancelled.", Err: ctx.Err()}
	}
	if _, ours := spec.Files[e.File]; !ours {
		e.File, e.Line, e.Column = at.File, at.Line, 0
	}
	return refuse(spec, fault.Detail{File: e.File, Line: e.Line, Column: e.Column, Code: string(e.Type), Message: e.Message})
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

// turn is the right to execute a job: a reservation in the quotas and a slot in the queue of runs.
type turn struct {
	place  quotas.Place
	ticket *router.Ticket
	cpu    time.Duration
}

// admit waits until a job may start, and returns its turn. The caller must call end on the turn.
func (s *Service) admit(ctx context.Context, workspace, caller string) (*turn, error) {
	t := &turn{}
	var err error
	if s.Quotas != nil {
		if t.place, err = s.Quotas.Admit(ctx, workspace); err != nil {
			return nil, err
		}
	}
	if t.ticket, err = s.Router.Admit(workspace, router.Source{Caller: caller, Interactive: true}); err != nil {
		t.place.Back()
		return nil, err
	}
	if err := t.ticket.Wait(ctx, func(router.Position) {}); err != nil {
		t.end()
		return nil, &fault.Error{Code: fault.Cancelled, Message: "The inference was cancelled.", Err: err}
	}
	return t, nil
}

// end releases the slot and adds the used CPU time to the workspace's usage.
func (t *turn) end() {
	t.place.End(t.cpu, 0)
	t.ticket.Release()
}

// note is a note about the input schema, the output schema, or both.
type note struct {
	registry.SchemaNote
	About string `json:"about"`
}

// result holds the schemas inferred so far, and the positions in the source from which they were derived.
type result struct {
	registry.InferredSchemas
	notes         []note
	input, output registry.SchemaNote
}

// answer is the output of an engine.
type answer struct {
	InputSchema  json.RawMessage       `json:"inputSchema"`
	OutputSchema json.RawMessage       `json:"outputSchema"`
	Source       registry.SchemaOrigin `json:"source"`
	Notes        []note                `json:"notes"`
	// Exported contains the positions of exports that may be schemas of a library.
	Exported map[string]registry.SchemaNote `json:"exported"`
	Main     registry.SchemaNote            `json:"main"` // position of the main function
	Failed   *failure                       `json:"failed"`
}

// failure is the reason why an engine could not describe the types. Code is one of the keys of failures.
type failure struct {
	registry.SchemaNote
	Code string `json:"code"`
}

var failures = []string{"syntax_error", "no_main", "too_large", "not_described"}

// read checks the answer of an engine and returns the schemas and the positions of exported schemas. The answer is not
// trusted, because the program may have written it.
func (s *Service) read(spec registry.Spec, sum string, output json.RawMessage) (result, map[string]registry.SchemaNote, error) {
	var found answer
	if err := json.Unmarshal(output, &found); err != nil {
		return result{}, nil, refuse(spec, fault.Detail{Message: "The program did not return a valid answer."})
	}
	if f := found.Failed; f != nil && slices.Contains(failures, f.Code) {
		return result{}, nil, refuse(spec, fault.Detail{File: f.File, Line: f.Line, Code: f.Code, Message: cut(f.Message)})
	}
	if !slices.Contains(registry.SchemaOrigins(), found.Source) {
		return result{}, nil, refuse(spec, fault.Detail{Message: "The program did not return a valid answer."})
	}
	source := registry.SchemaSource{Source: found.Source, CodeDigest: sum}
	return result{InferredSchemas: registry.InferredSchemas{
		InputSchema: found.InputSchema, OutputSchema: found.OutputSchema,
		SchemaSource: source, SchemaSources: registry.SchemaSources{Input: &source, Output: &source},
	}, notes: found.Notes, input: found.Main, output: found.Main}, found.Exported, nil
}

// finish limits the number of notes and checks the schemas. If a schema was derived from types, lacking becomes a note.
func (s *Service) finish(spec registry.Spec, found result, lacking string) (registry.InferredSchemas, error) {
	typed := found.SchemaSources.Input.Source == registry.FromTypeScript || found.SchemaSources.Output.Source == registry.FromTypeScript
	if !typed && spec.Language != runtimes.Python { // No schema was derived from the types, so general notes about the types do not matter.
		found.notes = slices.DeleteFunc(found.notes, func(n note) bool { return n.About == "" })
	}
	found.Notes = notes(spec, found.notes)
	if typed && lacking != "" {
		found.Notes = append(found.Notes, registry.SchemaNote{Message: cut(lacking)})
	}
	return found.InferredSchemas, s.check(spec, found)
}

// check rejects schemas that could not be saved. Its errors have the positions in the source from which the schemas
// were derived.
func (s *Service) check(spec registry.Spec, found result) error {
	problems := &fault.Error{Code: fault.InvalidInput, Message: "The inferred schemas are not valid."}
	for _, one := range []struct {
		field string
		at    registry.SchemaNote
		err   error
	}{{"/inputSchema", found.input, s.Validator.CheckInput(found.InputSchema)}, {"/outputSchema", found.output, s.Validator.Check(found.OutputSchema)}} {
		var refused *fault.Error
		if one.err != nil && (!errors.As(one.err, &refused) || refused.Code != fault.InvalidInput) {
			return one.err
		}
		if refused == nil {
			continue
		}
		for _, d := range refused.Details {
			d.Pointer = one.field + d.Pointer
			if _, ok := spec.Files[one.at.File]; ok && one.at.Line > 0 {
				d.File, d.Line = one.at.File, one.at.Line
			}
			problems.Details = append(problems.Details, d)
		}
	}
	if len(problems.Details) > 0 {
		return problems
	}
	return nil
}

// refuse returns the error for a program whose types cannot be described.
func refuse(spec registry.Spec, d fault.Detail) error {
	if _, ok := spec.Files[d.File]; !ok || d.Line < 0 || d.Column < 0 {
		d.File, d.Line, d.Column = "", 0, 0
	}
	return &fault.Error{Code: fault.InvalidInput, Message: "The schemas could not be inferred from the code.", Details: []fault.Detail{d}}
}

func notes(spec registry.Spec, said []note) []registry.SchemaNote {
	kept := []registry.SchemaNote{}
	for _, one := range said[:min(len(said), maxNotes)] {
		note := one.SchemaNote
		if _, ok := spec.Files[note.File]; !ok || note.Line < 0 {
			note.File, note.Line = "", 0
		}
		note.Message = cut(note.Message)
		if !slices.Contains(kept, note) {
			kept = append(kept, note)
		}
	}
	return kept
}

func cut(text string) string { return strings.ToValidUTF8(text[:min(len(text), maxNote)], "") }

// silent is the host of a program whose types are read. It discards all output and rejects all host calls.
type silent struct{}

func (silent) Emit(runtimes.Event) {}

func (silent) Call(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return nil, &runtimes.CallError{Code: "denied", Message: "Host calls are not available while the types of a program are read."}
}
