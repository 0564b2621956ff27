package runs

import (
	"context"
	"errors"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
)

// Keys stores idempotency keys.
type Keys interface {
	// ReserveRun stores a key with the ID of a run that is not recorded yet. Error: registry.ErrKeyReserved.
	ReserveRun(ctx context.Context, runID string, k registry.IdempotencyKey) error
	FindKey(ctx context.Context, owner, key string) (*registry.IdempotencyKey, error)
}

// onceEvery is the interval at which a repeated request checks whether the first request has ended.
const onceEvery = 20 * time.Millisecond

const (
	// unrecordedFor is how long a repeated request waits for the record of a run that another server executes. A run in
	// progress is recorded after beginAfter. After an outage the other server records its runs once the database answers
	// again.
	unrecordedFor = 5 * time.Minute
	// deletedAfter is the time after the first request from which a run without a record counts as deleted.
	deletedAfter = time.Hour
)

// Once executes a request at most once for its key, which is stored with the run's ID before the program starts. A
// repeated request waits for the end of the first run and returns it; it does not wait for an approval. If the first
// request created no run, the repeated one is executed. Errors: IdempotencyMismatch if the key belongs to a different
// request; Conflict if the run of the first request was deleted, or if it has no record and cannot be recorded now.
func (s *Service) Once(ctx context.Context, actor registry.Actor, keys Keys, key registry.IdempotencyKey, req Request) (registry.Run, error) {
	tick := time.NewTicker(onceEvery)
	defer tick.Stop()
	began := s.Now()
	req.once, req.keys = &key, keys
	for {
		result, err := s.Execute(ctx, actor, req) // reads no key before, because almost every request is new
		if err == nil || result.ID != "" {
			return result.Run, err
		}
		for { // the request may be a repeated one, which may be refused now for other reasons
			existing, unread := keys.FindKey(ctx, key.Owner, key.Key)
			if unread != nil { // err may not be the final answer, because the first request may have run
				return registry.Run{}, unread
			}
			if existing == nil {
				break
			}
			if run, ended, err := s.first(ctx, actor, *existing, key, s.Now().Sub(began), req); ended || err != nil {
				return run, err
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				return registry.Run{}, context.Cause(ctx)
			}
			err = registry.ErrKeyReserved // if the key is free now, the request is executed
		}
		if !errors.Is(err, registry.ErrKeyReserved) {
			return registry.Run{}, err
		}
	}
}

// first returns the run that the first request with a key created. It returns false if a repeated request must wait for
// the run. waited is how long it has waited; the database has answered since.
func (s *Service) first(ctx context.Context, actor registry.Actor, existing, key registry.IdempotencyKey, waited time.Duration, req Request) (registry.Run, bool, error) {
	if existing.BodyHash != key.BodyHash {
		return registry.Run{}, false, fault.New(fault.IdempotencyMismatch, "This ID was used for a different request. Choose a new one.")
	}
	id := existing.Made.ID
	run, err := s.Get(ctx, actor, id)
	switch {
	case !fault.Is(err, fault.NotFound):
		return run, run.Status.Final() || run.Status == registry.AwaitingApproval, err
	case key.ExpiresAt.Sub(existing.ExpiresAt)+waited > deletedAfter:
		return run, false, unknownRun(id)
	case existing.Ended, existing.Server == s.Server, waited > unrecordedFor: // this server does not execute the run, because Get found none
		return run, false, s.interruptUnrecorded(ctx, actor, id, req)
	}
	return run, false, nil
}

// unknownRun is the error for an ID whose run may have been executed and has no record.
func unknownRun(id string) error {
	return fault.New(fault.Conflict, "This ID was used for the run %s, which has no record. The program may have run. Choose a new ID.", id)
}

// unrecordable returns the error for a repeated request of which the server cannot say what its run executed. A refusal
// of the request would hide that the program may have run: the agent was deleted since the first request, or a setting
// or a permission has changed. A failure to read the database is returned as it is.
func unrecordable(id string, err error) error {
	var refusal *fault.Error
	if errors.As(err, &refusal) && refusal.Code != fault.Internal && refusal.Code != fault.StorageUnavailable {
		return unknownRun(id)
	}
	return err
}

// interruptUnrecorded records a run as interrupted whose server ended, or gave up the run, before it had recorded the
// run. If a record exists now, it stays. The version is recorded only if the request names a published version exactly,
// because the reference may have selected another version for the first request, and a draft may have changed. Error:
// Conflict if the request is refused now.
func (s *Service) interruptUnrecorded(ctx context.Context, actor registry.Actor, id string, req Request) error {
	t, err := s.resolve(ctx, actor, req)
	if err != nil {
		return unrecordable(id, err)
	}
	name, route, err := s.route(ctx, actor, req, t)
	if err != nil {
		return unrecordable(id, err)
	}
	if req.Version != t.version || t.version == registry.DraftVersion {
		t.version, t.revision, t.digest, t.codeDigest = "", 0, "", ""
	}
	now := stamp(s.Now())
	run := registry.Run{
		ID: id, Workspace: actor.Workspace, AgentID: t.agentID, Agent: t.agent, Version: t.version, DraftRevision: t.revision, Digest: t.digest,
		CodeDigest: t.codeDigest, Language: t.spec.Language, Runtime: name, Route: route, Trigger: req.Trigger, Actor: actor, RequestID: req.RequestID, Claimed: req.Claimed,
		Status: registry.StatusInterrupted, Error: &runtimes.ProgramError{Type: runtimes.Interrupted, Message: "The server did not record the run. The program may have run."},
		Validation: registry.Validation{Input: unchecked, Output: unchecked}, Isolation: s.Level, CreatedAt: now, FinishedAt: &now, ResultSeq: registry.LastSeq,
	}
	if err := s.Journal.FinishRun(ctx, run, nil); err != nil {
		return err
	}
	s.Meter.RunFinished(run)
	return nil
}
