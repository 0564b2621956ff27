package tasks

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/runs"
)

const (
	// lookEvery is the interval at which a server looks for tasks that other servers have queued, abandoned or
	// cancelled.
	lookEvery = 5 * time.Second
	// leastWait and mostWait are the limits of the time that tasks wait after one of them was refused.
	leastWait = time.Second
	mostWait  = 10 * time.Minute
	// mostDoublings limits how often the wait is doubled: 2^9 seconds are almost mostWait.
	mostDoublings = 9
)

// errStopping is the cause with which the work on a task ends when the server stops.
var errStopping = errors.New("the server is stopping")

// worker executes one task.
type worker struct {
	workspace string
	cancel    context.CancelCauseFunc
}

// Begin starts to execute tasks in the background.
func (s *Service) Begin(ctx context.Context) {
	ctx, s.stop = context.WithCancelCause(context.WithoutCancel(ctx))
	go func() {
		defer close(s.done)
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		s.recover(ctx)
		for ctx.Err() == nil {
			s.dispatch(ctx)
			select {
			case <-s.wake: // A new task does not require a check of all active tasks.
			case <-tick.C:
				s.recover(ctx)
			case <-ctx.Done():
			}
		}
	}()
}

// Close queues the active tasks again and waits until this is stored. It must be called before the runs service is
// closed.
func (s *Service) Close() {
	s.stop(errStopping)
	<-s.done
	s.all.Wait()
}

// look signals the dispatcher to look for queued tasks.
func (s *Service) look() {
	select {
	case s.wake <- struct{}{}:
	default: // A signal is already pending.
	}
}

// dispatch starts queued tasks until no slot is free or no task is queued.
func (s *Service) dispatch(ctx context.Context) {
	for ctx.Err() == nil {
		id, workspace, err := s.next(ctx)
		if err == nil && id != "" {
			err = s.claim(ctx, workspace, id)
		}
		if err != nil {
			s.failed(ctx, "start task", err)
			return
		}
		if id == "" {
			return
		}
	}
}

// next returns the task to start, or "" if there is none. It prefers the workspace with the fewest active tasks, so
// that many tasks of one workspace do not delay the tasks of another.
func (s *Service) next(ctx context.Context) (id, workspace string, err error) {
	busy, now := map[string]int{}, s.Now()
	s.mu.Lock()
	full := len(s.live) >= s.Concurrent
	for _, w := range s.live {
		busy[w.workspace]++
	}
	for which, until := range s.later {
		if !now.Before(until) {
			delete(s.later, which)
		}
	}
	s.mu.Unlock()
	if full {
		return "", "", nil
	}
	queues, err := s.Progress.TaskQueues(ctx)
	if err != nil {
		return "", "", err
	}
	s.mu.Lock()
	queues = slices.DeleteFunc(queues, s.waits)
	s.mu.Unlock()
	if len(queues) == 0 {
		return "", "", nil
	}
	first := slices.MinFunc(queues, func(a, b registry.TaskQueue) int {
		return cmp.Or(cmp.Compare(busy[a.Workspace], busy[b.Workspace]), a.Due.Compare(b.Due), cmp.Compare(a.Task, b.Task))
	})
	return first.Task, first.Workspace, nil
}

// waits reports whether the tasks of a queue must wait, because one of them was refused.
func (s *Service) waits(q registry.TaskQueue) bool {
	_, all := s.later[held{workspace: q.Workspace}]
	_, these := s.later[held{q.Workspace, q.Described}]
	return all || these
}

