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

// RemoteJobs stores the jobs of runs at remote services, so that a restarted server can follow them.
type RemoteJobs interface {
	KeepRemoteJob(ctx context.Context, job registry.RemoteJob) error
	// LeftJobs lists the remote jobs that this server may have to continue. It omits their handles and requests.
	LeftJobs(ctx context.Context) ([]registry.RemoteJob, error)
	RemoteJob(ctx context.Context, runID string) (registry.RemoteJob, error)
	HasRemoteJob(ctx context.Context, runID string) (bool, error)
	ForgetRemoteJob(ctx context.Context, runID string) error
	// AdoptRun makes this server the owner of an unfinished run whose server has stopped. It reports whether this server
	// is the owner now.
	AdoptRun(ctx context.Context, workspace, id string) (bool, error)
	// AdoptAndForget does the same as AdoptRun. In the same transaction it removes the stored job.
	AdoptAndForget(ctx context.Context, workspace, id string) (bool, error)
}

// resumable returns the stored request of a run that another server, or this one after a restart, can continue. It
// returns nil if no server can continue the run. A run can be continued if it has a job at a remote service or is a
// waiting Monty program. It cannot if it is private, because its input is not stored, or if a program called it,
// because that program does not survive its server. For a draft, the request contains the draft as the run began with
// it, because the draft may change.
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

// StoreJob implements runtimes.JobStore. If the handle cannot be stored, StoreJob only logs the error; a restart then
// interrupts the run.
func (h host) StoreJob(ctx context.Context, handle string) {
	l := h.execution
	if l.request == nil {
		return
	}
	request, err := json.Marshal(l.request)
	if err == nil {
		err = l.service.Journal.BeginRun(registry.WithoutKey(ctx), l.recordOf(l.snapshot())) // a job that belongs to no run would be removed
	}
	if err == nil {
		err = l.service.RemoteJobs.KeepRemoteJob(ctx, registry.RemoteJob{RunID: l.job.RunID, Workspace: l.job.Workspace, Handle: handle, Request: request})
	}
	if err != nil {
		l.service.Log.LogAttrs(ctx, slog.LevelWarn, "keep the job of a run at another service", slog.String("run_id", l.job.RunID), slog.Any("error", err))
		return
	}
	l.attached.Store(true)
}

// detached reports whether the run ended here only because this server stops, while its remote job continues.
func (l *execution) detached(outcome runtimes.Outcome, serverErr error) bool {
	return serverErr == nil && l.attached.Load() && errors.Is(context.Cause(l.ctx), runtimes.ErrDetached) && outcome.Error != nil && outcome.Error.Type == runtimes.Cancelled
}

