package assist

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/atelier-run/atelier/internal/bytesize"
	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/jcs"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/specs"
)

// Wish describes a program to write.
type Wish struct {
	Description  string
	Language     runtimes.Language
	InputExample json.RawMessage // an example input; nil for none
}

// Program is a proposed agent that passed its checks. It is not saved.
type Program struct {
	Name         string                   `json:"name"`
	Title        string                   `json:"title"`
	Description  string                   `json:"description"`
	Plan         []string                 `json:"plan"`
	Language     runtimes.Language        `json:"language"`
	Files        map[string]registry.File `json:"files"`
	Entrypoint   string                   `json:"entrypoint"`
	InputSchema  json.RawMessage          `json:"inputSchema"`
	OutputSchema json.RawMessage          `json:"outputSchema"`
	Rules        *runtimes.Rules          `json:"rules,omitempty" doc:"Rules of the generated program: always restricted."`
	SampleInput  json.RawMessage          `json:"sampleInput"`
	Tests        []registry.Test          `json:"tests"`
	Verdict      *registry.Verdict        `json:"verdict,omitempty" doc:"Absent if the gate is off."`
	Trial        Trial                    `json:"trial" doc:"Result of the run with sampleInput."`
	Attempts     []Attempt                `json:"attempts" doc:"Earlier attempts, which failed."`
	Model        string                   `json:"model"`
	Tokens       registry.Tokens          `json:"tokens"`
}

const maxTests = 5

// Generate proposes an agent. It runs the program with its sample input and its tests. watch is called with each failed
// attempt.
func (s *Service) Generate(ctx context.Context, actor registry.Actor, wish Wish, watch func(Attempt)) (Program, error) {
	leave, err := s.enter(ctx, actor)
	if err != nil {
		return Program{}, err
	}
	defer leave()
	if strings.TrimSpace(wish.Description) == "" {
		return Program{}, fault.Invalid("/description", "must not be empty.")
	}
	if len(wish.Description)+len(wish.InputExample) > maxPrompt {
		return Program{}, fault.Invalid("/description", "must be at most %s together with the example.", bytesize.Text(maxPrompt))
	}
	about := fmt.Sprintf("Language: %s. %s\nEntry file: %s\n<description>\n%s\n</description>", wish.Language, contract(wish.Language), specs.Entrypoint(wish.Language), wish.Description)
	if len(wish.InputExample) > 0 {
		about += "\nAn example of the input, which must be valid and is the sample input:\n" + string(wish.InputExample)
	}
	p := Program{Language: wish.Language, Entrypoint: specs.Entrypoint(wish.Language)}
	if !slices.Contains(Languages(), wish.Language) {
		return Program{}, fault.Invalid("/language", "must be javascript, typescript, python or bash.")
	}
	p.Rules = &runtimes.Rules{Pack: runtimes.Restricted}
	p.Attempts, p.Tokens, p.Model, err = s.converse(ctx, actor.Workspace, s.talk(generateTask, about, generateShape), watch, func(text string) error {
		return s.checkProgram(ctx, actor, wish, text, &p)
	})
	return p, err
}