// claim makes this server the owner of a queued task and starts to execute the task. If another server was faster,
// claim does nothing.
func (s *Service) claim(ctx context.Context, workspace, id string) error {
	t, err := s.Store.Task(ctx, workspace, id)
	if fault.Is(err, fault.NotFound) || err == nil && t.Status != registry.TaskQueued {
		return nil
	}
	if err != nil {
		return err
	}
	working, cancel := context.WithCancelCause(ctx)
	s.mu.Lock()
	w := &worker{workspace, cancel}
	s.live[id] = w
	s.mu.Unlock()
	t.Status = registry.TaskSpawning
	if err := s.change(ctx, &t, ""); err != nil {
		s.leave(id, w)
		cancel(nil)
		if fault.Is(err, fault.Conflict) {
			return nil
		}
		return err
	}
	s.all.Add(1)
	go func() {
		defer s.all.Done()
		defer cancel(nil)
		err := s.work(working, t)
		s.leave(id, w)
		s.failed(ctx, "work on task", err)
		s.look()
	}()
	return nil
}

// leave removes a worker. If the task was queued and claimed again in the meantime, the new worker of the task stays.
func (s *Service) leave(id string, w *worker) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live[id] == w {
		delete(s.live, id)
	}
}

// failed logs an error of the server. It ignores a conflict, because a conflict means that the task was cancelled or
// deleted in the meantime.
func (s *Service) failed(ctx context.Context, what string, err error) {
	if err != nil && ctx.Err() == nil && !fault.Is(err, fault.Conflict) && !fault.Is(err, fault.NotFound) {
		s.Log.LogAttrs(ctx, slog.LevelError, what, slog.Any("error", err))
	}
}

// work executes one attempt of a task. It ends when a person must decide about the changes.
func (s *Service) work(ctx context.Context, t registry.Task) error {
	lasting := context.WithoutCancel(ctx) // This context stores the state even if the work is cancelled.
	request, err := s.request(ctx, &t)
	if err != nil {
		return s.refused(lasting, ctx, &t, err)
	}
	run, err := s.Runs.Start(registry.WithoutKey(lasting), t.Creator, request)
	if err != nil {
		return s.refused(lasting, ctx, &t, err)
	}
	s.mu.Lock()
	delete(s.refusals, held{workspace: t.Workspace})
	delete(s.refusals, held{t.Workspace, t.Described()})
	s.mu.Unlock()
	t.Status, t.RunID = registry.TaskExecuting, run.ID
	message := ""
	if run.Status == registry.AwaitingApproval {
		message = "The run waits for an approval."
	}
	if err := s.change(lasting, &t, message); err != nil {
		return errors.Join(err, s.endRun(lasting, t.Creator, t))
	}
	if err := s.follow(ctx, t); err != nil {
		if context.Cause(ctx) == errStopping {
			return errors.Join(s.endRun(lasting, t.Creator, t), s.again(lasting, &t, "The server stopped. The task is queued again."))
		}
		if ctx.Err() != nil {
			return s.endRun(lasting, t.Creator, t)
		}
		return err
	}
	ended, err := s.Runs.Summary(lasting, t.Creator, t.RunID)
	if err != nil {
		return err
	}
	return s.settle(lasting, &t, ended)
}

// request returns the request for the run of a task. For a described task, a language model first writes the program.
func (s *Service) request(ctx context.Context, t *registry.Task) (runs.Request, error) {
	r := runs.Request{Project: t.Project, Trigger: registry.TriggerTask}
	if t.Described() {
		spec, err := s.generate(ctx, t)
		r.Inline, r.Input = &spec, t.Input
		return r, err
	}
	version, err := s.version(ctx, *t)
	if err != nil {
		return r, err
	}
	r.Agent, r.Version, r.Of = t.AgentID, t.Version, &version
	r.Input, err = withFeedback(t.Input, version.InputSchema, t.Feedback)
	return r, err
}

