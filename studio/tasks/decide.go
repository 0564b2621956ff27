package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/projects"
)

// Diff compares the changes of a task with its project. Errors: NotFound; Conflict if the task has no changes yet.
func (s *Service) Diff(ctx context.Context, actor registry.Actor, id string) (projects.OverlayDifference, error) {
	t, err := s.Get(ctx, actor, id)
	if err == nil && t.OverlayID == "" {
		err = fault.New(fault.Conflict, "The task is %s and has no changes.", t.Status)
	}
	if err != nil {
		return projects.OverlayDifference{}, err
	}
	return s.Projects.Diff(ctx, actor, t.Project, t.OverlayID)
}

// Accept applies the changes of a task to its project, either all or those of some files. Errors: those of
// projects.Accept.
func (s *Service) Accept(ctx context.Context, actor registry.Actor, id string, d projects.Decision) (registry.Task, error) {
	return s.decide(ctx, actor, id, func(t registry.Task) error {
		_, err := s.Projects.Accept(ctx, actor, t.Project, t.OverlayID, d)
		return err
	})
}

// Reject rejects the changes of a task, either all or those of some files. Errors: those of projects.Reject.
func (s *Service) Reject(ctx context.Context, actor registry.Actor, id string, d projects.Decision) (registry.Task, error) {
	return s.decide(ctx, actor, id, func(t registry.Task) error {
		_, err := s.Projects.Reject(ctx, actor, t.Project, t.OverlayID, d)
		return err
	})
}

// decide applies a decision to the changes of a task. The store ends the task in the same transaction as its overlay.
func (s *Service) decide(ctx context.Context, actor registry.Actor, id string, decision func(registry.Task) error) (registry.Task, error) {
	t, err := s.Get(ctx, actor, id)
	if err != nil {
		return t, err
	}
	if t.Status != registry.TaskReviewing {
		return t, &fault.Error{Code: fault.Conflict, Message: "The task is " + string(t.Status) + ", and it has no changes that wait for a decision.", Extra: map[string]any{"status": t.Status}}
	}
	if err := decision(t); err != nil {
		return t, err
	}
	s.announce(id)
	return s.Get(ctx, actor, id)
}

// tries is the maximum number of attempts to change a task that a server changes at the same time.
const tries = 10

// Cancel ends a task that has no changes yet, and cancels its run. Errors: NotFound; Conflict.
func (s *Service) Cancel(ctx context.Context, actor registry.Actor, id string) (registry.Task, error) {
	var t registry.Task
	for n := 0; ; n++ {
		var err error
		if t, err = s.Get(ctx, actor, id); err != nil {
			return t, err
		}
		switch {
		case t.Status == registry.TaskReviewing:
			return t, fault.New(fault.Conflict, "The task cannot be cancelled, because its changes wait for a decision. Reject the changes instead.")
		case t.Status.Final():
			return t, fault.New(fault.Conflict, "The task has already ended: %s.", t.Status)
		}
		t.Status, t.Error = registry.TaskErrored, &registry.TaskError{Type: "cancelled", Message: "The task was cancelled."}
		if err = s.change(ctx, &t, t.Error.Message); err == nil {
			break
		}
		if !fault.Is(err, fault.Conflict) || n == tries {
			return t, err
		}
	}
	s.mu.Lock()
	w := s.live[id]
	s.mu.Unlock()
	if w != nil {
		w.cancel(errTaken)
	}
	return t, s.endRun(ctx, actor, t)
}

// endRun cancels the run of a task if the run is live or waits. It also rejects the changes of the run. Both happen in
// the name of the actor.
func (s *Service) endRun(ctx context.Context, actor registry.Actor, t registry.Task) error {
	if t.RunID == "" {
		return nil
	}
	if _, err := s.Runs.Cancel(ctx, actor, t.RunID); err != nil && !fault.Is(err, fault.Conflict) && !fault.Is(err, fault.NotFound) {
		return err
	}
	_, err := s.discard(ctx, actor, t)
	return err
}

