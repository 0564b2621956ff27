// Package assist uses a language model to write, fix and explain programs. Each proposal is checked and run in the
// sandbox before a person sees it. The package applies no proposal.
package assist

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/redact"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/inspect"
	"github.com/atelier-run/atelier/studio/llm"
	"github.com/atelier-run/atelier/studio/runs"
	"github.com/atelier-run/atelier/studio/secrets"
	"github.com/atelier-run/atelier/studio/specs"
)

// Asker sends requests to the language model of a workspace.
type Asker interface {
	Check(ctx context.Context, workspace string) error
	Ask(ctx context.Context, workspace string, messages []llm.Message, shape json.RawMessage) (llm.Reply, error)
	// Fill returns the text for a gap. If the model has no fill-in endpoint, Fill sends it inWords, which are chat
	// messages that describe the gap.
	Fill(ctx context.Context, workspace string, gap llm.Gap, inWords []llm.Message) (llm.Reply, error)
}

// Drafts reads agents with their drafts.
type Drafts interface {
	Agent(ctx context.Context, workspace, nameOrID string) (registry.Agent, error)
}

// Runs reads runs and executes programs.
type Runs interface {
	// Recorded returns the record of a run. If the program of the run has the flag pii_risk, the record contains no
	// values.
	Recorded(ctx context.Context, actor registry.Actor, id string) (registry.Run, error)
	Execute(ctx context.Context, actor registry.Actor, req runs.Request) (runs.Result, error)
}

// Specs completes and checks programs.
type Specs interface {
	Complete(spec registry.Spec) (registry.Spec, error)
}

// Judge returns the verdict of the gate, or nil if the workspace has switched the gate off.
type Judge interface {
	Judge(ctx context.Context, workspace string, spec registry.Spec, before *registry.Spec) (*registry.Verdict, error)
}

// Secrets opens the secrets of an agent, so that their values can be removed from all text that is sent to a model.
type Secrets interface {
	Open(ctx context.Context, workspace, agentID string, names []string) (secrets.Given, error)
}

// Inspector determines facts about programs by parsing them in the sandbox.
type Inspector interface {
	Facts(ctx context.Context, req inspect.Request) (inspect.Facts, error)
}

// Options configures a Service.
type Options struct {
	Model      Asker
	Attempts   int
	FirstDelay time.Duration
	Factor     float64
	LongDelay  time.Duration
	Drafts     Drafts
	Runs       Runs
	Specs      Specs
	Judge      Judge
	Secrets    Secrets
	Inspector  Inspector
}

// Service makes proposals. It is safe for concurrent use.
type Service struct {
	Options

	places places
	typing typing
}

const (
	maxWait   = 30 * time.Second
	maxPrompt = 256 << 10 // maximum size in bytes of a program, and of a description with its example
	maxStderr = 8 << 10
	maxInput  = 64 << 10
	maxQuoted = 64 << 10 // maximum size in bytes of a failed answer that is sent back to the model
	maxPlaces = 10       // maximum number of findings that are sent back to the model
)

// New returns the service.
func New(o Options) *Service {
	return &Service{Options: o, typing: typing{by: map[string]int{}}}
}

// Attempt is one answer of the model that failed its checks.
type Attempt struct {
	N       int    `json:"n"`
	Error   string `json:"error" doc:"Reason why the answer was not usable, as sent to the model."`
	DelayMs int64  `json:"delayMs" doc:"Delay before the next attempt."`
}

// Trial is the run of a proposed program. If the program was not run, RunID is empty and Reason explains why.
type Trial struct {
	RunID      string          `json:"runId,omitempty"`
	Output     json.RawMessage `json:"output,omitempty"`
	DurationMs float64         `json:"durationMs,omitempty"`
	Reason     string          `json:"reason,omitempty" doc:"Reason why the program was not run."`
}

