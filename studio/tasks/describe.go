package tasks

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/assist"
)

// attemptKind is the kind of the event that records an unusable answer of the model.
const attemptKind runtimes.Kind = "attempt"

// described returns a new task for which a language model writes the program.
func (s *Service) described(ctx context.Context, actor registry.Actor, req Request) (registry.Task, error) {
	if err := registry.CheckText("/description", req.Description); err != nil {
		return registry.Task{}, err
	}
	description := strings.TrimSpace(req.Description)
	if description == "" {
		return registry.Task{}, fault.Invalid("/description", "must describe the change.")
	}
	language := req.Language
	if language == "" {
		language = runtimes.Python
	}
	if !slices.Contains(assist.Languages(), language) {
		return registry.Task{}, fault.Invalid("/language", "must be javascript, typescript, python or bash.")
	}
	if err := s.Writer.Check(ctx, actor.Workspace); err != nil {
		return registry.Task{}, err
	}
	project, err := s.Projects.Get(ctx, actor, req.Project)
	if err != nil {
		return registry.Task{}, err
	}
	input, err := s.Runs.CheckKept(ctx, actor.Workspace, registry.Version{}, req.Input)
	line, _, _ := strings.Cut(description, "\n")
	return registry.Task{
		Title: fault.Shown(strings.TrimSpace(line), 80), Description: description, Language: language, ProjectID: project.ID, Project: project.Name, Input: input,
	}, err
}

// writtenMessage returns the message that the program was written, with the gate's verdict about it.
func writtenMessage(v *registry.Verdict) string {
	message := "The language model wrote the program."
	if v != nil {
		message += fmt.Sprintf(" The verdict of the gate is %s.", v.Decision)
	}
	return message
}

// generate returns the program of a described task. If the program was already written for this attempt, generate uses
// it again, so that a restart costs no tokens. Each unusable answer of the model becomes an event of the task.
func (s *Service) generate(ctx context.Context, t *registry.Task) (registry.Spec, error) {
	if t.Program != nil && t.Program.Attempt == t.Attempt {
		return assist.TaskSpec(t.Language, *t.Program), nil
	}
	_, tree, err := s.Projects.Tree(ctx, t.Creator, t.Project)
	if err != nil {
		return registry.Spec{}, err
	}
	lasting := context.WithoutCancel(ctx)
	t.Status = registry.TaskGenerating
	if err := s.change(lasting, t, ""); err != nil {
		return registry.Spec{}, err
	}
	note := func(a assist.Attempt) {
		if err := s.Progress.AddTaskEvent(lasting, *t, attemptKind, registry.TaskAttempt(a), s.Now()); err != nil {
			s.Log.LogAttrs(ctx, slog.LevelWarn, "store attempt of task", slog.String("task", t.ID), slog.Any("error", err))
		}
		s.announce(t.ID)
	}
	o := assist.Order{
		Description: t.Description, Language: t.Language, Input: t.Input, Paths: slices.Sorted(maps.Keys(tree)), Before: t.Program, Feedback: t.Feedback,
	}
	program, err := s.Writer.WriteTask(ctx, t.Creator, o, note)
	var failed *fault.Error
	if errors.As(err, &failed) {
		if all, ok := failed.Extra["attempts"].([]assist.Attempt); ok && len(all) > 0 {
			note(all[len(all)-1])
		}
	}
	if err != nil {
		return registry.Spec{}, err
	}
	program.Attempt = t.Attempt
	t.Program = &program
	if err := s.change(lasting, t, writtenMessage(program.Verdict)); err != nil { // Store the program before it runs, so that a restart does not lose it.
		return registry.Spec{}, err
	}
	return assist.TaskSpec(t.Language, program), nil
}
