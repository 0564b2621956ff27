// Package infer derives the schemas of an agent from the types of its main, or from samples of its values. Types are
// read in the sandbox, where Python also loads the program. The answer of the sandbox is checked like a schema that a
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
	// maxMs limits the time of one inference. A program with a lower limit keeps it.
	maxMs    = 10_000
	maxNotes = 100
	maxNote  = 2000 // bytes of a note
)

// Chooser returns the engine that runs a program.
type Chooser interface {
	Runtime(ctx context.Context, spec registry.Spec) (runtimes.Name, error)
}

// Options configures a Service. Engines describe the types of a program instead of running it; Lacks explains why one
// is missing.
type Options struct {
	Specs     *specs.Checker
	Validator *specs.Validator
	Router    *router.Router
	Quotas    *quotas.Service // nil for none
	Packages  *packages.Service
	Engines   map[runtimes.Language]runtimes.Runtime
	Programs  map[runtimes.Name]runtimes.Runtime // run programs whose schemas are exported
	Chooser   Chooser
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
	return s.infer(ctx, actor, spec, true)
}

// errPackages reports that a program must be loaded with its packages.
var errPackages = errors.New("the schemas of the program need its packages")

// Quick is Infer without installing packages. It returns an error if the program must be loaded with them.
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
	if spec.Language == runtimes.Python { // it is loaded to read its types
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

// withTypes adds the declarations of npm packages to a job. lacking is the reason why some are missing,
// "" if none are.
func (s *Service) withTypes(ctx context.Context, spec registry.Spec, job runtimes.Job, install bool) (described runtimes.Job, lacking string, err error) {
	if spec.Language == runtimes.Python || !packages.Needed(spec) {
		return job, "", nil
	}
	const effect = "a type that comes from one accepts any value."
	if !install || s.Packages == nil {
		return job, "The packages are not installed: " + effect, nil
	}
	if err := s.within(ctx, job.Workspace); err != nil {
		return job, "", err
	}
	types, err := s.Packages.ProvideTypes(ctx, job.Workspace, spec)
	switch {
	case fault.Is(err, fault.InvalidInput), fault.Is(err, fault.IndexUnavailable): // the types of the program are still readable
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

// prepare installs the packages of a job before it has a turn, because an installation may take minutes. A workspace
// without quota installs none.
func (s *Service) prepare(ctx context.Context, spec registry.Spec, job *runtimes.Job) (release func(), err error) {
	if packages.Needed(spec) {
		if err := s.within(ctx, job.Workspace); err != nil {
			return nil, err
		}
	}
	return s.providePackages(ctx, spec, job)
}

// within refuses a workspace without quota.
func (s *Service) within(ctx context.Context, workspace string) error {
	if s.Quotas == nil {
		return nil
	}
	return s.Quotas.Check(ctx, workspace)
}

// failed reports a program that could not be loaded. at is where it is if the error has no place.
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

// turn is a place in the quotas and in the queue of runs.
type turn struct {
	place  quotas.Place
	ticket *router.Ticket
	cpu    time.Duration
}

// admit waits for the turn of a job. The caller must end it.
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

// end frees the turn and counts what was used.
func (t *turn) end() {
	t.place.End(t.cpu, 0)
	t.ticket.Release()
}

// note is a note about both schemas, or about one: input or output.
type note struct {
	registry.SchemaNote
	About string `json:"about"`
}

// result holds the schemas that were inferred so far, and the places in the source that they came from.
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
	// Exported has the places of the exports that may be schemas of a library.
	Exported map[string]registry.SchemaNote `json:"exported"`
	Main     registry.SchemaNote            `json:"main"` // its place
	Failed   *failure                       `json:"failed"`
}

// failure says why an engine describes no types. Code is one of failures.
type failure struct {
	registry.SchemaNote
	Code string `json:"code"`
}

var failures = []string{"syntax_error", "no_main", "too_large", "not_described"}

// read checks the answer of an engine, which the program may have written itself. It also returns the places of exported
// schemas.
func (s *Service) read(spec registry.Spec, sum string, output json.RawMessage) (result, map[string]registry.SchemaNote, error) {
	var found answer
	if err := json.Unmarshal(output, &found); err != nil {
		return result{}, nil, refuse(spec, fault.Detail{Message: "The program sent no readable answer."})
	}
	if f := found.Failed; f != nil && slices.Contains(failures, f.Code) {
		return result{}, nil, refuse(spec, fault.Detail{File: f.File, Line: f.Line, Code: f.Code, Message: cut(f.Message)})
	}
	if !slices.Contains(registry.SchemaOrigins(), found.Source) {
		return result{}, nil, refuse(spec, fault.Detail{Message: "The program sent no readable answer."})
	}
	source := registry.SchemaSource{Source: found.Source, CodeDigest: sum}
	return result{InferredSchemas: registry.InferredSchemas{
		InputSchema: found.InputSchema, OutputSchema: found.OutputSchema,
		SchemaSource: source, SchemaSources: registry.SchemaSources{Input: &source, Output: &source},
	}, notes: found.Notes, input: found.Main, output: found.Main}, found.Exported, nil
}

// finish bounds the notes and checks the schemas. lacking is a note for schemas that come from types.
func (s *Service) finish(spec registry.Spec, found result, lacking string) (registry.InferredSchemas, error) {
	typed := found.SchemaSources.Input.Source == registry.FromTypeScript || found.SchemaSources.Output.Source == registry.FromTypeScript
	if !typed && spec.Language != runtimes.Python { // the types did not count, so their problems do not either
		found.notes = slices.DeleteFunc(found.notes, func(n note) bool { return n.About == "" })
	}
	found.Notes = notes(spec, found.notes)
	if typed && lacking != "" {
		found.Notes = append(found.Notes, registry.SchemaNote{Message: cut(lacking)})
	}
	return found.InferredSchemas, s.check(spec, found)
}

// check refuses schemas that could not be saved, with the places that they came from.
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

// refuse reports a program whose types cannot be described.
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

// silent is the host of a program whose types are read: its output goes nowhere, and it may call nothing.
type silent struct{}

func (silent) Emit(runtimes.Event) {}

func (silent) Call(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return nil, &runtimes.CallError{Code: "denied", Message: "Host calls are not available while the types of a program are read."}
}