// Proposal is a change of a program that passed its checks. It is not applied.
type Proposal struct {
	Explanation string                   `json:"explanation" doc:"Explanation by the model."`
	Files       map[string]registry.File `json:"files" doc:"The changed files with their complete content."`
	Schemas     *Schemas                 `json:"schemas,omitempty" doc:"The changed schemas."`
	Tests       []registry.Test          `json:"tests,omitempty" doc:"Tests to add. They pass with the change."`
	SampleInput json.RawMessage          `json:"sampleInput,omitempty"`
	Revision    int64                    `json:"revision" doc:"Revision of the draft that the change is for."`
	Verdict     *registry.Verdict        `json:"verdict,omitempty" doc:"Absent if the gate is off."`
	Trial       Trial                    `json:"trial"`
	Attempts    []Attempt                `json:"attempts" doc:"Earlier attempts, which failed."`
	Model       string                   `json:"model"`
	Tokens      registry.Tokens          `json:"tokens"`
}

// Fix proposes a change of an agent's draft that should make a failed run succeed. watch is called with each failed
// attempt.
func (s *Service) Fix(ctx context.Context, actor registry.Actor, runID string, watch func(Attempt)) (Proposal, error) {
	leave, err := s.enter(ctx, actor)
	if err != nil {
		return Proposal{}, err
	}
	defer leave()
	run, err := s.Runs.Recorded(ctx, actor, runID)
	if err != nil {
		return Proposal{}, err
	}
	switch {
	case run.AgentID == "":
		return Proposal{}, fault.Invalid("/runId", "must be a run of an agent. Save the inline code as an agent first.")
	case run.Error == nil:
		return Proposal{}, fault.Invalid("/runId", "must be a run that failed.")
	}
	agent, err := s.Drafts.Agent(ctx, run.Workspace, run.AgentID)
	if err != nil {
		return Proposal{}, err
	}
	hidden, err := s.hidden(ctx, agent)
	if err != nil {
		return Proposal{}, err
	}
	program, err := described(agent, hidden)
	if err != nil {
		return Proposal{}, err
	}
	if slices.Contains(agent.Draft.SafetyFlags, privateFlag) { // Withhold the values even if the flag was set only after the run.
		run = runs.Withheld(run)
	}
	p := Proposal{Revision: agent.Draft.Revision}
	talk := s.talk(fixTask, program+"\n\n"+failure(run, hidden), fixShape)
	p.Attempts, p.Tokens, p.Model, err = s.converse(ctx, actor.Workspace, talk, watch, func(text string) error {
		return s.checkFix(ctx, actor, agent, run, text, &p)
	})
	return p, err
}

// checkFix checks a model's answer and fills in the proposal. If the error is a *problem, it is sent back to the model;
// any other error ends the conversation.
func (s *Service) checkFix(ctx context.Context, actor registry.Actor, agent registry.Agent, run registry.Run, text string, p *Proposal) error {
	var answer struct {
		Explanation string `json:"explanation"`
		Edits       []edit `json:"edits"`
	}
	if err := document(text, &answer); err != nil {
		return problemf("%v", err)
	}
	all, changed, err := apply(agent.Draft.Files, answer.Edits)
	if err != nil {
		return problemf("%v", err)
	}
	spec := agent.Draft.Spec
	spec.Files = all
	p.Explanation, p.Files = answer.Explanation, changed
	if run.Withheld { // its input is not stored, so it cannot be run again
		p.Trial = Trial{Reason: "The input of the run is not kept, so the change was not run."}
		p.Verdict, _, err = s.judged(ctx, actor, spec, &agent.Draft.Spec)
		return err
	}
	p.Verdict, p.Trial, err = s.try(ctx, actor, spec, &agent.Draft.Spec, run.Input, run.ID)
	return err
}

