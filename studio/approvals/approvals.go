// Package approvals manages the decisions that the gate leaves to people. A run or publication waits as a request until
// an approver decides about it. An approved request is carried out exactly once, even if the server restarts in
// between.
package approvals

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/studio/opa"
	"github.com/atelier-run/atelier/studio/policy"
	"github.com/atelier-run/atelier/studio/runs"
)

// Requests stores requests for approval.
type Requests interface {
	// InsertApproval stores a request and returns it. If a request for the same publication already waits, InsertApproval
	// returns that request instead.
	InsertApproval(ctx context.Context, a registry.Approval, notice registry.Notice) (registry.Approval, error)
	// BeginAsked stores a run and its request in one transaction.
	BeginAsked(ctx context.Context, run registry.Run, a registry.Approval, notice registry.Notice) error
	// DecideApproval ends a pending request. If the request is no longer pending, the error is Conflict, with the current
	// request.
	DecideApproval(ctx context.Context, a registry.Approval, notice registry.Notice) (registry.Approval, error)
	CarriedOut(ctx context.Context, workspace, id, outcome string) error
}

// Reader reads requests for approval.
type Reader interface {
	Approval(ctx context.Context, workspace, id string) (registry.Approval, error)
	ListApprovals(ctx context.Context, workspace string, filter registry.ApprovalFilter) (registry.ApprovalPage, error)
	CountPending(ctx context.Context, workspace string) (int, error)
}

// Deliveries lists the webhooks that the server has sent or will send.
type Deliveries interface {
	ListDeliveries(ctx context.Context, workspace string, filter registry.DeliveryFilter) (registry.DeliveryPage, error)
}

// Finder finds a request for approval by its run or by the client's request ID. It also lists the requests that have
// expired or that were not carried out yet.
type Finder interface {
	ApprovalOfRun(ctx context.Context, workspace, run string) (registry.Approval, error)
	ApprovalOfRequest(ctx context.Context, workspace, requester, request string) (registry.Approval, error)
	DueApprovals(ctx context.Context, now time.Time, after string) (due []registry.Approval, last string, err error)
}

// Grants reads earlier approvals of a version, or of other versions with the same content.
type Grants interface {
	Standing(ctx context.Context, workspace, agentID, digest, caller string) (bool, error)
	PublicationApproved(ctx context.Context, workspace, agentID, contentDigest string) (bool, error)
}

// Runs continues or ends runs that wait for approval.
type Runs interface {
	Resume(ctx context.Context, workspace, id string, request json.RawMessage) error
	// EndWaiting ends a run that waits for approval. If the run no longer waits, it does nothing.
	EndWaiting(ctx context.Context, workspace, id string, cause *runtimes.ProgramError) error
	Resubmit(ctx context.Context, workspace, blocked, id string, request json.RawMessage, requestID string) error
}

// Asker asks an external policy service whether a run is allowed.
type Asker interface {
	Ask(ctx context.Context, q opa.Question) opa.Answer
	// Forget clears the cached answers of the policy service.
	Forget()
}

// Publisher publishes the content of an approved request.
type Publisher interface {
	PublishApproved(ctx context.Context, approval registry.Approval) (registry.Version, error)
}

// Members lists the members of workspaces.
type Members interface {
	Members(ctx context.Context, workspace string) ([]registry.Member, error)
}

// Options configures a Service.
type Options struct {
	Requests Requests
	Reader   Reader
	Finder   Finder
	Grants   Grants
	Sent     Deliveries
	Members  Members
	Notice   registry.Notice // nil if the server sends no webhooks
	Policy   *policy.Service
	Asker    Asker         // nil if the server uses no policy service
	Keep     time.Duration // how long requests that the policy service denied are stored
	Log      *slog.Logger
	Now      func() time.Time
	NewID    func() string
}

// Service manages requests for approval. It is safe for concurrent use.
type Service struct {
	Options

	runs      Runs
	publisher Publisher
	programs  Programs
}

// New returns the service. Connect must be called before it is used.
func New(o Options) *Service { return &Service{Options: o} }

