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

// mostAwaitPause is the longest pause between two looks at a run that a program waits for.
const mostAwaitPause = time.Second

// waits reports whether the program can wait for a run that needs an approval: only a Monty program whose state can be
// stored, so that a restart of the server does not end it.
func (l *execution) waits() bool { return l.job.Runtime == runtimes.MontyEngine && l.request != nil }

// await waits until a run that the program has called has ended, and returns its output. Meanwhile the program has no slot,
// and the arguments are stored if they have the state of the program.
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
		// The program goes on also after an error, so it needs its slot.
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

// pause returns the slot and the place in the quota of a program that waits: with them it could keep the approved run
// from starting. It reports false if too many programs wait. The returned function takes both again.
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

// goOn removes the stored state of a program that no longer waits: it would do the same again.
func (l *execution) goOn(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if l.service.Others != nil && l.attached.Load() {
		owned, err := l.service.RemoteJobs.AdoptAndForget(context.WithoutCancel(ctx), l.job.Workspace, l.job.RunID)
		if err == nil && !owned {
			err = fault.New(fault.RunInterrupted, "Another server continues the run, because the lease of this one ended.")
		}
		if err != nil { // another server may continue the program, which must not catch this error and go on here
			l.cancel(runtimes.ErrDetached)
			return err
		}
	} else if err := l.forget(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	l.attached.Store(false)
	return nil
}

// tooManyWait refuses to let a program wait for the run of a call.
func tooManyWait(call runtimes.CallData) *runtimes.CallError {
	return &runtimes.CallError{
		Code: "tool_failed", Rule: toolsRule, Message: call.Reference + " needs an approval, and too many programs of this server wait for one.",
		Remedy: "Start this program again when fewer programs wait. The called run still waits for its approval.",
		Tool:   &runtimes.ToolFailure{Reference: call.Reference, Type: call.Status, Message: "The run waits for an approval.", RunID: call.RunID},
	}
}

// sealedState is an encrypted state of a waiting program: its variables may hold secrets.
type sealedState struct {
	KeyID  string `json:"keyId"`
	Sealed []byte `json:"sealed"`
}

// aboutState names the run to which an encrypted state belongs.
func aboutState(workspace, run string) []string {
	return []string{"state of a waiting program", workspace, run}
}

// keep stores the state of a waiting program. If that fails, a restart of the server interrupts the run.
func (h host) keep(ctx context.Context, state []byte) {
	l := h.execution
	keyID, sealed, err := l.service.Keys.Seal(state, aboutState(l.job.Workspace, l.job.RunID)...)
	if err != nil {
		l.service.Log.LogAttrs(ctx, slog.LevelWarn, "encrypt the state of a waiting program", slog.String("run_id", l.job.RunID), slog.Any("error", err))
		return
	}
	text, err := json.Marshal(sealedState{keyID, sealed})
	if err != nil {
		return // texts always encode
	}
	_ = l.flush(ctx) // the program does not print these events again; those that could not be stored are tried again soon
	h.StoreJob(ctx, string(text))
}

// handleOf returns the handle of a job elsewhere, or the decrypted state of a program that waited.
func (s *Service) handleOf(job registry.RemoteJob) (string, error) {
	var state sealedState
	if json.Unmarshal([]byte(job.Handle), &state) != nil || len(state.Sealed) == 0 {
		return job.Handle, nil
	}
	text, err := s.Keys.Open(state.KeyID, state.Sealed, aboutState(job.Workspace, job.RunID)...)
	return string(text), err
}

// whenEnded waits for the end of a run, and returns its record.
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