// try checks a program with the rules of the gate, and runs it with an input. before is the program before the change,
// or nil for a new program.
func (s *Service) try(ctx context.Context, actor registry.Actor, spec registry.Spec, before *registry.Spec, input json.RawMessage, parent string) (*registry.Verdict, Trial, error) {
	spec.Lock = nil
	verdict, complete, err := s.judged(ctx, actor, spec, before)
	if err != nil {
		return verdict, Trial{}, err
	}
	if reason := reasonNotToRun(complete); reason != "" {
		return verdict, Trial{Reason: reason}, nil
	}
	if verdict != nil && verdict.Decision == registry.Escalate {
		return verdict, Trial{Reason: "The gate requires a review by a person, so the program was not run."}, nil
	}
	var invalid *fault.Error
	result, err := s.Runs.Execute(registry.WithoutKey(ctx), actor, runs.Request{Inline: &spec, Input: input, Trigger: registry.TriggerStudio, ParentRunID: parent})
	switch {
	case errors.As(err, &invalid) && invalid.Code == fault.InvalidInput:
		return verdict, Trial{}, problemf("the run was refused: %s", details(invalid))
	case err != nil:
		return verdict, Trial{}, err
	case result.Status == registry.AwaitingApproval || result.Status == registry.Blocked:
		return verdict, Trial{RunID: result.ID, Reason: "The run waits for an approval or is blocked."}, nil
	case result.Error != nil:
		return verdict, Trial{}, problemf("the program was run with that input and failed: %s", programError(result.Run))
	}
	return verdict, Trial{RunID: result.ID, Output: result.Output, DurationMs: result.Metrics.TotalMs}, nil
}

// judged completes the spec of a program and returns the gate's verdict about it.
func (s *Service) judged(ctx context.Context, actor registry.Actor, spec registry.Spec, before *registry.Spec) (*registry.Verdict, registry.Spec, error) {
	complete, err := s.Specs.Complete(spec)
	var invalid *fault.Error
	if errors.As(err, &invalid) && invalid.Code == fault.InvalidInput {
		return nil, complete, problemf("the program is not valid: %s", details(invalid))
	} else if err != nil {
		return nil, complete, err
	}
	verdict, err := s.Judge.Judge(ctx, actor.Workspace, complete, before)
	if err == nil && verdict != nil && verdict.Decision == registry.Block {
		err = problemf("the gate blocks the program: %s", findings(*verdict))
	}
	return verdict, complete, err
}

// privateFlag marks programs whose values must not leave the server.
const privateFlag = "pii_risk"

// reasonNotToRun returns the reason why a person must read a program before it runs, or "" if it may run at once.
func reasonNotToRun(spec registry.Spec) string {
	switch {
	case spec.RequiresApproval || slices.Contains(spec.SafetyFlags, "side_effect"):
		return "The program has side effects, so it was not run."
	case len(spec.Secrets) > 0:
		return "The program needs secrets, so it was not run."
	case len(spec.Capabilities.Hosts) > 0:
		return "The program may reach hosts, so it was not run."
	case slices.Contains(spec.Capabilities.HostFunctions, specs.AskFunction):
		return "The program uses a language model, so it was not run."
	case len(spec.Capabilities.Tools) > 0 || spec.Capabilities.Files != nil:
		return "The program calls agents or changes files of a project, so it was not run."
	}
	return ""
}

// enter waits until a person's conversation with the model may start. The caller must call leave at its end.
func (s *Service) enter(ctx context.Context, actor registry.Actor) (leave func(), err error) {
	if err := s.Model.Check(ctx, actor.Workspace); err != nil {
		return nil, err
	}
	return s.places.enter(ctx, false, maxWait)
}

// hidden returns a redactor that removes the values of an agent's secrets from text.
func (s *Service) hidden(ctx context.Context, agent registry.Agent) (*redact.Redactor, error) {
	if len(agent.Draft.Secrets) == 0 || s.Secrets == nil {
		return redact.New(nil), nil
	}
	var values []string
	for _, name := range agent.Draft.Secrets { // The secrets are opened one by one, because Open fails if one of several is missing.
		given, err := s.Secrets.Open(ctx, agent.Workspace, agent.ID, []string{name})
		if err != nil && !fault.Is(err, fault.SecretMissing) { // A missing secret has no value that could be removed.
			return nil, err
		}
		values = append(values, given.Values...)
	}
	return redact.New(values), nil
}

// problem is an error in the model's answer. Its text is sent to the model.
type problem struct{ text string }

func (p *problem) Error() string { return p.text }

