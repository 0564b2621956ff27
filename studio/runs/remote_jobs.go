package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
)

// RemoteJobs stores the jobs of runs at other services. A restarted server follows them.
type RemoteJobs interface {
	KeepRemoteJob(ctx context.Context, job registry.RemoteJob) error
	// LeftJobs lists the jobs, without their handles and requests, that this server may have to continue.
	LeftJobs(ctx context.Context) ([]registry.RemoteJob, error)
	RemoteJob(ctx context.Context, runID string) (registry.RemoteJob, error)
	HasRemoteJob(ctx context.Context, runID string) (bool, error)
	ForgetRemoteJob(ctx context.Context, runID string) error
	// AdoptRun makes this server the owner of an unfinished run whose server has ended. It reports whether it is.
	AdoptRun(ctx context.Context, workspace, id string) (bool, error)
	// AdoptAndForget is AdoptRun, and removes the job together with the adoption.
	AdoptAndForget(ctx context.Context, workspace, id string) (bool, error)
}

// resumable returns the request of a run whose job another server can follow when this one has ended, or whose waiting
// Monty program it can continue; nil if it cannot. The record of a private run has no input, and a calling program does
// not survive the end of its server. A draft may change meanwhile, so the request has the program as it began.
func (s *Service) resumable(req Request, t target, name runtimes.Name, masked bool) *saved {
	if s.RemoteJobs == nil || !name.Remote() && name != runtimes.MontyEngine || req.outer != nil || masked || private(t.spec, nil) {
		return nil
	}
	more := &saved{Inline: req.Inline, Digest: t.digest, Limits: req.Limits, AtMost: req.AtMost, Isolation: req.Isolation, Hints: req.Hints, Language: t.spec.Language, Trigger: req.Trigger, Project: req.Project}
	if req.Version == registry.DraftVersion {
		more.Draft = &t.spec
	}
	return more
}

// StoreJob implements runtimes.JobStore.
func (h host) StoreJob(ctx context.Context, handle string) {
	l := h.execution
	if l.request == nil {
		return
	}
	request, err := json.Marshal(l.request)
	if err == nil {
		err = l.recordForOthers(ctx)
	}
	if err == nil {
		err = l.service.RemoteJobs.KeepRemoteJob(ctx, registry.RemoteJob{RunID: l.job.RunID, Workspace: l.job.Workspace, Handle: handle, Request: request})
	}
	if err != nil { // a restart interrupts the run
		l.service.Log.LogAttrs(ctx, slog.LevelWarn, "keep the job of a run at another service", slog.String("run_id", l.job.RunID), slog.Any("error", err))
		return
	}
	l.attached.Store(true)
}

// recordForOthers stores the run before its job: another server would remove a job without a run.
func (l *execution) recordForOthers(ctx context.Context) error {
	if l.service.Others == nil {
		return nil
	}
	return l.service.Journal.BeginRun(registry.WithoutKey(ctx), l.recordOf(l.snapshot()))
}

// detached reports whether the server stops and the job of the run goes on.
func (l *execution) detached(outcome runtimes.Outcome, serverErr error) bool {
	return serverErr == nil && l.attached.Load() && errors.Is(context.Cause(l.ctx), runtimes.ErrDetached) && outcome.Error != nil && outcome.Error.Type == runtimes.Cancelled
}

// detach leaves the run unfinished. The next start of the server continues it.
func (l *execution) detach(ctx context.Context) {
	l.recording.EndOutput()
	if err := l.flush(ctx); err != nil { // the job prints it again
		l.service.Log.LogAttrs(ctx, slog.LevelWarn, "store events of a run that goes on elsewhere", slog.String("run_id", l.job.RunID), slog.Any("error", err))
	}
	l.unrecorded.Done()
	l.place.End(0, l.flushed)
	l.late, l.err = true, &fault.Error{
		Code: fault.ShuttingDown, Message: "The server is shutting down. The program continues at the remote service, and the server records its result after its next start. Read the result at GET /api/v1/runs/" + l.job.RunID + ".",
		Extra: map[string]any{"runId": l.job.RunID},
	}
	l.service.leave(l)
}

// forget removes the job of a run that was recorded.
func (l *execution) forget(ctx context.Context) error {
	if !l.attached.Load() {
		return nil
	}
	err := l.service.RemoteJobs.ForgetRemoteJob(ctx, l.job.RunID)
	if err != nil { // the next start of the server removes it
		l.service.Log.LogAttrs(ctx, slog.LevelWarn, "remove the job of a run at another service", slog.String("run_id", l.job.RunID), slog.Any("error", err))
	}
	return err
}

// Reattach continues the runs whose jobs at other services an earlier process or another server left. It tries again while
// the database does not answer or the queue is full.
func (s *Service) Reattach(ctx context.Context) {
	for pause := time.Second; ; pause = min(2*pause, time.Minute) {
		jobs, err := s.RemoteJobs.LeftJobs(ctx)
		failed := err
		for _, job := range jobs {
			if err := s.reattach(ctx, job); err != nil {
				failed = err
				s.Log.LogAttrs(ctx, slog.LevelWarn, "continue a run whose program runs elsewhere", slog.String("run_id", job.RunID), slog.Any("error", err))
			}
		}
		if failed == nil || ctx.Err() != nil {
			return
		}
		wait := time.NewTimer(pause)
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return
		}
	}
}

