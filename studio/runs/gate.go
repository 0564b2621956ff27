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

// Candidate is a program that somebody wants to run.
type Candidate struct {
	Version   registry.Version // of an agent; for inline code only its spec is set
	Inline    bool
	Input     json.RawMessage
	RequestID string // the client's own ID
	Draft     bool   // runs of drafts only ask the policy service
	Allowed   bool   // the policy service has allowed this run already
	Trigger   registry.Trigger
}

// Ruling is the gate's answer about one run. The zero value lets it run.
type Ruling struct {
	Blocked bool
	Reasons []string // why it is blocked, or why a person must approve; none lets it run
	Verdict *registry.Verdict
	Remedy  string
	Keep    bool // a blocked request that may be submitted again
}

// saved is the part of a waiting run's request that its record does not hold.
type saved struct {
	Inline    *registry.Spec     `json:"inline,omitempty"`
	Draft     *registry.Spec     `json:"draft,omitempty"`  // as it was when the run began
	Digest    string             `json:"digest,omitempty"` // of the version
	Limits    runtimes.Limits    `json:"limits"`
	AtMost    runtimes.Limits    `json:"atMost,omitzero"`
	Isolation runtimes.Isolation `json:"isolation,omitempty"`
	Hints     routing.Hints      `json:"hints,omitzero"`
	// These are asked about again when a blocked request is submitted again.
	Language runtimes.Language `json:"language,omitempty"`
	Trigger  registry.Trigger  `json:"trigger,omitempty"`
	Project  string            `json:"project,omitempty"`
	// Sealed is the encrypted input of a private run, whose record does not have it.
	Sealed []byte `json:"sealed,omitempty"`
	KeyID  string `json:"keyId,omitempty"`
}

// seal encrypts the input of a private run that waits.
func (s *Service) seal(more *saved, run registry.Run) (err error) {
	if more.KeyID, more.Sealed, err = s.Keys.Seal(run.Input, sealedAbout(run)...); err != nil {
		return fault.New(fault.Conflict, "This run waits for an approval and has the flag pii_risk, so its input must be stored encrypted. Encryption failed: %s.", err)
	}
	return nil
}

// sealedAbout names the run to which an encrypted input belongs.
func sealedAbout(run registry.Run) []string {
	return []string{"input of a waiting run", run.Workspace, run.ID}
}

// InputSealed reports whether a request that waits has an encrypted input.
func InputSealed(request json.RawMessage) bool {
	var s saved
	return len(request) > 0 && json.Unmarshal(request, &s) == nil && len(s.Sealed) > 0
}

// Described returns the language and the trigger of a request that waits.
func Described(request json.RawMessage) (runtimes.Language, registry.Trigger, error) {
	var s saved
	err := json.Unmarshal(request, &s)
	return s.Language, s.Trigger, err
}

// InlineOf returns the program of a request that waits, if it is inline code; nil for an agent's version.
func InlineOf(request json.RawMessage) (*registry.Spec, error) {
	if len(request) == 0 {
		return nil, nil //nolint:nilnil // it was carried out
	}
	var s saved
	err := json.Unmarshal(request, &s)
	return s.Inline, err
}

// review asks the gate. It records a run that is blocked or that waits, and returns it. Runs of a draft are free: their
// author tries them.
func (s *Service) review(ctx context.Context, actor registry.Actor, req Request, t target, run registry.Run, masked bool) (*Result, error) {
	if s.Gate == nil || req.resumed != nil {
		return nil, nil //nolint:nilnil // nothing is held
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

// refuse keeps a blocked request that may be submitted again, and records its run. A private run is not kept, because
// that would store its input.
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

// block records a run that the gate refuses.
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

// CancelledWaiting is the reason why a run has ended that was cancelled while it waited for an approval.
func CancelledWaiting() *runtimes.ProgramError {
	return &runtimes.ProgramError{Type: runtimes.Cancelled, Message: "The run was cancelled while it waited for an approval."}
}

// Resume continues a waiting run that was approved. It does nothing if the run no longer waits. An error means that it
// may be tried again; a run that can no longer start has failed when Resume returns. Error: NotFound if the run is not
// recorded, perhaps because its request was decided before that.
func (s *Service) Resume(ctx context.Context, workspace, id string, request json.RawMessage) error {
	s.resuming.Lock()
	defer s.resuming.Unlock()
	run, err := s.Archive.Run(ctx, workspace, id)
	if err != nil || run.Status != registry.AwaitingApproval {
		return err
	}
	var more saved
	if err := json.Unmarshal(request, &more); err != nil {
		return fmt.Errorf("request of run %s: %w", id, err)
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

// Resubmit runs a blocked request again under a given ID, which makes a repetition harmless. The caller must have asked
// the policy service again.
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
		return fmt.Errorf("request of run %s: %w", blocked, err)
	}
	req := more.request(run)
	req.ParentRunID, req.RequestID, req.id, req.allowed = run.ID, requestID, id, true
	l, held, err := s.prepare(ctx, run.Actor, req)
	if err != nil || held != nil {
		return err
	}
	return s.accept(ctx, l)
}

// request returns the request of a recorded run.
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

// accept records a prepared run as queued and starts it. A crash from here on interrupts it, and it never runs twice.
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

// unresumed ends a run that can no longer start, and returns the error of one that may start later.
func (s *Service) unresumed(ctx context.Context, run registry.Run, cause error) error {
	var f *fault.Error
	if !errors.As(cause, &f) {
		return cause
	}
	switch f.Code { //nolint:exhaustive // all others may pass
	case fault.NotFound, fault.NoVersion, fault.InvalidInput, fault.SecretMissing, fault.Conflict:
		if run.Withheld {
			run = Withheld(run) // the input was decrypted for the start
		}
		_, err := s.endWaiting(ctx, run, registry.Failed, &runtimes.ProgramError{Type: runtimes.Denied, Message: "The run was approved but can no longer start: " + f.Message})
		return err
	}
	return cause
}

// EndWaiting ends a waiting run that was not approved. It does nothing if the run no longer waits. Its errors are those
// of Resume.
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
