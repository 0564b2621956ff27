// Package toolmaker finds a published tool for a task. If no tool fits, the language model writes one. The new tool is
// stored as a draft that a person must review.
package toolmaker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/agents"
	"github.com/atelier-run/atelier/studio/assist"
)

// Agents reads the agents of a workspace.
type Agents interface {
	List(ctx context.Context, actor registry.Actor, filter registry.AgentFilter) (registry.AgentPage, error)
	Get(ctx context.Context, actor registry.Actor, ref string) (registry.Agent, error)
}

// Drafts stores and publishes drafts.
type Drafts interface {
	Create(ctx context.Context, actor registry.Actor, in agents.Input) (registry.Agent, error)
	Publish(ctx context.Context, actor registry.Actor, ref string, req agents.PublishRequest) (agents.Published, error)
}

// Catalog searches the public registry.
type Catalog interface {
	Browse(ctx context.Context, filter registry.AgentFilter) (registry.AgentPage, error)
	Version(ctx context.Context, publisher, name, version string) (registry.Version, error)
}

// Versions returns the version that a reference selects.
type Versions interface {
	Resolve(ctx context.Context, workspace string, ref registry.Reference) (registry.Version, error)
}

// Validator checks documents against schemas.
type Validator interface {
	Validate(schema, document json.RawMessage) ([]fault.Detail, error)
}

// Writer lets the language model write a program.
type Writer interface {
	Generate(ctx context.Context, actor registry.Actor, wish assist.Wish, watch func(assist.Attempt)) (assist.Program, error)
}

// Meaning gives access to the embedding model. Its vectors are used to compare meanings.
type Meaning interface {
	// Embedding returns the name of the embedding model, or "" if there is none.
	Embedding() string
	// Check returns an error if a workspace may not use the model now.
	Check(ctx context.Context, workspace string) error
	// Embed returns a unit vector for each text. After an error it returns the vectors of the first texts.
	Embed(ctx context.Context, workspace string, texts []string) ([][]float32, error)
}

// Options configures a Service.
type Options struct {
	Agents    Agents
	Drafts    Drafts
	Catalog   Catalog
	Versions  Versions
	Validator Validator
	Writer    Writer
	Meaning   Meaning
	Likeness  float64 // minimum cosine between the vector of a task and the vector of a tool that fits
	Log       *slog.Logger
}

// Service finds and makes tools. It is safe for concurrent use.
type Service struct {
	Options

	vectors vectors
}

// New returns the service.
func New(o Options) *Service {
	return &Service{Options: o, vectors: vectors{known: map[vectorKey][]float32{}}}
}

// Request describes the task for which a tool is needed.
type Request struct {
	Task         string
	InputExample json.RawMessage   // example of an input; nil for none
	Language     runtimes.Language // language in which a new tool is written
	Promote      bool              // whether to publish a new tool if the gate approves it
}

// Outcome states how a tool was found or made.
type Outcome string

// These are the outcomes.
const (
	Found     Outcome = "found"     // a published tool fits the task
	Waiting   Outcome = "waiting"   // an existing draft that was made for the same task waits for review
	Drafted   Outcome = "drafted"   // a new draft waits for review
	Published Outcome = "published" // a new tool was made and published
)

// Tool is the answer to a request.
type Tool struct {
	Outcome      Outcome           `json:"outcome" enum:"found,waiting,drafted,published" doc:"found: a published tool fits. waiting: a draft from an earlier, similar task waits for review. drafted: a new draft waits for review. published: a new tool was published because the gate allowed it; verdict contains its findings."`
	Reason       string            `json:"reason" doc:"Reason for the choice of this tool."`
	AgentID      string            `json:"agentId"`
	Name         string            `json:"name"`
	Publisher    string            `json:"publisher,omitempty" doc:"Workspace that lists the tool in the public registry. Copy it from there. Absent for a tool of your own workspace."`
	Version      string            `json:"version,omitempty" doc:"Published version. Absent for a draft."`
	Title        string            `json:"title"`
	Description  string            `json:"description"`
	Language     runtimes.Language `json:"language"`
	InputSchema  json.RawMessage   `json:"inputSchema,omitempty"`
	OutputSchema json.RawMessage   `json:"outputSchema,omitempty"`
	Verdict      *registry.Verdict `json:"verdict,omitempty" doc:"Verdict of the gate on a new tool. Absent if the gate is off."`
	Attempts     []assist.Attempt  `json:"attempts,omitempty" doc:"The model's answers that failed their checks."`
	Tokens       *registry.Tokens  `json:"tokens,omitempty" doc:"Tokens that a new tool cost."`
}