// written is the program in a model's answer.
type written struct {
	Name        string   `json:"name"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Plan        []string `json:"plan"`
	Files       []struct {
		Path    string `json:"path"`
		Content string `json:"content"`
	} `json:"files"`
	InputSchema  loose         `json:"inputSchema"`
	OutputSchema loose         `json:"outputSchema"`
	SampleInput  loose         `json:"sampleInput"`
	Tests        []writtenTest `json:"tests"`
}

// writtenTest is a test in a model's answer.
type writtenTest struct {
	Name   string `json:"name"`
	Input  loose  `json:"input"`
	Output loose  `json:"output"`
}

// loose is a JSON value that a model may also write as a string containing the JSON.
type loose json.RawMessage

// UnmarshalJSON implements json.Unmarshaler.
func (l *loose) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil && (text == "" || json.Valid([]byte(text))) {
		*l = loose(text)
		return nil
	}
	*l = slices.Clone(data)
	return nil
}

// checkProgram checks a model's answer and fills in the program. If the error is a *problem, it is sent back to the
// model; any other error ends the conversation.
func (s *Service) checkProgram(ctx context.Context, actor registry.Actor, wish Wish, text string, p *Program) error {
	var w written
	if err := document(text, &w); err != nil {
		return problemf("%v", err)
	}
	p.Name, p.Title, p.Description, p.Plan = fault.Shown(w.Name, 64), fault.Shown(w.Title, 200), fault.Shown(w.Description, 1000), w.Plan
	p.InputSchema, p.OutputSchema, p.SampleInput = json.RawMessage(w.InputSchema), json.RawMessage(w.OutputSchema), json.RawMessage(w.SampleInput)
	if len(wish.InputExample) > 0 {
		p.SampleInput = wish.InputExample
	}
	p.Files = map[string]registry.File{}
	for _, f := range w.Files {
		p.Files[f.Path] = registry.File(withoutFence(f.Content))
	}
	if _, ok := p.Files[p.Entrypoint]; !ok {
		return problemf("files must contain the entry file %s", p.Entrypoint)
	}
	spec := registry.Spec{
		Language: p.Language, Runtime: runtimes.Auto, Files: p.Files, Entrypoint: p.Entrypoint, InputSchema: p.InputSchema, OutputSchema: p.OutputSchema, Rules: p.Rules,
	}
	var err error
	if p.Verdict, p.Trial, err = s.try(ctx, actor, spec, nil, p.SampleInput, ""); err != nil {
		return err
	}
	p.Tests, err = s.checkTests(ctx, actor, spec, nil, w.Tests, p.Trial.RunID)
	return err
}

// checkTests runs the generated tests. If a test names no output, it accepts any output that fits the schema.
func (s *Service) checkTests(ctx context.Context, actor registry.Actor, spec registry.Spec, before *registry.Spec, written []writtenTest, parent string) ([]registry.Test, error) {
	tests := []registry.Test{}
	for i, test := range written[:min(len(written), maxTests)] {
		_, trial, err := s.try(ctx, actor, spec, before, json.RawMessage(test.Input), parent)
		var bad *problem
		if errors.As(err, &bad) {
			return nil, problemf("test %q: %s", fault.Shown(test.Name, 100), bad.text)
		} else if err != nil {
			return nil, err
		}
		expect := registry.Expectation{Schema: len(spec.OutputSchema) > 0}
		if len(test.Output) > 0 && trial.Reason == "" {
			if !sameJSON(json.RawMessage(test.Output), trial.Output) {
				return nil, problemf("test %q expects %s, but the program returns %s; correct the program or the test",
					fault.Shown(test.Name, 100), fault.Shown(string(test.Output), 500), fault.Shown(string(trial.Output), 500))
			}
			expect = registry.Expectation{Output: json.RawMessage(test.Output)}
		}
		tests = append(tests, registry.Test{Name: testName(test.Name, i, tests), Input: json.RawMessage(test.Input), Expect: expect, Source: registry.TestGenerated})
	}
	return tests, nil
}

// testName returns a name for a test that differs from the names of all earlier tests.
func testName(name string, i int, earlier []registry.Test) string {
	name = strings.TrimSpace(fault.Shown(name, 80))
	taken := slices.ContainsFunc(earlier, func(t registry.Test) bool { return t.Name == name })
	if name == "" || taken {
		return fmt.Sprintf("generated %d", i+1)
	}
	return name
}

// sameJSON reports whether two JSON documents have the same value. Formatting is ignored.
func sameJSON(a, b json.RawMessage) bool {
	left, errLeft := jcs.Digest(a)
	right, errRight := jcs.Digest(b)
	return errLeft == nil && errRight == nil && left == right
}

// withoutFence removes the Markdown code fence that surrounds a file.
func withoutFence(text string) string {
	trimmed := strings.TrimSpace(text)
	if !strings.HasPrefix(trimmed, "```") || !strings.HasSuffix(trimmed, "```") {
		return text
	}
	_, body, ok := strings.Cut(trimmed, "\n")
	if !ok {
		return text
	}
	return strings.TrimSuffix(body, "```")
}

