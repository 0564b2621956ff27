package runs

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
)

// mostAwaitPause is the longest pause between two reads of the record of a run for which a program waits.
const mostAwaitPause = time.Second

// waits reports whether the program may wait for a run that needs an approval. This requires the runtime Monty and
// permission to store the program's state, so that the program survives a restart of the server.
func (l *execution) waits() bool { return l.job.Runtime == runtimes.MontyEngine && l.request != nil }

// await waits until a run that the program has called has ended, and returns the run's output. While the program waits,
// it has no slot. If the arguments contain the program's state, await stores the state.
func (h host) await(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
	l := h.execution
	var asked struct {
		RunID string `json:"runId"`
		State []byte `json:"state"`
	}
	if !l.waits() {
		return nil, unknownFunction(runtimes.AwaitFunction)
	}
	if err := json.Unmarshal(args, &asked); err != nil {
		return nil, invalid("awaitRun(runId, maker, state)", err)
	}
	run, err := l.service.Archive.Run(ctx, l.job.Workspace, asked.RunID)
	if fault.Is(err, fault.NotFound) || err == nil && run.ParentRunID != l.job.RunID {
		return nil, unknownFunction(runtimes.AwaitFunction)
	}
	if err != nil {
		return nil, err
	}
	began := l.service.Now()
	call := runtimes.CallData{Reference: registry.Reference{Agent: run.Agent, Version: run.Version}.String(), Version: run.Version, RunID: run.ID, Status: string(run.Status)}
	if !run.Status.Final() {
		resume, ok := l.pause()
		if !ok {
			refused := tooManyWait(call)
			call.Error = refused.Message
			l.emit(runtimes.KindCall, call)
			if err := l.goOn(ctx); err != nil {
				return nil, err
			}
			return nil, refused
		}
		if len(asked.State) > 0 {
			h.keep(ctx, args)
		}
		l.emit(runtimes.KindCall, call)
		run, err = l.whenEnded(ctx, run)
		// The program continues after an error too, so it needs its slot again.
		if stopped := resume(ctx); stopped != nil {
			return nil, stopped
		}
		if err != nil {
			return nil, errors.Join(err, l.goOn(ctx))
		}
	}
	call.Status, call.Ms = string(run.Status), ms(l.service.Now().Sub(began))
	l.emit(runtimes.KindCall, call)
	if err := l.goOn(ctx); err != nil {
		return nil, err
	}
	if run.Withheld && run.Status == registry.Succeeded {
		return nil, &runtimes.CallError{Code: "tool_failed", Rule: toolsRule, Message: "The called run succeeded, but its output is not stored, because its program has the flag pii_risk."}
	}
	if err := unusable(run); err != nil {
		return nil, err
	}
	return run.Output, nil
}

// pause returns the slot and the quota reservation of a waiting program, because otherwise the program could prevent
// the approved run from starting. If too many programs wait, it returns false. resume reserves both again.
func (l *execution) pause() (resume func(context.Context) error, ok bool) {
	if !l.place.Pause() {
		return nil, false
	}
	if !l.ticket.Pause() {
		l.place.Continue()
		return nil, false
	}
	return func(ctx context.Context) error {
		defer l.place.Continue()
		return l.ticket.Continue(ctx)
	}, true
}

// goOn removes the stored state of a program that no longer waits. Otherwise a restarted server would continue from
// this state and repeat the program's actions.
func (l *execution) goOn(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if l.service.Others != nil && l.attached.Load() {
		owned, err := l.service.RemoteJobs.AdoptAndForget(context.WithoutCancel(ctx), l.job.Workspace, l.job.RunID)
		if err == nil && !owned {
			err = fault.New(fault.RunInterrupted, "Another server continues the run, because the lease of this one ended.")
		}
		if err != nil { // Another server may continue the program. Cancel the run here, so that the program cannot catch the error and continue on this server too.
			l.cancel(runtimes.ErrDetached)
			return err
		}
	} else if err := l.forget(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	l.attached.Store(false)
	return nil
}

// tooManyWait returns the error for a call whose program may not wait, because too many programs already wait.
func tooManyWait(call runtimes.CallData) *runtimes.CallError {
	return &runtimes.CallError{
		Code: "tool_failed", Rule: toolsRule, Message: call.Reference + " needs an approval, and too many programs of this server wait for one.",
		Remedy: "Start this program again when fewer programs wait. The called run still waits for its approval.",
		Tool:   &runtimes.ToolFailure{Reference: call.Reference, Type: call.Status, Message: "The run waits for an approval.", RunID: call.RunID},
	}
}

// sealedState is the encrypted state of a waiting program. The state is encrypted because the program's variables may
// contain secrets.
type sealedState struct {
	KeyID  string `json:"keyId"`
	Sealed []byte `json:"sealed"`
}

// aboutState returns the associated data that binds an encrypted state to its run.
func aboutState(workspace, run string) []string {
	return []string{"state of a waiting program", workspace, run}
}

// keep stores the state of a waiting program. If storing fails, a restart of the server will interrupt the run.
func (h host) keep(ctx context.Context, state []byte) {
	l := h.execution
	keyID, sealed, err := l.service.Keys.Seal(state, aboutState(l.job.Workspace, l.job.RunID)...)
	if err != nil {
		l.service.Log.LogAttrs(ctx, slog.LevelWarn, "encrypt the state of a waiting program", slog.String("run_id", l.job.RunID), slog.Any("error", err))
		return
	}
	text, err := json.Marshal(sealedState{keyID, sealed})
	if err != nil {
		return // The error is impossible: strings and bytes always have a JSON form.
	}
	_ = l.flush(ctx) // Store the events now, because the continued program does not emit them again. If this fails, a later flush repeats it.
	h.StoreJob(ctx, string(text))
}

// handleOf returns the handle of a job at a remote service. For a waiting program it returns the decrypted state.
func (s *Service) handleOf(job registry.RemoteJob) (string, error) {
	var state sealedState
	if json.Unmarshal([]byte(job.Handle), &state) != nil || len(state.Sealed) == 0 {
		return job.Handle, nil
	}
	text, err := s.Keys.Open(state.KeyID, state.Sealed, aboutState(job.Workspace, job.RunID)...)
	return string(text), err
}

// whenEnded waits for the end of a run and returns the run's record. While the database does not answer, it tries
// again.
func (l *execution) whenEnded(ctx context.Context, run registry.Run) (registry.Run, error) {
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, mostAwaitPause) {
		now, _, err := l.service.ended(ctx, l.run.Actor, run.ID)
		if err != nil && !fault.Is(err, fault.StorageUnavailable) {
			return run, err
		}
		if err == nil && l.service.find(l.run.Actor, run.ID) == nil && now.Status.Final() {
			return l.service.Archive.Run(ctx, l.job.Workspace, run.ID)
		}
		wait := time.NewTimer(pause)
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return run, context.Cause(ctx)
		}
	}
}