// detach leaves the run unfinished in the database. The server continues the run after its next start.
func (l *execution) detach(ctx context.Context) {
	l.recording.EndOutput()
	if err := l.flush(ctx); err != nil { // The events are not lost: the job emits them again.
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

// forget removes the stored remote job of a recorded run.
func (l *execution) forget(ctx context.Context) error {
	if !l.attached.Load() {
		return nil
	}
	err := l.service.RemoteJobs.ForgetRemoteJob(ctx, l.job.RunID)
	if err != nil { // The server removes the job at its next start.
		l.service.Log.LogAttrs(ctx, slog.LevelWarn, "remove the job of a run at another service", slog.String("run_id", l.job.RunID), slog.Any("error", err))
	}
	return err
}

// leftFor is the time, in addition to the longest time limit, after which a run at a remote service is ended although only
// another server may have its runtime. Otherwise the run would never end if no server has it any more.
const leftFor = time.Hour

// Reattach continues runs with remote jobs that an earlier process or another server has left. It tries again while the
// database does not answer or the queue is full.
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

// reattach continues one run. If the run can no longer be continued, reattach records its end. If this or another
// server already executes the run, or another server may have the runtime that this one lacks, reattach does nothing.
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
	if s.Others != nil && (!s.Router.Has(run.Runtime) || s.Routing.Lacks(run.Runtime) != "") {
		began := run.CreatedAt
		if run.StartedAt != nil { // after an approval or the queue, which may take long
			began = *run.StartedAt
		}
		if !run.Runtime.Remote() || s.Now().Sub(began) < s.Ceilings.Timeout()+leftFor {
			return nil // a server with this runtime continues the run
		}
		if adopted, err := s.RemoteJobs.AdoptRun(ctx, job.Workspace, job.RunID); err != nil || !adopted {
			return err
		}
		return s.unattached(ctx, run, "no server with its runtime continued it.")
	}
	if adopted, err := s.RemoteJobs.AdoptRun(ctx, job.Workspace, job.RunID); err != nil || !adopted {
		return err
	}
	if job, err = s.RemoteJobs.RemoteJob(ctx, job.RunID); fault.Is(err, fault.NotFound) {
		return s.unattached(ctx, run, "its job is no longer stored.")
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

// stored returns the stored events of the run to which a job belongs.
func (s *Service) stored(ctx context.Context, job registry.RemoteJob) (all []runtimes.Event, err error) {
	for {
		page, err := s.Archive.Events(ctx, job.Workspace, job.RunID, int64(len(all)), 0)
		if err != nil || len(page) == 0 {
			return all, err
		}
		all = append(all, page...)
	}
}

// notReattached records the end of a run that can no longer be continued. If the run may still be continued later, it
// returns the error instead.
func (s *Service) notReattached(ctx context.Context, run registry.Run, cause error) error {
	var f *fault.Error
	if !errors.As(cause, &f) {
		return cause
	}
	switch f.Code { //nolint:exhaustive // errors with other codes mean that the run may be continued later
	case fault.NotFound, fault.NoVersion, fault.InvalidInput, fault.SecretMissing, fault.Conflict, fault.RuntimeUnavailable:
		return s.unattached(ctx, run, f.Message)
	}
	return cause
}

// unattached records a run as interrupted. Afterwards its remote job is stopped, like every job that belongs to no live
// run.
func (s *Service) unattached(ctx context.Context, run registry.Run, reason string) error {
	_, err := s.endContinued(ctx, run, registry.StatusInterrupted, &runtimes.ProgramError{
		Type: runtimes.Interrupted, Message: "The server stopped while the program ran at a remote service, and the run cannot be continued: " + reason, Remedy: "Run it again.",
	})
	return err
}

// endContinued records the end of an unfinished run that this server does not execute.
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

// continues reports whether this server will continue the run, which is so if a remote job of the run is stored.
func (s *Service) continues(ctx context.Context, id string) bool {
	if s.RemoteJobs == nil {
		return false
	}
	has, err := s.RemoteJobs.HasRemoteJob(ctx, id)
	return err != nil || has
}

// cancelContinued cancels a run that this server has not continued yet. Afterwards its remote job is stopped, like
// every job that belongs to no live run.
func (s *Service) cancelContinued(ctx context.Context, actor registry.Actor, id string) (registry.Run, error) {
	s.resuming.Lock()
	defer s.resuming.Unlock()
	adopted, err := s.RemoteJobs.AdoptRun(ctx, actor.Workspace, id)
	if err != nil {
		return registry.Run{}, err
	}
	if !adopted || s.find(actor, id) != nil {
		return registry.Run{}, fault.New(fault.Conflict, "The run was just continued. Cancel it again.")
	}
	// The run belongs to this server now, which does not execute it. So it must be ended even if the client has gone.
	ctx = context.WithoutCancel(ctx)
	run, err := s.Archive.Run(ctx, actor.Workspace, id)
	if err != nil {
		return run, err
	}
	return s.endContinued(ctx, run, registry.StatusCancelled, &runtimes.ProgramError{Type: runtimes.Cancelled, Message: "The run was cancelled while its program ran elsewhere."})
}