// Remark is a finding of a model. It is an opinion, and does not affect the verdict of the gate.
type Remark struct {
	File     string            `json:"file"`
	Line     int               `json:"line"`
	Severity registry.Severity `json:"severity" enum:"low,medium,high"`
	Message  string            `json:"message"`
}

// Opinion is a model's text about a program.
type Opinion struct {
	Text     string          `json:"text" doc:"Markdown."`
	Findings []Remark        `json:"findings" doc:"Findings of a review; empty for an explanation. They are opinions of the model."`
	Revision int64           `json:"revision"`
	Model    string          `json:"model"`
	Tokens   registry.Tokens `json:"tokens"`
}

// Explain returns a model's explanation of an agent's draft.
func (s *Service) Explain(ctx context.Context, actor registry.Actor, agent string) (Opinion, error) {
	return s.opinion(ctx, actor, agent, explainTask, explainShape, func(text string, _ registry.Agent, o *Opinion) error {
		var answer struct {
			Explanation string `json:"explanation"`
		}
		if err := document(text, &answer); err != nil {
			return problemf("%v", err)
		}
		o.Text = answer.Explanation
		return nil
	})
}

// Review returns a model's findings about an agent's draft.
func (s *Service) Review(ctx context.Context, actor registry.Actor, agent string) (Opinion, error) {
	return s.opinion(ctx, actor, agent, reviewTask, reviewShape, func(text string, a registry.Agent, o *Opinion) error {
		var answer struct {
			Summary  string   `json:"summary"`
			Findings []Remark `json:"findings"`
		}
		if err := document(text, &answer); err != nil {
			return problemf("%v", err)
		}
		for i, f := range answer.Findings {
			content, ok := a.Draft.Files[f.File]
			if !ok {
				return problemf("findings[%d]: there is no file %q; the files are %s", i, shownPath(f.File), strings.Join(slices.Sorted(maps.Keys(textsOf(a.Draft.Files))), ", "))
			}
			if !slices.Contains([]registry.Severity{registry.Low, registry.Medium, registry.High}, f.Severity) {
				return problemf("findings[%d]: severity must be low, medium or high", i)
			}
			if lines := strings.Count(string(content), "\n") + 1; f.Line < 1 || f.Line > lines {
				return problemf("findings[%d]: %s has %d lines, not %d", i, shownPath(f.File), lines, f.Line)
			}
		}
		o.Text, o.Findings = answer.Summary, append(o.Findings, answer.Findings...)
		return nil
	})
}

func (s *Service) opinion(ctx context.Context, actor registry.Actor, ref, task string, shape json.RawMessage, check func(string, registry.Agent, *Opinion) error) (Opinion, error) {
	leave, err := s.enter(ctx, actor)
	if err != nil {
		return Opinion{}, err
	}
	defer leave()
	agent, err := s.Drafts.Agent(ctx, actor.Workspace, ref)
	if err != nil {
		return Opinion{}, err
	}
	hidden, err := s.hidden(ctx, agent)
	if err != nil {
		return Opinion{}, err
	}
	program, err := described(agent, hidden)
	if err != nil {
		return Opinion{}, err
	}
	o := Opinion{Findings: []Remark{}, Revision: agent.Draft.Revision}
	_, o.Tokens, o.Model, err = s.converse(ctx, actor.Workspace, s.talk(task, program, shape), func(Attempt) {}, func(text string) error { return check(text, agent, &o) })
	return o, err
}
