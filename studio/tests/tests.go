// Package tests runs the tests of agents. It executes a program with the input of each test and compares the result
// with the expected one. The runs are recorded like all other runs.
package tests

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/runs"
	"github.com/atelier-run/atelier/studio/specs"
)

// Runs executes programs.
type Runs interface {
	Execute(ctx context.Context, actor registry.Actor, req runs.Request) (runs.Result, error)
}

// Agents returns agents with their drafts.
type Agents interface {
	Agent(ctx context.Context, workspace, nameOrID string) (registry.Agent, error)
}

// Resolver returns the version that a reference selects.
type Resolver interface {
	Resolve(ctx context.Context, workspace string, ref registry.Reference) (registry.Version, error)
}

// Options configures a Service.
type Options struct {
	Runs      Runs
	Agents    Agents
	Resolver  Resolver
	Validator *specs.Validator
}

// Service runs tests. It is safe for concurrent use.
type Service struct{ Options }

// New returns the service.
func New(o Options) *Service { return &Service{o} }

const (
	// concurrent is the maximum number of tests of one request that run at the same time.
	concurrent = 4
	// maxShown is the maximum size in bytes of an output in a result.
	maxShown = 256 << 10
)

// Request selects tests of an agent. If Version is "", the draft is tested. If Tests is set, it replaces the stored
// tests of the draft or version.
type Request struct {
	Agent   string
	Version string
	Seen    registry.Seen
	Names   []string // names of the tests to run; empty means all tests
	Tests   []registry.Test
	Trigger registry.Trigger
}

// Result is the result of one test.
type Result struct {
	Name        string          `json:"name"`
	Passed      bool            `json:"passed"`
	Message     string          `json:"message,omitempty" doc:"Reason why the test failed."`
	Differences []Difference    `json:"differences,omitempty" doc:"Differences between the output and the expected output."`
	Output      json.RawMessage `json:"output,omitempty" doc:"Output of the run. Absent if there is none or if it is large."`
	ErrorType   string          `json:"errorType,omitempty" doc:"Type of the error with which the run ended; invalid_input if the input schema refused the input."`
	RunID       string          `json:"runId,omitempty"`
	RunMs       float64         `json:"runMs"`
}

// Report is the result of all tests that ran.
type Report struct {
	Agent         string  `json:"agent,omitempty"`
	Version       string  `json:"version" doc:"Version that was tested, or draft."`
	DraftRevision int64   `json:"draftRevision,omitempty" doc:"Revision of the tested draft."`
	Passed        int     `json:"passed"`
	Failed        int     `json:"failed"`
	TotalMs       float64 `json:"totalMs"`
}

// Plan is a program with the tests to run.
type Plan struct {
	service *Service
	actor   registry.Actor
	report  Report
	tests   []registry.Test
	base    runs.Request

	inputSchema json.RawMessage
}

// Prepare finds the program and the tests of a request. Errors: NotFound; StaleDraft; InvalidInput if a requested test
// does not exist.
func (s *Service) Prepare(ctx context.Context, actor registry.Actor, req Request) (*Plan, error) {
	p := &Plan{service: s, actor: actor, base: runs.Request{Trigger: req.Trigger}}
	if req.Version == "" || req.Version == registry.DraftVersion {
		a, err := s.Agents.Agent(ctx, actor.Workspace, req.Agent)
		if err != nil {
			return nil, err
		}
		draft, err := a.DraftAt(req.Seen)
		if err != nil {
			return nil, err
		}
		p.base.Agent, p.base.Version, p.base.Seen = a.ID, registry.DraftVersion, registry.SeenRevision(draft.Revision)
		p.report = Report{Agent: a.Name, Version: registry.DraftVersion, DraftRevision: draft.Revision}
		p.tests, p.inputSchema = draft.Tests, draft.InputSchema
	} else {
		v, err := s.Resolver.Resolve(ctx, actor.Workspace, registry.Reference{Agent: req.Agent, Version: req.Version})
		if err == nil && req.Seen.Named() {
			err = registry.NoDraftNamed(req.Version)
		}
		if err != nil {
			return nil, err
		}
		p.base.Agent, p.base.Version, p.base.Of = v.AgentID, v.Version, &v
		p.report = Report{Agent: v.Agent, Version: v.Version}
		p.tests, p.inputSchema = v.Tests, v.InputSchema
	}
	if req.Tests != nil {
		checked, err := registry.CheckTests(req.Tests)
		if err != nil {
			return nil, err
		}
		p.tests = checked
	}
	return p, p.choose(req.Names)
}