func problemf(format string, args ...any) error {
	return &problem{text: fault.Shown(fmt.Sprintf(format, args...), 4000)}
}

type conversation struct {
	messages []llm.Message
	shape    json.RawMessage
}

func (s *Service) talk(task, about string, shape json.RawMessage) conversation {
	return conversation{shape: shape, messages: []llm.Message{
		{Role: "system", Content: role + "\n\n" + task + "\n\nAnswer with one JSON object that fits this JSON Schema, and nothing else:\n" + string(shape)},
		{Role: "user", Content: about},
	}}
}

// converse asks the model until an answer passes check, or all attempts are used up.
func (s *Service) converse(ctx context.Context, workspace string, talk conversation, watch func(Attempt), check func(string) error) (failed []Attempt, used registry.Tokens, model string, err error) {
	failed = []Attempt{}
	delay := s.FirstDelay
	for n := 1; ; n++ {
		reply, err := s.Model.Ask(ctx, workspace, talk.messages, talk.shape)
		used.Input, used.Output = used.Input+reply.Tokens.Input, used.Output+reply.Tokens.Output
		if err != nil {
			return failed, used, reply.Model, err
		}
		err = check(reply.Text)
		var bad *problem
		if !errors.As(err, &bad) {
			return failed, used, reply.Model, err
		}
		if n == s.Attempts {
			return failed, used, reply.Model, &fault.Error{Code: fault.ModelUnavailable, Extra: map[string]any{"attempts": append(failed, Attempt{N: n, Error: bad.text})},
				Message: fmt.Sprintf("The language model gave no usable answer in %d attempts. Error of the last attempt: %s", n, fault.Shown(bad.text, 500))}
		}
		failed = append(failed, Attempt{N: n, Error: bad.text, DelayMs: delay.Milliseconds()})
		watch(failed[len(failed)-1])
		if err := llm.Pause(ctx, delay); err != nil {
			return failed, used, reply.Model, err
		}
		delay = min(time.Duration(float64(delay)*s.Factor), s.LongDelay)
		quoted := reply.Text[:min(len(reply.Text), maxQuoted)]
		talk.messages = append(talk.messages, llm.Message{Role: "assistant", Content: strings.ToValidUTF8(quoted, "")},
			llm.Message{Role: "user", Content: "That answer is not usable: " + bad.text + "\nAnswer again with the whole JSON object."})
	}
}

func details(e *fault.Error) string {
	texts := make([]string, 0, len(e.Details))
	for i, d := range e.Details {
		if i == maxPlaces {
			break
		}
		place := d.Pointer
		if d.File != "" {
			place = fmt.Sprintf("%s:%d", d.File, d.Line)
		}
		texts = append(texts, place+" "+d.Message)
	}
	if len(texts) == 0 {
		return e.Message
	}
	return strings.Join(texts, "; ")
}

func findings(v registry.Verdict) string {
	texts := make([]string, 0, len(v.Findings))
	for i, f := range v.Findings {
		if i == maxPlaces {
			break
		}
		texts = append(texts, fmt.Sprintf("%s:%d %s %s", f.File, f.Line, f.Message, f.Remedy))
	}
	return strings.Join(texts, "; ")
}

func programError(run registry.Run) string {
	e := run.Error
	return fmt.Sprintf("%s at %s:%d: %s", e.Type, e.File, e.Line, e.Message)
}

// contract returns the part of a prompt that explains how a program of a language reads its input and returns its
// output.
func contract(language runtimes.Language) string {
	switch language {
	case runtimes.JavaScript, runtimes.TypeScript:
		return "The default export, or an exported main(input, ctx), gets the input as a value and returns the output. It may be async. There are no packages unless they are listed."
	case runtimes.Python:
		return "def main(input, ctx) gets the input as a value and returns the output. It may be async. The standard library is available."
	case runtimes.Bash:
		return "The input is JSON on stdin and in the file $INPUT_FILE. The output is JSON in the file $OUTPUT, or the last line of stdout."
	case runtimes.WASM:
		return "A WASI command: input on stdin, output on stdout."
	}
	return ""
}