// reattach continues one run. It ends a run that can no longer be continued, and does nothing if this server or another
// one executes it.
func (s *Service) reattach(ctx context.Context, job registry.RemoteJob) error {
	s.resuming.Lock()
	defer s.resuming.Unlock()
	s.mu.Lock()
	live := s.live[job.RunID] != nil
	s.mu.Unlock()
	if live {
		return nil
	}
	run, err := s.Archive.Run(ctx, job.Workspace, job.RunID)
	if fault.Is(err, fault.NotFound) || err == nil && run.Status.Final() {
		return s.RemoteJobs.ForgetRemoteJob(ctx, job.RunID)
	}
	if err != nil {
		return err
	}
	if adopted, err := s.RemoteJobs.AdoptRun(ctx, job.Workspace, job.RunID); err != nil || !adopted {
		return err
	}
	if job, err = s.RemoteJobs.RemoteJob(ctx, job.RunID); fault.Is(err, fault.NotFound) {
		return s.unattached(ctx, run, "its job is not stored any more.")
	} else if err != nil {
		return err
	}
	var more saved
	if err := json.Unmarshal(job.Request, &more); err != nil {
		return s.unattached(ctx, run, fmt.Sprintf("its request cannot be read: %v.", err))
	}
	req := more.request(run)
	req.resumed = &run
	if req.attach, err = s.handleOf(job); err != nil {
		return s.unattached(ctx, run, fmt.Sprintf("its state cannot be decrypted: %v.", err))
	}
	if req.events, err = s.stored(ctx, job); err != nil {
		return err
	}
	l, _, err := s.prepare(ctx, run.Actor, req)
	if err != nil {
		return s.notReattached(ctx, run, err)
	}
	return s.accept(ctx, l)
}

// stored returns the events of a run that were stored.
func (s *Service) stored(ctx context.Context, job registry.RemoteJob) (all []runtimes.Event, err error) {
	for {
		page, err := s.Archive.Events(ctx, job.Workspace, job.RunID, int64(len(all)), 0)
		if err != nil || len(page) == 0 {
			return all, err
		}
		all = append(all, page...)
	}
}

// notReattached ends a run that can no longer be continued, and returns the error of one that may be continued later.
func (s *Service) notReattached(ctx context.Context, run registry.Run, cause error) error {
	var f *fault.Error
	if !errors.As(cause, &f) {
		return cause
	}
	switch f.Code { //nolint:exhaustive // all others may pass
	case fault.NotFound, fault.NoVersion, fault.InvalidInput, fault.SecretMissing, fault.Conflict, fault.RuntimeUnavailable:
		return s.unattached(ctx, run, f.Message)
	}
	return cause
}

// unattached ends a run as interrupted. Its job is then stopped like any other without a run.
func (s *Service) unattached(ctx context.Context, run registry.Run, reason string) error {
	_, err := s.endContinued(ctx, run, registry.StatusInterrupted, &runtimes.ProgramError{
		Type: runtimes.Interrupted, Message: "The server stopped while the program ran elsewhere, and the run cannot be continued: " + reason, Remedy: "Run it again.",
	})
	return err
}

// endContinued records the end of a run that this server does not continue.
func (s *Service) endContinued(ctx context.Context, run registry.Run, status registry.Status, cause *runtimes.ProgramError) (registry.Run, error) {
	now := stamp(s.Now())
	run.Status, run.Error, run.FinishedAt, run.ResultSeq = status, cause, &now, registry.LastSeq
	run.Metrics.TotalMs = ms(now.Sub(run.CreatedAt))
	if err := s.Journal.FinishRun(context.WithoutCancel(ctx), run, nil); err != nil {
		return run, err
	}
	s.Meter.RunFinished(run)
	return run, s.RemoteJobs.ForgetRemoteJob(ctx, run.ID)
}

// continues reports whether this server will continue a run whose program runs elsewhere.
func (s *Service) continues(ctx context.Context, id string) bool {
	if s.RemoteJobs == nil {
		return false
	}
	has, err := s.RemoteJobs.HasRemoteJob(ctx, id)
	return err != nil || has
}

// cancelContinued cancels a run that this server did not continue yet. Its job is then stopped like any other without a run.
func (s *Service) cancelContinued(ctx context.Context, actor registry.Actor, id string) (registry.Run, error) {
	s.resuming.Lock()
	defer s.resuming.Unlock()
	run, err := s.Archive.Run(ctx, actor.Workspace, id)
	if err != nil {
		return run, err
	}
	adopted, err := s.RemoteJobs.AdoptRun(ctx, actor.Workspace, id)
	if err != nil {
		return run, err
	}
	if !adopted || s.find(actor, id) != nil {
		return run, fault.New(fault.Conflict, "The run was just continued. Cancel it again.")
	}
	return s.endContinued(ctx, run, registry.StatusCancelled, &runtimes.ProgramError{Type: runtimes.Cancelled, Message: "The run was cancelled while its program ran elsewhere."})
}