// PrepareSpec returns a plan for tests of a program that is not stored.
func (s *Service) PrepareSpec(actor registry.Actor, spec registry.Spec, tests []registry.Test, names []string, trigger registry.Trigger) (*Plan, error) {
	p := &Plan{service: s, actor: actor, base: runs.Request{Inline: &spec, Trigger: trigger}, tests: tests, report: Report{Version: registry.DraftVersion}}
	return p, p.choose(names)
}

// choose selects the tests with the given names. Without names it selects all tests.
func (p *Plan) choose(names []string) error {
	for i, name := range names {
		if !slices.ContainsFunc(p.tests, func(t registry.Test) bool { return t.Name == name }) {
			return fault.Invalid(fmt.Sprintf("/names/%d", i), "must be the name of a test; no test is named %q.", name)
		}
	}
	if len(names) > 0 {
		p.tests = slices.DeleteFunc(slices.Clone(p.tests), func(t registry.Test) bool { return !slices.Contains(names, t.Name) })
	}
	return nil
}

// Tests returns the tests that Run will run.
func (p *Plan) Tests() []registry.Test { return p.tests }

// Run runs the tests and passes each result to emit as soon as the test has ended, one result at a time. It returns an
// error if a test could not run. A failed test is not an error.
func (p *Plan) Run(ctx context.Context, emit func(Result)) (Report, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	report, begun := p.report, time.Now()
	var (
		mu      sync.Mutex
		workers sync.WaitGroup
		turns   turns
		queue   = make(chan registry.Test)
	)
	for range min(concurrent, len(p.tests)) {
		workers.Go(func() {
			for t := range queue {
				result, err := p.run(ctx, &turns, t)
				if err != nil {
					cancel(err)
					continue
				}
				mu.Lock()
				if result.Passed {
					report.Passed++
				} else {
					report.Failed++
				}
				emit(result)
				mu.Unlock()
			}
		})
	}
	for _, t := range p.tests {
		if ctx.Err() != nil {
			break
		}
		queue <- t
	}
	close(queue)
	workers.Wait()
	report.TotalMs = float64(time.Since(begun).Microseconds()) / 1000
	if ctx.Err() != nil {
		return report, context.Cause(ctx)
	}
	return report, nil
}

// turns lets tests run concurrently while the server has room for them. A test that must run alone holds the write
// lock.
type turns struct{ sync.RWMutex }

// run executes one test. If the queue or a quota is full, run waits until the other running tests of the plan have
// ended, and then tries once more.
func (p *Plan) run(ctx context.Context, turns *turns, t registry.Test) (Result, error) {
	turns.RLock()
	result, err := p.once(ctx, t)
	turns.RUnlock()
	if !fault.Is(err, fault.QueueFull) && !fault.Is(err, fault.QuotaExceeded) && !fault.Is(err, fault.TooManyRequests) {
		return result, err
	}
	turns.Lock()
	defer turns.Unlock()
	return p.once(ctx, t)
}

func (p *Plan) once(ctx context.Context, t registry.Test) (Result, error) {
	req := p.base
	req.Input = t.Input
	done, err := p.service.Runs.Execute(ctx, p.actor, req)
	if refused := (*fault.Error)(nil); errors.As(err, &refused) && refused.Code == fault.InvalidInput && aboutInput(refused) {
		return judgeRefusal(t, refused), nil
	}
	if err != nil {
		return Result{}, err
	}
	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	}
	if done.Status == registry.AwaitingApproval || done.Status == registry.Blocked {
		return Result{}, fault.New(fault.ApprovalRequired, "The test %q did not run: its run is %s.", t.Name, done.Status)
	}
	if done.Status == registry.StatusInterrupted || done.Status == registry.StatusCancelled {
		return Result{}, fault.New(fault.RunInterrupted, "The run of the test %q was %s.", t.Name, done.Status)
	}
	return p.service.judge(t, done.Run)
}

// aboutInput reports whether an error is only about the input, and about no other field of the request.
func aboutInput(refused *fault.Error) bool {
	return len(refused.Details) > 0 && !slices.ContainsFunc(refused.Details, func(d fault.Detail) bool {
		return d.Pointer != "/input" && !strings.HasPrefix(d.Pointer, "/input/")
	})
}

