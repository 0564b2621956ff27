package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/routing"
)

// Candidate is a program about whose run the gate decides.
type Candidate struct {
	Version   registry.Version // version of the agent; for inline code only the spec is set
	Inline    bool
	Input     json.RawMessage
	RequestID string // the client's own ID for the request
	Draft     bool   // whether the program is a draft; drafts are checked only by the policy service
	Allowed   bool   // whether the policy service has already allowed this run
	Trigger   registry.Trigger
}

// Ruling is the gate's decision about one run. The zero value allows the run.
type Ruling struct {
	Blocked bool
	Reasons []string // reasons why the run is blocked or why a person must approve it; a run that is not blocked and has no reasons may start
	Verdict *registry.Verdict
	Remedy  string
	Keep    bool // whether to store the blocked request, so that it can be submitted again
}

// saved holds the parts of a waiting run's request that the record of the run does not contain.
type saved struct {
	Inline    *registry.Spec     `json:"inline,omitempty"`
	Draft     *registry.Spec     `json:"draft,omitempty"`  // the draft as it was when the run began
	Digest    string             `json:"digest,omitempty"` // digest of the version
	Limits    runtimes.Limits    `json:"limits"`
	AtMost    runtimes.Limits    `json:"atMost,omitzero"`
	Isolation runtimes.Isolation `json:"isolation,omitempty"`
	Hints     routing.Hints      `json:"hints,omitzero"`
	// These fields are sent to the policy service again when a blocked request is submitted again.
	Language runtimes.Language `json:"language,omitempty"`
	Trigger  registry.Trigger  `json:"trigger,omitempty"`
	Project  string            `json:"project,omitempty"`
	// Sealed is the encrypted input of a private run, because the record of such a run omits the input.
	Sealed []byte `json:"sealed,omitempty"`
	KeyID  string `json:"keyId,omitempty"`
}

// seal encrypts the input of a private run that waits for an approval.
func (s *Service) seal(more *saved, run registry.Run) (err error) {
	if more.KeyID, more.Sealed, err = s.Keys.Seal(run.Input, sealedAbout(run)...); err != nil {
		return fault.New(fault.Conflict, "This run waits for an approval and has the flag pii_risk, so its input must be stored encrypted. Encryption failed: %s.", err)
	}
	return nil
}

// sealedAbout returns the associated data that binds an encrypted input to the run.
func sealedAbout(run registry.Run) []string {
	return []string{"input of a waiting run", run.Workspace, run.ID}
}

// InputSealed reports whether a waiting request has an encrypted input.
func InputSealed(request json.RawMessage) bool {
	var s saved
	return len(request) > 0 && json.Unmarshal(request, &s) == nil && len(s.Sealed) > 0
}

// Described returns the language and the trigger of a waiting request.
func Described(request json.RawMessage) (runtimes.Language, registry.Trigger, error) {
	var s saved
	err := json.Unmarshal(request, &s)
	return s.Language, s.Trigger, err
}

// InlineOf returns the inline program of a waiting request, or nil if the request runs an agent's version.
func InlineOf(request json.RawMessage) (*registry.Spec, error) {
	if len(request) == 0 {
		return nil, nil //nolint:nilnil // the request was carried out, so its details were removed
	}
	var s saved
	err := json.Unmarshal(request, &s)
	return s.Inline, err
}

// review gets the gate's decision about a run. If the run is blocked or must wait, review records the run and returns
// it; otherwise it returns nil. A draft is checked only by the policy service, because its author is trying it out.
func (s *Service) review(ctx context.Context, actor registry.Actor, req Request, t target, run registry.Run, masked bool) (*Result, error) {
	if s.Gate == nil || req.resumed != nil {
		return nil, nil //nolint:nilnil // nil means that the run may start
	}
	c := Candidate{
		Version: t.of, Inline: req.Inline != nil, Input: run.Input, RequestID: req.RequestID, Draft: req.Version == registry.DraftVersion, Allowed: req.allowed, Trigger: req.Trigger,
	}
	c.Version.Spec, c.Version.Agent, c.Version.Version, c.Version.Digest = t.spec, t.agent, t.version, t.digest
	ruling, err := s.Gate.Review(ctx, actor, c)
	if err != nil || !ruling.Blocked && len(ruling.Reasons) == 0 {
		return nil, err
	}
	run.CreatedAt = stamp(s.Now())
	more := saved{Inline: req.Inline, Digest: t.digest, Limits: req.Limits, AtMost: req.AtMost, Isolation: req.Isolation, Hints: req.Hints, Language: t.spec.Language, Trigger: req.Trigger, Project: req.Project}
	if ruling.Blocked {
		return s.refuse(ctx, req, t, run, c, ruling, more, masked)
	}
	if masked {
		return nil, fault.Invalid("/input", "must not contain the value of a secret, because this run waits for an approval and its input is stored until then.")
	}
	if private(t.spec, req.outer) {
		if err := s.seal(&more, run); err != nil {
			return nil, err
		}
		run = Withheld(run)
	}
	request, err := json.Marshal(more)
	if err != nil {
		return nil, err
	}
	run.Status = registry.AwaitingApproval
	if err := s.Gate.Ask(req.keyed(ctx), run, c, ruling, request); err != nil {
		return nil, err
	}
	return &Result{Run: run, Of: t.of}, nil
}