// madeTag marks the drafts that this package creates.
const madeTag = "made-for-task"

// Find returns a published tool for a task, or makes a draft. watch is called with each failed attempt of the model.
func (s *Service) Find(ctx context.Context, actor registry.Actor, r Request, watch func(assist.Attempt)) (Tool, error) {
	if err := registry.CheckText("/task", r.Task); err != nil {
		return Tool{}, err
	}
	words := wordsOf(r.Task)
	words = words[:min(len(words), mostWords)]
	if len(words) == 0 {
		return Tool{}, fault.Invalid("/task", "must describe what the tool does.")
	}
	for _, among := range []func(context.Context, registry.Actor, wanted) (*Tool, error){s.published, s.drafts} {
		if tool, err := among(ctx, actor, wanted{r.Task, words, r.InputExample}); err != nil || tool != nil {
			return deref(tool), err
		}
	}
	return s.make(ctx, actor, r, watch)
}

func deref(t *Tool) Tool {
	if t == nil {
		return Tool{}
	}
	return *t
}

// make lets the model write a tool and stores the tool as a draft. If the request asks for it and the gate approves,
// make also publishes the draft.
func (s *Service) make(ctx context.Context, actor registry.Actor, r Request, watch func(assist.Attempt)) (Tool, error) {
	p, err := s.Writer.Generate(ctx, actor, assist.Wish{Description: r.Task, Language: r.Language, InputExample: r.InputExample}, watch)
	if err != nil {
		return Tool{}, err
	}
	a, err := s.store(ctx, actor, p)
	if err != nil {
		return Tool{}, err
	}
	t := Tool{
		Outcome: Drafted, Reason: "No published tool fits the task. A new one was written and run; it waits for review.", AgentID: a.ID, Name: a.Name, Title: a.Title, Description: a.Description,
		Language: p.Language, InputSchema: p.InputSchema, OutputSchema: p.OutputSchema, Verdict: p.Verdict, Attempts: p.Attempts, Tokens: &p.Tokens,
	}
	switch {
	case !r.Promote:
		return t, nil
	case p.Trial.Reason != "" || p.Verdict != nil && p.Verdict.Decision != registry.Approve && p.Verdict.Decision != registry.Warn:
		t.Reason += " It was not published, because the gate requires a review by a person."
		return t, nil
	}
	v, err := s.Drafts.Publish(ctx, actor, a.ID, agents.PublishRequest{Seen: registry.SeenRevision(a.Draft.Revision), Changelog: "Written by " + p.Model + " for a task."})
	var refused *fault.Error
	switch {
	case errors.As(err, &refused) && refused.Code != fault.Internal:
		t.Reason += " It was not published: " + refused.Message
		return t, nil
	case err != nil:
		return Tool{}, err
	}
	t.Outcome, t.Version = Published, v.Version.Version
	t.Reason = "No published tool fits the task. A new one was written, run and published, because the gate allows it."
	return t, nil
}

// mostNames is the maximum number of names that are tried for a new draft.
const mostNames = 20

// store creates the agent. If its name is already used, a number is added to the name. An invalid name is replaced.
func (s *Service) store(ctx context.Context, actor registry.Actor, p assist.Program) (registry.Agent, error) {
	base := p.Name
	if registry.CheckName(base) != nil {
		base = "tool"
	}
	base = strings.TrimRight(base[:min(len(base), 58)], "-_")
	tags := []string{madeTag}
	for n := 1; ; n++ {
		name := base
		if n > 1 {
			name = fmt.Sprintf("%s-%d", base, n)
		}
		a, err := s.Drafts.Create(ctx, actor, agents.Input{
			Name: &name, Title: &p.Title, Description: &p.Description, Tags: &tags, Language: &p.Language, Files: &p.Files, Entrypoint: &p.Entrypoint,
			InputSchema: p.InputSchema, OutputSchema: p.OutputSchema, Rules: p.Rules, Tests: &p.Tests,
		})
		if !fault.Is(err, fault.NameTaken) || n == mostNames {
			return a, err
		}
	}
}