// judgeRefusal returns the result of a test whose input was rejected before the program ran.
func judgeRefusal(t registry.Test, refused *fault.Error) Result {
	result := Result{Name: t.Name, ErrorType: registry.RefusedInput, Passed: t.Expect.ErrorType == registry.RefusedInput}
	if result.Passed {
		return result
	}
	result.Message = "The input schema refuses the input."
	for _, d := range refused.Details {
		result.Differences = append(result.Differences, Difference{Pointer: d.Pointer, Message: d.Message})
	}
	return result
}

// judge compares a run with the expectation of a test.
func (s *Service) judge(t registry.Test, run registry.Run) (Result, error) {
	result := Result{Name: t.Name, RunID: run.ID, RunMs: run.Metrics.RunMs}
	if len(run.Output) <= maxShown {
		result.Output = run.Output
	}
	if run.Error != nil {
		result.ErrorType = string(run.Error.Type)
	}
	switch {
	case t.Expect.ErrorType != "" && run.Error == nil:
		result.Message = fmt.Sprintf("The program succeeded instead of ending with %s.", t.Expect.ErrorType)
	case t.Expect.ErrorType != "":
		if result.Passed = result.ErrorType == t.Expect.ErrorType; !result.Passed {
			result.Message = fmt.Sprintf("The program ended with %s instead of %s: %s", result.ErrorType, t.Expect.ErrorType, run.Error.Message)
		}
	case run.Error != nil:
		result.Message = fmt.Sprintf("The program ended with %s: %s", result.ErrorType, located(run))
	default:
		return s.judgeOutput(t, run, result)
	}
	return result, nil
}

// located returns the message of a failed run with file and line.
func located(run registry.Run) string {
	if run.Error.File == "" {
		return run.Error.Message
	}
	return fmt.Sprintf("%s (%s:%d)", run.Error.Message, run.Error.File, run.Error.Line)
}

// judgeOutput compares the output of a successful run with the expected output. The output was checked against the
// output schema before.
func (s *Service) judgeOutput(t registry.Test, run registry.Run, result Result) (Result, error) {
	output := run.Output
	if len(output) == 0 {
		output = json.RawMessage("null")
	}
	switch {
	case len(t.Expect.Matches) > 0:
		details, err := s.Validator.Validate(t.Expect.Matches, output)
		if err != nil {
			return result, err
		}
		for _, d := range details[:min(len(details), maxDifferences)] {
			result.Differences = append(result.Differences, Difference{Pointer: d.Pointer, Message: d.Message})
		}
		if len(details) > 0 {
			result.Message = "The output does not match the schema of the test."
		}
	case len(t.Expect.Output) > 0:
		differences, err := Compare(t.Expect.Output, output, t.Ignore)
		if err != nil {
			return result, err
		}
		if result.Differences = differences; len(differences) > 0 {
			result.Message = "The output differs from the expected one."
		}
	}
	result.Passed = result.Message == ""
	return result, nil
}

// Failures runs tests with a draft and returns the tests that failed.
func (s *Service) Failures(ctx context.Context, actor registry.Actor, agent string, seen registry.Seen, list []registry.Test) ([]registry.Regression, error) {
	if len(list) == 0 {
		return nil, nil
	}
	plan, err := s.Prepare(ctx, actor, Request{Agent: agent, Seen: seen, Tests: list, Trigger: registry.TriggerAPI})
	if err != nil {
		return nil, err
	}
	failed := map[string]registry.Regression{}
	_, err = plan.Run(ctx, func(r Result) {
		if !r.Passed {
			failed[r.Name] = registry.Regression{Test: r.Name, Message: r.sentence()}
		}
	})
	if err != nil {
		return nil, err
	}
	var all []registry.Regression
	for _, t := range plan.tests { // Sort the failures in the order of the tests.
		if one, is := failed[t.Name]; is {
			all = append(all, one)
		}
	}
	return all, nil
}

// sentence returns the reason why a test failed, with the first difference.
func (r Result) sentence() string {
	if len(r.Differences) == 0 {
		return r.Message
	}
	d := r.Differences[0]
	text := r.Message + " " + d.Pointer + " " + d.Message
	if len(r.Differences) > 1 {
		text += fmt.Sprintf(" There are %d differences.", len(r.Differences))
	}
	return text
}