// Connect sets the services that carry out approved requests, and the service that reads the programs of requests.
func (s *Service) Connect(r Runs, p Publisher, programs Programs) {
	s.runs, s.publisher, s.programs = r, p, programs
}

// List returns a page of requests, newest first.
func (s *Service) List(ctx context.Context, actor registry.Actor, filter registry.ApprovalFilter) (registry.ApprovalPage, error) {
	return s.Reader.ListApprovals(ctx, actor.Workspace, filter)
}

// Pending returns the number of pending requests in the actor's workspace.
func (s *Service) Pending(ctx context.Context, actor registry.Actor) (int, error) {
	return s.Reader.CountPending(ctx, actor.Workspace)
}

// ListDeliveries returns a page of the workspace's webhooks, newest first.
func (s *Service) ListDeliveries(ctx context.Context, actor registry.Actor, filter registry.DeliveryFilter) (registry.DeliveryPage, error) {
	return s.Sent.ListDeliveries(ctx, actor.Workspace, filter)
}

// Get returns one request. Error: NotFound.
func (s *Service) Get(ctx context.Context, actor registry.Actor, id string) (registry.Approval, error) {
	a, err := s.Reader.Approval(ctx, actor.Workspace, id)
	if err == nil && a.Kind == registry.BlockedRequest {
		return registry.Approval{}, fault.New(fault.NotFound, "Approval not found.")
	}
	return a, err
}

// OfRun returns the request of a run. Error: NotFound.
func (s *Service) OfRun(ctx context.Context, actor registry.Actor, run string) (registry.Approval, error) {
	return s.Finder.ApprovalOfRun(ctx, actor.Workspace, run)
}

// RunOfRequest returns the run of the client's earlier request with this ID, if that request waits, waited or is
// blocked. Otherwise it returns "".
func (s *Service) RunOfRequest(ctx context.Context, actor registry.Actor, request string) (string, error) {
	if request == "" {
		return "", nil
	}
	a, err := s.Finder.ApprovalOfRequest(ctx, actor.Workspace, actor.ID, request)
	if fault.Is(err, fault.NotFound) {
		return "", nil
	}
	if a.Kind == registry.BlockedRequest {
		return runOf(a), err
	}
	return a.RunID, err
}

// Decision is a person's decision about a request.
type Decision struct {
	Approve bool
	Scope   registry.ApprovalScope // which later requests an approval covers; "" means only this one
	Comment string
}

// maxComment is the maximum length of a comment in bytes.
const maxComment = 4000

// Decide ends a pending request and carries out the decision. Errors: Conflict if the request is already decided, with
// the decider and the time; Forbidden if the approver made the request and the workspace does not allow deciding one's
// own requests.
func (s *Service) Decide(ctx context.Context, actor registry.Actor, id string, d Decision) (registry.Approval, error) {
	if err := registry.CheckText("/comment", d.Comment); err != nil {
		return registry.Approval{}, err
	}
	if len(d.Comment) > maxComment {
		return registry.Approval{}, fault.Invalid("/comment", "must have at most %d bytes.", maxComment)
	}
	a, err := s.Get(ctx, actor, id)
	if err != nil {
		return a, err
	}
	if a.Status != registry.ApprovalPending {
		return a, decided(a)
	}
	may, err := s.MayApprove(ctx, actor, a)
	if err != nil {
		return a, err
	}
	if d.Approve && !may {
		return a, fault.New(fault.Forbidden, "This workspace does not let people approve their own requests. Ask another approver.")
	}
	now := s.Now()
	if !a.ExpiresAt.After(now) {
		if err := s.expire(ctx, a); err != nil {
			return a, err
		}
		return a, fault.New(fault.Conflict, "The request expired at %s.", a.ExpiresAt.Format(time.RFC3339))
	}
	a.Status, a.Decider, a.Comment, a.DecidedAt = registry.ApprovalDenied, &actor, d.Comment, &now
	if d.Approve {
		a.Status, a.Scope = registry.ApprovalApproved, d.Scope
		if a.Scope == "" || a.Kind == registry.PublishApproval || a.AgentID == "" { // An approval of a publication or of inline code cannot cover later requests.
			a.Scope = registry.ApproveOnce
		}
	}
	is, err := s.Requests.DecideApproval(ctx, a, s.Notice)
	if fault.Is(err, fault.Conflict) {
		return is, decided(is)
	}
	if err != nil {
		return is, err
	}
	if err := s.carryOut(context.WithoutCancel(ctx), is); err != nil {
		// The decision is stored, so the sweeper tries again to carry it out.
		s.Log.LogAttrs(ctx, slog.LevelError, "carry out approval", slog.String("approval", id), slog.Any("error", err))
	}
	return s.Reader.Approval(ctx, actor.Workspace, id)
}