// refuse records a blocked run. If the ruling's Keep is set, refuse also stores the request, so that it can be
// submitted again. It never stores the request of a draft or of a private run, or a request that contains a secret.
func (s *Service) refuse(ctx context.Context, req Request, t target, run registry.Run, c Candidate, ruling Ruling, more saved, masked bool) (*Result, error) {
	begin := func(run registry.Run) error { return s.Journal.BeginRun(req.keyed(ctx), run) }
	if private(t.spec, req.outer) {
		if ruling.Keep {
			ruling.Remedy = strings.TrimSpace(ruling.Remedy + " The request was not kept, because the program has the flag pii_risk. Send it again.")
		}
		return s.block(ctx, t, Withheld(run), ruling, begin)
	}
	if ruling.Keep && !masked && !c.Draft {
		request, err := json.Marshal(more)
		if err != nil {
			return nil, err
		}
		begin = func(run registry.Run) error { return s.Gate.Ask(req.keyed(ctx), run, c, ruling, request) }
	}
	return s.block(ctx, t, run, ruling, begin)
}

// block records a run as blocked. It calls begin to store the first record of the run.
func (s *Service) block(ctx context.Context, t target, run registry.Run, ruling Ruling, begin func(registry.Run) error) (*Result, error) {
	e := &runtimes.ProgramError{Type: runtimes.Denied, Message: "The gate blocks this program.", Rule: "gate", Remedy: ruling.Remedy}
	switch {
	case ruling.Verdict == nil && len(ruling.Reasons) > 0:
		e.Message, e.Rule = ruling.Reasons[0], "policy"
	case len(ruling.Reasons) > 0:
		e.Message = "The gate blocks this program: " + ruling.Reasons[0]
	}
	if v := ruling.Verdict; v != nil && len(v.Findings) > 0 {
		first := v.Findings[0]
		e.File, e.Line, e.Column, e.Rule, e.Remedy = first.File, first.Line, first.Column, first.RuleID, first.Remedy
	}
	if err := begin(run); err != nil {
		return nil, err
	}
	ended, err := s.endWaiting(ctx, run, registry.Blocked, e)
	return &Result{Run: ended, Of: t.of}, err
}

// endWaiting records the end of a run that never started.
func (s *Service) endWaiting(ctx context.Context, run registry.Run, status registry.Status, e *runtimes.ProgramError) (registry.Run, error) {
	now := stamp(s.Now())
	run.Status, run.Error, run.FinishedAt, run.ResultSeq = status, e, &now, 1
	run.Metrics.TotalMs = ms(now.Sub(run.CreatedAt))
	if err := s.Journal.FinishRun(context.WithoutCancel(ctx), run, nil); err != nil {
		return run, err
	}
	s.Meter.RunFinished(run)
	return run, nil
}

// cancelWaiting cancels a run that waits for an approval.
func (s *Service) cancelWaiting(ctx context.Context, actor registry.Actor, id string) (registry.Run, error) {
	s.resuming.Lock()
	defer s.resuming.Unlock()
	run, err := s.Archive.Run(ctx, actor.Workspace, id)
	if err != nil {
		return run, err
	}
	if run.Status != registry.AwaitingApproval {
		return run, fault.New(fault.Conflict, "The run was just approved. Cancel it again.")
	}
	if err := s.Gate.Withdraw(ctx, actor, id); err != nil && !fault.Is(err, fault.NotFound) {
		return run, err
	}
	return s.endWaiting(ctx, run, registry.StatusCancelled, CancelledWaiting())
}

// CancelledWaiting returns the error of a run that was cancelled while it waited for an approval.
func CancelledWaiting() *runtimes.ProgramError {
	return &runtimes.ProgramError{Type: runtimes.Cancelled, Message: "The run was cancelled while it waited for an approval."}
}

