package assist

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/inspect"
	"github.com/atelier-run/atelier/studio/specs"
)

// Order describes a change of a project for a model. The model sees the paths of the project's files, but not their
// contents.
type Order struct {
	Description string
	Language    runtimes.Language
	Input       json.RawMessage
	Paths       []string              // paths of the project's files, sorted
	Before      *registry.TaskProgram // program of the last attempt; nil if there was none
	Feedback    string                // a person's comment on the last attempt
}

// maxPaths is the maximum size in bytes of the list of paths that is sent to a model.
const maxPaths = 16 << 10

// Languages returns the languages in which a model may write programs.
func Languages() []runtimes.Language {
	return []runtimes.Language{runtimes.JavaScript, runtimes.TypeScript, runtimes.Python, runtimes.Bash}
}

// TaskSpec returns the spec with which the program of a described task runs. The program runs under the restricted
// rules. It may read and write the files of the task's project, and has no other capabilities, except that Bash may
// start processes.
func TaskSpec(language runtimes.Language, p registry.TaskProgram) registry.Spec {
	return registry.Spec{
		Language: language, Runtime: runtimes.Auto, Files: p.Files, Entrypoint: p.Entrypoint, Rules: &runtimes.Rules{Pack: runtimes.Restricted},
		Capabilities: runtimes.Capabilities{Files: &runtimes.Files{Project: runtimes.AnyProject, Write: true}, Subprocess: language == runtimes.Bash}, SafetyFlags: []string{"file_system"},
	}
}

// Check returns the reason why a workspace may not use the model, or nil if it may.
func (s *Service) Check(ctx context.Context, workspace string) error {
	return s.Model.Check(ctx, workspace)
}

// WriteTask writes the program of a described task. It checks the program but does not run it, because the program runs
// later on the overlay of the task. watch is called with each failed attempt. Conversations of people have priority
// over tasks, because nobody waits for a task.
func (s *Service) WriteTask(ctx context.Context, actor registry.Actor, o Order, watch func(Attempt)) (registry.TaskProgram, error) {
	if err := s.Model.Check(ctx, actor.Workspace); err != nil {
		return registry.TaskProgram{}, err
	}
	leave, err := s.places.enter(ctx, true, maxWait)
	if err != nil {
		return registry.TaskProgram{}, err
	}
	defer leave()
	p := registry.TaskProgram{Entrypoint: specs.Entrypoint(o.Language)}
	_, p.Tokens, p.Model, err = s.converse(ctx, actor.Workspace, s.talk(orderTask, o.text(), orderShape), watch, func(text string) error {
		return s.checkOrder(ctx, actor, o.Language, text, &p)
	})
	return p, err
}

// text returns an order as text for a model.
func (o Order) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Language: %s. %s %s\nEntry file: %s\n<description>\n%s\n</description>\n", o.Language, contract(o.Language), functions(o.Language), specs.Entrypoint(o.Language), o.Description)
	if len(o.Input) > 0 && string(o.Input) != "{}" {
		fmt.Fprintf(&b, "<input>\n%s\n</input>\n", strings.ToValidUTF8(string(o.Input[:min(len(o.Input), maxInput)]), ""))
	}
	b.WriteString("<files>\n")
	used := 0
	for i, path := range o.Paths {
		if used += len(path) + 1; used > maxPaths {
			fmt.Fprintf(&b, "… and %d more\n", len(o.Paths)-i)
			break
		}
		b.WriteString(fault.Shown(path, 500) + "\n")
	}
	b.WriteString("</files>")
	if o.Before != nil && o.Feedback != "" {
		before, err := json.MarshalIndent(textsOf(o.Before.Files), "", " ")
		if err == nil && len(before) <= maxPrompt {
			fmt.Fprintf(&b, "\nThe program of the last attempt:\n<program>\n%s\n</program>", before)
		}
	}
	if o.Feedback != "" {
		fmt.Fprintf(&b, "\nA person's comment on the last attempt:\n<feedback>\n%s\n</feedback>", o.Feedback)
	}
	return b.String()
}