// MayApprove reports whether an approver may approve a request. An approver may approve requests that the approver made
// only if the workspace allows that.
func (s *Service) MayApprove(ctx context.Context, actor registry.Actor, a registry.Approval) (bool, error) {
	settings, err := s.Policy.Settings(ctx, actor.Workspace)
	return settings.SelfApproval || a.Requester.ID != actor.ID, err
}

// maxApprovers is the maximum number of names that Approvers returns.
const maxApprovers = 20

// Approvers returns the sorted sign-in names of people who may decide a request.
func (s *Service) Approvers(ctx context.Context, a registry.Approval) ([]string, error) {
	members, err := s.Members.Members(ctx, a.Workspace)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, m := range members {
		may, err := s.MayApprove(ctx, registry.Actor{Workspace: a.Workspace, ID: m.User.ID}, a)
		if err != nil {
			return nil, err
		}
		if may && (registry.Caller{Scopes: m.Role.Scopes()}).May(registry.ApproveScope) && len(names) < maxApprovers {
			names = append(names, m.User.Name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// decided returns the error for a request that is already decided.
func decided(a registry.Approval) error {
	text := fmt.Sprintf("The request is already %s", a.Status)
	extra := map[string]any{"status": a.Status}
	if a.Decider != nil {
		text += " by " + a.Decider.Name
		extra["decidedBy"] = a.Decider.Name
	}
	if a.DecidedAt != nil {
		at := a.DecidedAt.Format(time.RFC3339)
		text += " at " + at
		extra["decidedAt"] = at
	}
	return &fault.Error{Code: fault.Conflict, Message: text + ".", Extra: extra}
}

// recordPatience is how long a decided request waits until its run is recorded. The run is recorded after the request,
// so the record may be missing for a moment.
const recordPatience = time.Minute

// carryOut starts the run or the publication of an approved request. If the request was not approved, carryOut ends its
// run.
func (s *Service) carryOut(ctx context.Context, a registry.Approval) error {
	var err error
	switch {
	case a.Status == registry.ApprovalApproved && a.Kind == registry.RunApproval:
		err = s.runs.Resume(ctx, a.Workspace, a.RunID, a.Request)
	case a.Status == registry.ApprovalApproved && a.Kind == registry.BlockedRequest:
		return s.resubmit(ctx, a)
	case a.Status == registry.ApprovalApproved:
		return s.publish(ctx, a)
	case a.Kind == registry.RunApproval:
		err = s.runs.EndWaiting(ctx, a.Workspace, a.RunID, denial(a))
	}
	if fault.Is(err, fault.NotFound) && s.Now().Sub(a.CreatedAt) > recordPatience {
		return s.Requests.CarriedOut(ctx, a.Workspace, a.ID, "The run was never recorded, so it cannot be started. Send the request again.")
	}
	if err != nil {
		return err
	}
	return s.Requests.CarriedOut(ctx, a.Workspace, a.ID, "")
}

func (s *Service) publish(ctx context.Context, a registry.Approval) error {
	v, err := s.publisher.PublishApproved(ctx, a)
	switch code := fault.CodeOf(err); {
	case err == nil:
		return s.Requests.CarriedOut(ctx, a.Workspace, a.ID, "Published "+v.Reference()+".")
	case slices.Contains([]fault.Code{fault.Internal, fault.StorageUnavailable, fault.SandboxUnavailable, fault.RuntimeUnavailable, fault.ShuttingDown, fault.Cancelled, fault.QueueFull}, code):
		return err
	}
	return s.Requests.CarriedOut(ctx, a.Workspace, a.ID, "Not published: "+err.Error())
}

// denial returns the error of a run that was never started because its request was not approved.
func denial(a registry.Approval) *runtimes.ProgramError {
	e := &runtimes.ProgramError{Type: runtimes.Denied, Rule: "approval", Message: "The run was denied."}
	switch {
	case a.Status == registry.ApprovalWithdrawn:
		return runs.CancelledWaiting()
	case a.Status == registry.ApprovalExpired:
		e.Message = "The run was not approved in time."
	case a.Decider != nil && a.Comment != "":
		e.Message = "The run was denied by " + a.Decider.Name + ": " + a.Comment
	case a.Decider != nil:
		e.Message = "The run was denied by " + a.Decider.Name + "."
	}
	return e
}

// expire ends a request that nobody decided in time.
func (s *Service) expire(ctx context.Context, a registry.Approval) error {
	now := s.Now()
	a.Status, a.DecidedAt = registry.ApprovalExpired, &now
	is, err := s.Requests.DecideApproval(ctx, a, s.Notice)
	if fault.Is(err, fault.Conflict) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.carryOut(ctx, is)
}

// Sweep expires old requests. It also carries out decisions that were delayed by a crash or a full queue.
func (s *Service) Sweep(ctx context.Context) {
	for after := ""; ctx.Err() == nil; {
		due, last, err := s.Finder.DueApprovals(ctx, s.Now(), after)
		if err != nil && ctx.Err() == nil {
			s.Log.LogAttrs(ctx, slog.LevelError, "read due approvals", slog.Any("error", err))
		}
		if err != nil || last == "" {
			return
		}
		for _, a := range due {
			if err := s.settle(ctx, a); err != nil && ctx.Err() == nil {
				s.Log.LogAttrs(ctx, slog.LevelError, "carry out approval", slog.String("approval", a.ID), slog.Any("error", err))
			}
		}
		after = last
	}
}

func (s *Service) settle(ctx context.Context, a registry.Approval) error {
	if a.Status == registry.ApprovalPending {
		return s.expire(ctx, a)
	}
	return s.carryOut(ctx, a)
}

// Review implements runs.Gate. It first asks the policy service, and then applies the gate settings of the workspace.
func (s *Service) Review(ctx context.Context, actor registry.Actor, c runs.Candidate) (runs.Ruling, error) {
	settings, err := s.Policy.Settings(ctx, actor.Workspace)
	if err != nil {
		return runs.Ruling{}, err
	}
	var r runs.Ruling
	if s.Asker != nil && !c.Allowed {
		if answer := s.Asker.Ask(ctx, question(actor, c)); !answer.Allowed {
			return runs.Ruling{Blocked: true, Reasons: []string{answer.Reason}, Remedy: answer.Remedy, Keep: true}, nil
		}
	}
	if c.Draft {
		return r, nil
	}
	if c.Version.RequiresApproval {
		r.Reasons = append(r.Reasons, "Each run of this version needs an approval.")
	}
	if slices.Contains(c.Version.SafetyFlags, "side_effect") && (settings.Gate != registry.GateOff && settings.ApproveEffects || s.Policy.ApproveEffects) {
		r.Reasons = append(r.Reasons, "The version has side effects.")
	}
	if settings.Gate == registry.GateEnforce {
		if err := s.judged(ctx, actor, c, &r); err != nil || r.Blocked {
			return r, err
		}
	}
	if len(r.Reasons) == 0 || c.Inline {
		return r, nil
	}
	stands, err := s.Grants.Standing(ctx, actor.Workspace, c.Version.AgentID, c.Version.Digest, actor.ID)
	if stands {
		r.Reasons = nil
	}
	return r, err
}

// judged adds the gate's verdict to a ruling. It is called only if the workspace enforces its gate.
func (s *Service) judged(ctx context.Context, actor registry.Actor, c runs.Candidate, r *runs.Ruling) error {
	var verdict registry.Verdict
	var err error
	if c.Inline {
		verdict, err = s.Policy.Judge(ctx, actor.Workspace, c.Version.Spec, nil)
	} else {
		verdict, err = s.Policy.JudgeVersion(ctx, actor.Workspace, c.Version)
	}
	if err != nil {
		return err
	}
	r.Verdict = &verdict
	switch verdict.Decision {
	case registry.Block:
		r.Blocked, r.Reasons = true, reasonsOf(verdict)
	case registry.Escalate:
		if !c.Inline {
			approved, err := s.Grants.PublicationApproved(ctx, actor.Workspace, c.Version.AgentID, c.Version.ContentDigest)
			if err != nil || approved {
				return err
			}
		}
		r.Reasons = append(r.Reasons, reasonsOf(verdict)...)
	case registry.Approve, registry.Warn:
	}
	return nil
}

// maxReasons is the maximum number of reasons in a request.
const maxReasons = 20

// reasonsOf returns the reasons of a verdict as sentences: capability changes, then findings.
func reasonsOf(v registry.Verdict) []string {
	var all []string
	for _, c := range v.CapabilityChanges {
		all = append(all, strings.ToUpper(c.Message[:1])+c.Message[1:]+".")
	}
	for _, f := range v.Findings {
		text := f.Message
		if f.File != "" {
			text = fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Message)
		}
		all = append(all, text)
	}
	if more := len(all) - maxReasons; more > 0 {
		all = append(all[:maxReasons], fmt.Sprintf("There are %d more reasons.", more))
	}
	if len(all) == 0 {
		all = []string{"The gate could not decide."}
	}
	return all
}

// mostPending is the maximum number of pending requests of a workspace. The number is limited because each request
// stores the input of its run.
const mostPending = 1000

// Ask implements runs.Gate.
func (s *Service) Ask(ctx context.Context, run registry.Run, c runs.Candidate, r runs.Ruling, request json.RawMessage) error {
	settings, err := s.Policy.Settings(ctx, run.Workspace)
	if err != nil {
		return err
	}
	now := s.Now()
	kind, keep := registry.RunApproval, time.Duration(settings.ApprovalHours)*time.Hour
	if r.Blocked {
		kind, keep = registry.BlockedRequest, s.Keep
		if r.Remedy != "" {
			r.Reasons = append(r.Reasons, r.Remedy)
		}
	}
	if !r.Blocked {
		n, err := s.Reader.CountPending(ctx, run.Workspace)
		if err != nil {
			return err
		}
		if n >= mostPending {
			return fault.New(fault.TooManyRequests, "%d requests of this workspace already wait for an approval. Approve or deny some of them first.", n)
		}
	}
	version, err := s.Policy.Version(ctx, run.Workspace, c.Version.Spec)
	if err != nil {
		return err
	}
	return s.Requests.BeginAsked(ctx, run, registry.Approval{
		ID: s.NewID(), Workspace: run.Workspace, PolicyVersion: version, Kind: kind, Status: registry.ApprovalPending, AgentID: run.AgentID, Agent: run.Agent, Version: run.Version,
		Digest: run.Digest, ContentDigest: c.Version.ContentDigest, RunID: run.ID, RequestID: c.RequestID, Reasons: r.Reasons, Verdict: r.Verdict, Input: run.Input, Request: request,
		Requester: run.Actor, CreatedAt: now, ExpiresAt: now.Add(keep),
	}, s.Notice)
}

// Withdraw implements runs.Gate.
func (s *Service) Withdraw(ctx context.Context, actor registry.Actor, runID string) error {
	a, err := s.Finder.ApprovalOfRun(ctx, actor.Workspace, runID)
	if err != nil {
		return err
	}
	now := s.Now()
	a.Status, a.Decider, a.DecidedAt = registry.ApprovalWithdrawn, &actor, &now
	is, err := s.Requests.DecideApproval(ctx, a, s.Notice)
	if fault.Is(err, fault.Conflict) {
		return decided(is)
	}
	return err
}

// Judge implements agents.Gate.
func (s *Service) Judge(ctx context.Context, workspace string, spec registry.Spec, before *registry.Spec) (*registry.Verdict, error) {
	settings, err := s.Policy.Settings(ctx, workspace)
	if err != nil || settings.Gate == registry.GateOff {
		return nil, err
	}
	v, err := s.Policy.Judge(ctx, workspace, spec, before)
	return &v, err
}

// Approved implements agents.Gate. If the workspace enforces its gate, a version that the gate escalated counts as
// approved only after a person has approved it. In other workspaces every published version counts as approved.
func (s *Service) Approved(ctx context.Context, workspace string, v registry.Version) (bool, error) {
	if v.Verdict == nil || v.Verdict.Decision != registry.Escalate {
		return true, nil
	}
	settings, err := s.Policy.Settings(ctx, workspace)
	if err != nil || settings.Gate != registry.GateEnforce {
		return true, err
	}
	approved, err := s.Grants.PublicationApproved(ctx, workspace, v.AgentID, v.ContentDigest)
	if err != nil || approved {
		return approved, err
	}
	return s.Grants.Standing(ctx, workspace, v.AgentID, v.Digest, "")
}

// Publication implements agents.Gate.
func (s *Service) Publication(ctx context.Context, actor registry.Actor, v registry.Version, before *registry.Version, request json.RawMessage) (*registry.Verdict, error) {
	var earlier *registry.Spec
	if before != nil {
		earlier = &before.Spec
	}
	verdict, err := s.Judge(ctx, actor.Workspace, v.Spec, earlier)
	if err != nil || verdict == nil {
		return nil, err
	}
	settings, err := s.Policy.Settings(ctx, actor.Workspace)
	if err != nil {
		return nil, err
	}
	switch {
	case verdict.Decision == registry.Block:
		return nil, blocked(*verdict)
	case verdict.Decision != registry.Escalate || settings.Gate != registry.GateEnforce:
		return verdict, nil
	}
	approved, err := s.Grants.PublicationApproved(ctx, actor.Workspace, v.AgentID, v.ContentDigest)
	if err != nil || approved {
		return verdict, err
	}
	now := s.Now()
	a := registry.Approval{
		ID: s.NewID(), Workspace: actor.Workspace, Kind: registry.PublishApproval, Status: registry.ApprovalPending, AgentID: v.AgentID, Agent: v.Agent, Version: v.Version,
		Digest: v.Digest, ContentDigest: v.ContentDigest, Reasons: reasonsOf(*verdict), Verdict: verdict, PolicyVersion: verdict.PolicyVersion, Request: request, Requester: actor,
		CreatedAt: now, ExpiresAt: now.Add(time.Duration(settings.ApprovalHours) * time.Hour),
	}
	if a, err = s.Requests.InsertApproval(ctx, a, s.Notice); err != nil {
		return nil, err
	}
	e := &fault.Error{Code: fault.ApprovalRequired, Message: fmt.Sprintf("%s %s. A person must approve the publication.", v.Reference(), changesInWords(*verdict)), Extra: map[string]any{"approvalId": a.ID, "verdict": verdict}}
	if weak := registry.DescriptionWarnings(v.Agent, v.Title, v.Description); len(weak) > 0 {
		e.Extra["warnings"] = weak
	}
	e.Details = detailsOf(*verdict)
	return nil, e
}

// changesInWords returns a sentence with the reason why a person must approve.
func changesInWords(v registry.Verdict) string {
	var all []string
	for _, c := range v.CapabilityChanges {
		all = append(all, c.Message)
	}
	if len(all) == 0 {
		return fmt.Sprintf("has %d findings that need a decision", len(v.Findings))
	}
	return strings.Join(all, ", ")
}

func blocked(v registry.Verdict) error {
	return &fault.Error{
		Code: fault.PolicyBlocked, Message: "The gate blocks this program. Fix the findings, or change the rules of the workspace.", Details: detailsOf(v), Extra: map[string]any{"verdict": v},
	}
}

// detailsOf lists capability changes and findings as error details, with their positions in the source.
func detailsOf(v registry.Verdict) []fault.Detail {
	var all []fault.Detail
	for _, c := range v.CapabilityChanges {
		all = append(all, fault.Detail{File: c.File, Line: c.Line, Code: "new_capability", Message: strings.ToUpper(c.Message[:1]) + c.Message[1:] + "."})
	}
	for _, f := range v.Findings {
		all = append(all, fault.Detail{File: f.File, Line: f.Line, Column: f.Column, Code: f.RuleID, Message: f.Message + " " + f.Remedy})
	}
	return all
}