// Resume continues a waiting run that was approved. If the run no longer waits, Resume does nothing. After an error,
// Resume may be called again. A run that can no longer start is recorded as failed, and Resume returns no error. Error:
// NotFound if the run is not recorded, for example because its request was decided before the run was recorded.
func (s *Service) Resume(ctx context.Context, workspace, id string, request json.RawMessage) error {
	s.resuming.Lock()
	defer s.resuming.Unlock()
	run, err := s.Archive.Run(ctx, workspace, id)
	if err != nil || run.Status != registry.AwaitingApproval {
		return err
	}
	var more saved
	if err := json.Unmarshal(request, &more); err != nil {
		return fmt.Errorf("parse the saved request of run %s: %w", id, err)
	}
	if len(more.Sealed) > 0 {
		if run.Input, err = s.Keys.Open(more.KeyID, more.Sealed, sealedAbout(run)...); err != nil {
			_, err = s.endWaiting(ctx, run, registry.Failed, &runtimes.ProgramError{
				Type: runtimes.Denied, Rule: "approval", Message: "The run was approved, but its input can no longer be decrypted: " + err.Error() + ".", Remedy: "Start the run again.",
			})
			return err
		}
	}
	req := more.request(run)
	req.resumed = &run
	l, _, err := s.prepare(ctx, run.Actor, req)
	if err != nil {
		return s.unresumed(ctx, run, err)
	}
	return s.accept(ctx, l)
}

// Resubmit runs a blocked request again. The new run gets the given ID, so that a repeated call does not start a second
// run. The policy service must have allowed the request before.
func (s *Service) Resubmit(ctx context.Context, workspace, blocked, id string, request json.RawMessage, requestID string) error {
	s.resuming.Lock()
	defer s.resuming.Unlock()
	if _, err := s.Archive.Run(ctx, workspace, id); !fault.Is(err, fault.NotFound) {
		return err
	}
	run, err := s.Archive.Run(ctx, workspace, blocked)
	if err != nil {
		return err
	}
	var more saved
	if err := json.Unmarshal(request, &more); err != nil {
		return fmt.Errorf("parse the saved request of run %s: %w", blocked, err)
	}
	req := more.request(run)
	req.ParentRunID, req.RequestID, req.id, req.allowed = run.ID, requestID, id, true
	l, held, err := s.prepare(ctx, run.Actor, req)
	if err != nil || held != nil {
		return err
	}
	return s.accept(ctx, l)
}

// request rebuilds the request of a recorded run.
func (more saved) request(run registry.Run) Request {
	version := run.Version
	if more.Digest != "" {
		version = more.Digest
	}
	return Request{
		Agent: run.AgentID, Version: version, Inline: more.Inline, begun: more.Draft, Input: run.Input, Limits: more.Limits, AtMost: more.AtMost, Isolation: more.Isolation, Hints: more.Hints, Trigger: run.Trigger, Project: more.Project,
		ParentRunID: run.ParentRunID, WorkflowRunID: run.WorkflowRunID, NodeID: run.NodeID, RequestID: run.RequestID, Claimed: run.Claimed,
	}
}

// accept records a prepared run as queued and starts it. A crash interrupts the run, so it never runs twice.
func (s *Service) accept(ctx context.Context, l *execution) error {
	if err := s.Journal.BeginRun(registry.WithoutKey(ctx), l.recordOf(l.run)); err != nil {
		l.abandon()
		s.leave(l)
		s.all.Done()
		return err
	}
	s.begin(l)
	return nil
}

// unresumed records the end of a run that can no longer start. If the run may still start later, unresumed returns the
// error instead.
func (s *Service) unresumed(ctx context.Context, run registry.Run, cause error) error {
	var f *fault.Error
	if !errors.As(cause, &f) {
		return cause
	}
	switch f.Code { //nolint:exhaustive // errors with other codes mean that the run may start later
	case fault.NotFound, fault.NoVersion, fault.InvalidInput, fault.SecretMissing, fault.Conflict:
		if run.Withheld {
			run = Withheld(run) // The input was decrypted in order to start the run, and must not be recorded.
		}
		_, err := s.endWaiting(ctx, run, registry.Failed, &runtimes.ProgramError{Type: runtimes.Denied, Message: "The run was approved but can no longer start: " + f.Message})
		return err
	}
	return cause
}

// EndWaiting ends a waiting run that was not approved. If the run no longer waits, EndWaiting does nothing. Its errors
// are those of Resume.
func (s *Service) EndWaiting(ctx context.Context, workspace, id string, cause *runtimes.ProgramError) error {
	s.resuming.Lock()
	defer s.resuming.Unlock()
	run, err := s.Archive.Run(ctx, workspace, id)
	if err != nil || run.Status != registry.AwaitingApproval {
		return err
	}
	status := registry.Blocked
	if cause.Type == runtimes.Cancelled {
		status = registry.StatusCancelled
	}
	_, err = s.endWaiting(ctx, run, status, cause)
	return err
}