// follow waits until the run of a task has ended. If the run waits for an approval, follow returns at once, so that the
// task does not use a slot.
func (s *Service) follow(ctx context.Context, t registry.Task) error {
	events, err := s.Runs.Follow(ctx, t.Creator, t.RunID, 0)
	for err == nil {
		_, err = events.Next(ctx)
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// refused handles a run that could not start. If the reason is temporary, it queues the task again; otherwise it ends
// the task.
func (s *Service) refused(lasting, ctx context.Context, t *registry.Task, cause error) error {
	var known *fault.Error
	switch {
	case context.Cause(ctx) == errTaken:
		return nil
	case context.Cause(ctx) == errStopping || fault.Is(cause, fault.ShuttingDown):
		return s.again(lasting, t, "The server stopped. The task is queued again.")
	case errors.As(cause, &known) && passes(known):
		// If the language model refused the request, only described tasks must wait, because tasks of agents do not use the
		// model.
		wait := s.postpone(held{t.Workspace, t.Status == registry.TaskGenerating}, known)
		time.AfterFunc(wait, s.look)
		return s.again(lasting, t, "The task waits: "+known.Message)
	case known != nil:
		t.Error = &registry.TaskError{Type: "refused", Message: known.Message}
		if t.Status == registry.TaskGenerating {
			t.Error.Type, t.Error.Remedy = "generation", "Retry the task with feedback, or describe the change in other words."
		}
		for _, d := range known.Details {
			t.Error.Message += " " + d.Pointer + " " + d.Message
		}
	default:
		t.Error = &registry.TaskError{Type: "server_error", Message: "An internal error of the server occurred."}
	}
	t.Status = registry.TaskErrored
	return errors.Join(s.change(lasting, t, t.Error.Message), unknown(cause, known))
}

// postpone makes tasks wait after a refusal, and returns how long they wait. Each consecutive refusal doubles the time,
// so that repeated attempts do not add many events to the task.
func (s *Service) postpone(which held, cause *fault.Error) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	wait := max(cause.RetryAfter, leastWait<<min(s.refusals[which], mostDoublings))
	if cause.Code == fault.BudgetExceeded { // The budget stays used up until an administrator raises it or the month ends, so wait as long as possible.
		wait = mostWait
	}
	wait = min(wait, mostWait)
	s.refusals[which]++
	s.later[which] = s.Now().Add(wait)
	return wait
}

// unknown returns the error if the task does not already show its text; otherwise it returns nil.
func unknown(cause error, known *fault.Error) error {
	if known != nil {
		return nil
	}
	return cause
}

// passes reports whether the reason of a refusal is temporary, so that the run may start later. The error of a busy
// language model counts as temporary, because it sets RetryAfter.
func passes(refusal *fault.Error) bool {
	if refusal.Code == fault.ModelUnavailable {
		return refusal.RetryAfter > 0
	}
	return slices.Contains([]fault.Code{fault.TooManyRequests, fault.QueueFull, fault.QuotaExceeded, fault.BudgetExceeded, fault.StorageUnavailable, fault.SandboxUnavailable, fault.RuntimeUnavailable}, refusal.Code)
}

// again queues a task again for the same attempt. The task keeps its position in the queue.
func (s *Service) again(ctx context.Context, t *registry.Task, message string) error {
	t.Status, t.RunID = registry.TaskQueued, ""
	return s.change(ctx, t, message)
}

// settle moves a task to its next state after its run has ended.
func (s *Service) settle(ctx context.Context, t *registry.Task, run registry.Run) error {
	switch {
	case !run.Status.Final():
		return nil // The run waits for an approval, or another server executes the run.
	case run.Status == registry.StatusInterrupted:
		return s.interrupted(ctx, t, run.Error)
	}
	t.Status = registry.TaskSubmitting
	if err := s.change(ctx, t, ""); err != nil {
		return err
	}
	overlay, err := s.Reader.OverlayOfRun(ctx, t.Workspace, t.RunID)
	none := fault.Is(err, fault.NotFound)
	if err != nil && !none {
		return err
	}
	t.OverlayID, t.Summary, t.Files = overlay.ID, overlay.Summary, len(overlay.Entries)
	switch {
	case run.Error != nil:
		t.Status, t.Error = registry.TaskErrored, errorOf(run.Error)
		return s.change(ctx, t, t.Error.Message)
	case none:
		t.Status = registry.TaskAccepted
		return s.change(ctx, t, "The program changed no file, so there is nothing to accept or reject.")
	}
	t.Status = registry.TaskReviewing
	if err := s.change(ctx, t, overlay.Summary); err != nil {
		return err
	}
	return s.decided(ctx, t)
}

// decided ends a task whose changes were decided before the task got the status reviewing.
func (s *Service) decided(ctx context.Context, t *registry.Task) error {
	overlay, err := s.Reader.OverlayOfRun(ctx, t.Workspace, t.RunID)
	if err != nil || overlay.Status == registry.OverlayOpen {
		return err
	}
	t.Status = registry.TaskRejected
	if overlay.Status == registry.OverlayAccepted {
		t.Status = registry.TaskAccepted
	}
	return s.change(ctx, t, "")
}

func errorOf(e *runtimes.ProgramError) *registry.TaskError {
	return &registry.TaskError{Type: string(e.Type), Message: fault.Shown(e.Message, 2000), Remedy: fault.Shown(e.Remedy, 1000)}
}

// interrupted queues a task again after its run was interrupted, because its server stopped or could not execute it.
// After two interruptions the task ends, because the task itself may be the cause. cause is the error of the run, or
// nil if there is none.
func (s *Service) interrupted(ctx context.Context, t *registry.Task, cause *runtimes.ProgramError) error {
	reason := "The server stopped while it worked on the task."
	if cause != nil && cause.Message != "" {
		reason = fault.Shown(cause.Message, 2000)
	}
	if t.RunID != "" {
		if _, err := s.discard(ctx, t.Creator, *t); err != nil {
			return err
		}
	}
	if t.Resumed {
		t.Status, t.Error = registry.TaskErrored, &registry.TaskError{Type: "interrupted", Message: "The task was interrupted twice. " + reason, Remedy: "Retry the task."}
		return s.change(ctx, t, t.Error.Message)
	}
	t.Resumed = true
	if err := s.again(ctx, t, reason+" The task is queued again."); err != nil {
		return err
	}
	s.look()
	return nil
}

// recover continues the tasks of servers that have stopped, and the tasks whose run waited for an approval. It also
// stops the work on tasks that were cancelled on another server.
func (s *Service) recover(ctx context.Context) {
	own, err := s.Progress.ActiveTasks(ctx, true)
	if err != nil {
		s.failed(ctx, "read active tasks", err)
		return
	}
	left, err := s.Progress.ActiveTasks(ctx, false)
	if err != nil {
		s.failed(ctx, "read active tasks", err)
		return
	}
	s.mu.Lock()
	for id, w := range s.live {
		if !slices.ContainsFunc(own, func(t registry.Task) bool { return t.ID == id }) {
			w.cancel(errTaken)
		}
	}
	own = slices.DeleteFunc(own, func(t registry.Task) bool { return s.live[t.ID] != nil })
	s.mu.Unlock()
	for _, t := range own {
		s.failed(ctx, "continue task", s.resume(ctx, t))
	}
	for _, t := range left {
		t.Revision++ // Take over the task, so that only one server continues it.
		t.UpdatedAt = s.Now()
		err := s.Progress.ChangeTask(ctx, t, "Another server continues the task.")
		if err == nil {
			err = s.resume(ctx, t)
		}
		s.failed(ctx, "continue task", err)
	}
}

// resume continues an active task that no worker executes.
func (s *Service) resume(ctx context.Context, t registry.Task) error {
	if t.RunID == "" {
		return s.interrupted(ctx, &t, nil)
	}
	run, err := s.Runs.Summary(ctx, t.Creator, t.RunID)
	if fault.Is(err, fault.NotFound) {
		return s.interrupted(ctx, &t, nil)
	}
	if err != nil {
		return err
	}
	return s.settle(ctx, &t, run)
}