// discard rejects the open changes of a run that no task needs. It reports whether there were any.
func (s *Service) discard(ctx context.Context, actor registry.Actor, t registry.Task) (rejected bool, err error) {
	o, err := s.Reader.OverlayOfRun(ctx, t.Workspace, t.RunID)
	if fault.Is(err, fault.NotFound) || err == nil && o.Status != registry.OverlayOpen {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	_, err = s.Projects.Reject(ctx, actor, t.Project, o.ID, projects.Decision{})
	if fault.Is(err, fault.Conflict) || fault.Is(err, fault.NotFound) { // The changes were decided or have expired in the meantime.
		return false, nil
	}
	return err == nil, err
}

// mayRetry returns an error if a task cannot be tried again, or nil if it can.
func mayRetry(t registry.Task) error {
	switch {
	case t.Status == registry.TaskAccepted:
		return fault.New(fault.Conflict, "The task is already accepted. Submit a new task.")
	case t.Status != registry.TaskReviewing && !t.Status.Final():
		return fault.New(fault.Conflict, "The task is %s. Cancel it first.", t.Status)
	case t.Attempt >= maxAttempts:
		return fault.New(fault.Conflict, "The task was already tried %d times, which is the maximum. Submit a new task.", t.Attempt)
	}
	return nil
}

// Retry rejects the open changes of a task and queues the task again. The agent gets the feedback as the input property
// named feedback. The parameter rejecting is the error to return if the actor may not reject changes, else nil. Errors:
// NotFound; Conflict; InvalidInput; rejecting.
func (s *Service) Retry(ctx context.Context, actor registry.Actor, id, feedback string, rejecting error) (registry.Task, error) {
	if len(feedback) > maxFeedback || !utf8.ValidString(feedback) || strings.ContainsRune(feedback, 0) {
		return registry.Task{}, fault.Invalid("/feedback", "must be text of at most 16 KiB.")
	}
	t, err := s.Get(ctx, actor, id)
	if err == nil {
		err = mayRetry(t)
	}
	if err == nil && t.OverlayID != "" { // The changes may still wait for a decision, so the actor must be allowed to reject them.
		err = rejecting
	}
	if err != nil {
		return t, err
	}
	if err := s.checkFeedback(ctx, t, feedback); err != nil {
		return t, err
	}
	if t.RunID != "" {
		rejected, err := s.discard(ctx, actor, t)
		if err != nil {
			return t, err
		}
		if t, err = s.Get(ctx, actor, id); err != nil { // Read the task again, because rejecting the changes has changed its revision.
			return t, err
		}
		// If some files were accepted before, rejecting the other files makes the task accepted. Such a task may be tried
		// again. In any other case another person has decided or retried in the meantime.
		if err := mayRetry(t); err != nil && (!rejected || t.Status != registry.TaskAccepted) {
			return t, err
		}
	}
	t.Status, t.Feedback, t.QueuedAt = registry.TaskQueued, feedback, s.Now()
	t.Attempt++
	t.RunID, t.OverlayID, t.Summary, t.Files, t.Error, t.Resumed = "", "", "", 0, nil, false
	if err := s.change(ctx, &t, feedback); err != nil {
		return t, err
	}
	s.look()
	return t, nil
}

// checkFeedback returns an error if the agent could not run with the feedback. It is called before the changes of the
// last attempt are rejected, so that invalid feedback loses no changes. Feedback is stored like the input, so it must
// not contain the value of a secret.
func (s *Service) checkFeedback(ctx context.Context, t registry.Task, feedback string) error {
	if feedback == "" || t.Described() { // For a described task only the model reads the feedback; no program gets it.
		return nil
	}
	version, err := s.version(ctx, t)
	if err != nil {
		return err
	}
	input, err := withFeedback(t.Input, version.InputSchema, feedback)
	if err != nil {
		return err
	}
	_, err = s.Runs.CheckKept(ctx, t.Workspace, version, input)
	var invalid *fault.Error
	if errors.As(err, &invalid) && invalid.Code == fault.InvalidInput {
		refused := *invalid
		refused.Details = slices.Clone(invalid.Details)
		for at := range refused.Details { // Report the errors for /feedback, because the input was valid without the feedback.
			refused.Details[at].Pointer = "/feedback"
		}
		return &refused
	}
	return err
}

// withFeedback adds feedback to the input of an agent. If the agent has an input schema, the schema must declare the
// property feedback.
func withFeedback(input, schema json.RawMessage, feedback string) (json.RawMessage, error) {
	if feedback == "" {
		return input, nil
	}
	if len(schema) > 0 {
		var declared struct {
			Properties map[string]json.RawMessage `json:"properties"`
		}
		_ = json.Unmarshal(schema, &declared) // The schema was checked when it was saved. The schemas true and false declare no properties.
		if _, ok := declared.Properties["feedback"]; !ok {
			return nil, fault.Invalid("/feedback", "must be empty, because the input schema of the agent has no property feedback.")
		}
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(input, &fields); len(input) > 0 && (err != nil || fields == nil) {
		return nil, fault.Invalid("/feedback", "must be empty, because the input of the task is not an object.")
	}
	text, err := json.Marshal(feedback)
	if err != nil {
		return nil, err
	}
	fields["feedback"] = text
	return json.Marshal(fields)
}

// version returns the version of a task's agent.
func (s *Service) version(ctx context.Context, t registry.Task) (registry.Version, error) {
	return s.Resolver.Resolve(ctx, t.Workspace, registry.Reference{Agent: t.AgentID, Version: t.Version})
}

// errTaken is the cause with which the work on a task ends if the task was cancelled or now belongs to another server.
var errTaken = errors.New("the task was cancelled")
