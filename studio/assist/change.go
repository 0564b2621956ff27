package assist

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/atelier-run/atelier/internal/bytesize"
	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// Task is a kind of change that a model proposes for an agent's draft.
type Task string

// Kinds of tasks.
const (
	Change   Task = "change" // change the program as a person describes
	Tests    Task = "tests"
	Document Task = "document"
	Schemata Task = "schemas"
)

// Schemas holds the schemas that a proposal changes. A nil schema stays unchanged.
type Schemas struct {
	Input  json.RawMessage `json:"input,omitempty"`
	Output json.RawMessage `json:"output,omitempty"`
}

// Request describes the requested change of an agent's draft.
type Request struct {
	Agent       string // name or ID of the agent
	Task        Task
	Description string // a person's description of the change; used only by the task Change
}

// tasks holds the instructions for the model, by task.
func tasks() map[Task]string {
	return map[Task]string{Change: changeTask, Tests: testsTask, Document: documentTask, Schemata: schemasTask}
}

// Change proposes a change of an agent's draft. It runs the changed program with its sample input and its tests. watch
// is called with each failed attempt.
func (s *Service) Change(ctx context.Context, actor registry.Actor, r Request, watch func(Attempt)) (Proposal, error) {
	leave, err := s.enter(ctx, actor)
	if err != nil {
		return Proposal{}, err
	}
	defer leave()
	task, ok := tasks()[r.Task]
	switch {
	case !ok:
		return Proposal{}, fault.Invalid("/task", "must be change, tests, document or schemas.")
	case (r.Task == Change) != (strings.TrimSpace(r.Description) != ""):
		return Proposal{}, fault.Invalid("/description", "must be set for the task change, and must be absent for other tasks.")
	case len(r.Description) > maxInput:
		return Proposal{}, fault.Invalid("/description", "must be at most %s.", bytesize.Text(maxInput))
	}
	agent, err := s.Drafts.Agent(ctx, actor.Workspace, r.Agent)
	if err != nil {
		return Proposal{}, err
	}
	hidden, err := s.hidden(ctx, agent)
	if err != nil {
		return Proposal{}, err
	}
	about, err := described(agent, hidden)
	if err != nil {
		return Proposal{}, err
	}
	if r.Task == Change {
		about += "\n\n<request>\n" + hidden.Text(r.Description) + "\n</request>"
	}
	p := Proposal{Revision: agent.Draft.Revision}
	p.Attempts, p.Tokens, p.Model, err = s.converse(ctx, actor.Workspace, s.talk(task, about, changeShape), watch, func(text string) error {
		return s.checkChange(ctx, actor, agent, r.Task, text, &p)
	})
	return p, err
}

// changed is a model's answer to a request for a change.
type changed struct {
	Explanation  string        `json:"explanation"`
	Edits        []edit        `json:"edits"`
	InputSchema  loose         `json:"inputSchema"`
	OutputSchema loose         `json:"outputSchema"`
	SampleInput  loose         `json:"sampleInput"`
	Tests        []writtenTest `json:"tests"`
}

// fits returns an error for the model if the answer lacks a field that the task needs, or has a field that the task
// does not allow.
func (c changed) fits(task Task) error {
	edits, schemas, tests := len(c.Edits) > 0, len(c.InputSchema)+len(c.OutputSchema) > 0, len(c.Tests) > 0
	switch {
	case task == Tests && (edits || schemas || !tests):
		return fmt.Errorf("write tests, and leave edits, inputSchema and outputSchema empty")
	case task == Document && (!edits || schemas || tests):
		return fmt.Errorf("write edits, and leave inputSchema, outputSchema and tests empty")
	case task == Schemata && (edits || !schemas || tests):
		return fmt.Errorf("write inputSchema and outputSchema, and leave edits and tests empty")
	case !edits && !schemas && !tests:
		return fmt.Errorf("the answer changes nothing")
	}
	return nil
}

// checkChange checks a model's answer and fills in the proposal. If the error is a *problem, it is sent back to the
// model; any other error ends the conversation.
func (s *Service) checkChange(ctx context.Context, actor registry.Actor, agent registry.Agent, task Task, text string, p *Proposal) error {
	var answer changed
	if err := document(text, &answer); err != nil {
		return problemf("%v", err)
	}
	if err := answer.fits(task); err != nil {
		return problemf("%v", err)
	}
	spec := agent.Draft.Spec
	p.Explanation, p.Files, p.Schemas, p.Tests = answer.Explanation, map[string]registry.File{}, nil, nil
	if len(answer.Edits) > 0 {
		all, files, err := apply(agent.Draft.Files, answer.Edits)
		if err != nil {
			return problemf("%v", err)
		}
		spec.Files, p.Files = all, maps.Clone(files)
	}
	schemas := Schemas{Input: json.RawMessage(answer.InputSchema), Output: json.RawMessage(answer.OutputSchema)}
	if len(schemas.Input)+len(schemas.Output) > 0 {
		p.Schemas = &schemas
	}
	if len(schemas.Input) > 0 {
		spec.InputSchema = schemas.Input
	}
	if len(schemas.Output) > 0 {
		spec.OutputSchema = schemas.Output
	}
	p.SampleInput = json.RawMessage(answer.SampleInput)
	if len(p.SampleInput) == 0 {
		p.SampleInput = json.RawMessage("{}")
	}
	var err error
	if p.Verdict, p.Trial, err = s.try(ctx, actor, spec, &agent.Draft.Spec, p.SampleInput, ""); err != nil {
		return err
	}
	p.Tests, err = s.checkTests(ctx, actor, spec, &agent.Draft.Spec, answer.Tests, p.Trial.RunID)
	return err
}