// checkOrder checks a model's answer and fills in the program. If the error is a *problem, it is sent back to the
// model; any other error ends the conversation.
func (s *Service) checkOrder(ctx context.Context, actor registry.Actor, language runtimes.Language, text string, p *registry.TaskProgram) error {
	var w struct {
		Explanation string   `json:"explanation"`
		Plan        []string `json:"plan"`
		Files       []struct {
			Path    string `json:"path"`
			Content string `json:"content"`
		} `json:"files"`
	}
	if err := document(text, &w); err != nil {
		return problemf("%v", err)
	}
	p.Explanation, p.Plan, p.Files = fault.Shown(w.Explanation, 4000), []string{}, map[string]registry.File{}
	for _, step := range w.Plan[:min(len(w.Plan), maxPlan)] {
		p.Plan = append(p.Plan, fault.Shown(step, 500))
	}
	for _, f := range w.Files {
		p.Files[f.Path] = registry.File(withoutFence(f.Content))
	}
	if _, ok := p.Files[p.Entrypoint]; !ok {
		return problemf("files must contain the entry file %s", p.Entrypoint)
	}
	verdict, spec, err := s.judged(ctx, actor, TaskSpec(language, *p), nil)
	if err != nil {
		return err
	}
	p.Verdict = verdict
	return s.requireCalls(ctx, spec)
}

// maxPlan is the maximum number of steps of a plan.
const maxPlan = 10

// bashCall matches calls of host functions in a Bash program. The inspector cannot find these calls, because it returns
// no facts about Bash.
var bashCall = regexp.MustCompile(`\batelier\s+(write|delete|submit)\b`)

// requireCalls rejects a program that cannot be parsed, cannot change a file, or reports no result.
func (s *Service) requireCalls(ctx context.Context, spec registry.Spec) error {
	files := make(map[string][]byte, len(spec.Files))
	for name, content := range spec.Files {
		files[name] = content
	}
	found, err := s.Inspector.Facts(ctx, inspect.Request{Language: spec.Language, Runtime: spec.Runtime, Files: files, Entrypoint: spec.Entrypoint})
	if err != nil {
		return err
	}
	for _, e := range found.Errors {
		return problemf("%s:%d: %s", e.File, e.Line, e.Message)
	}
	var called []string
	for _, f := range found.Facts {
		if f.Kind == runtimes.FunctionFact {
			called = append(called, f.Name)
		}
	}
	for _, content := range files {
		if spec.Language == runtimes.Bash {
			for _, match := range bashCall.FindAllSubmatch(content, -1) {
				called = append(called, string(match[1]))
			}
		}
	}
	calls := func(names ...string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return slices.Contains(called, name) })
	}
	switch {
	case !calls("write_file", "delete_file", "writeFile", "deleteFile", "write", "delete"):
		return problemf("the program changes no file; call the function that writes or deletes files on the parameter ctx")
	case !calls("submit_result", "submitResult", "submit"):
		return problemf("the program does not report its result; end it with the function that submits the summary and the changed files")
	}
	return nil
}

// functions returns the part of a prompt that explains how a program of a language reads and changes the files of a
// project.
func functions(language runtimes.Language) string {
	switch language {
	case runtimes.JavaScript, runtimes.TypeScript:
		return "These functions of ctx answer promises: readFile(path), writeFile(path, content), deleteFile(path), listDir(path), fileExists(path), searchFiles(pattern) with * and **, " +
			"searchContent(pattern, path) of [{file, line, text}] with RE2 patterns, submitResult(summary, changedFiles). ctx.log(level, message) writes to the log. Name the second parameter ctx."
	case runtimes.Bash:
		return "The command atelier has subcommands: read PATH, write PATH with the content on stdin, delete PATH, list [PATH], exists PATH, find PATTERN with * and **, grep PATTERN [PATH] with RE2 patterns, submit SUMMARY PATH…. Lists are printed as JSON. jq is available."
	}
	return "Functions of ctx: read_file(path), write_file(path, content), delete_file(path), list_dir(path=\".\"), file_exists(path), search_files(pattern) with * and **, " +
		"search_content(pattern, path=\".\") of [{file, line, text}] with RE2 patterns, submit_result(summary, changed_files). ctx.log(level, message) writes to the log. Name the second parameter ctx. " +
		"Only modules that compute may be imported, such as re, json and textwrap."
}
