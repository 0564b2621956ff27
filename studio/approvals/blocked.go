package approvals

import (
	"context"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/opa"
	"github.com/atelier-run/atelier/studio/runs"
)

// NotStarted is the first part of the outcome text of a request that was submitted again but could not run.
const NotStarted = "Not started: "

// question returns the question about a run for the policy service.
func question(actor registry.Actor, c runs.Candidate) opa.Question {
	resource := c.Version.Agent
	if c.Inline {
		resource = "inline"
	}
	return opa.Question{
		Tenant: actor.Workspace, Persona: actor.ID, Action: opa.ExecuteAction, Resource: resource,
		Context: opa.Context{Args: c.Input, Metadata: map[string]string{
			"version": c.Version.Version, "digest": c.Version.Digest, "language": string(c.Version.Language), "trigger": string(c.Trigger), "actor_type": string(actor.Type), "actor_name": actor.Name,
		}},
	}
}

// Blocked returns a page of requests that the policy service denied, newest first.
func (s *Service) Blocked(ctx context.Context, actor registry.Actor, filter registry.ApprovalFilter) (registry.ApprovalPage, error) {
	filter.Kind = registry.BlockedRequest
	return s.Reader.ListApprovals(ctx, actor.Workspace, filter)
}

// Unblock submits a blocked request again, or drops it. Before submitting a request, Unblock asks the policy service
// again; if the answer is still a denial, the request stays blocked. Errors: NotFound; Conflict if the request is
// already decided; Forbidden if it is still denied.
func (s *Service) Unblock(ctx context.Context, actor registry.Actor, id string, resubmit bool) (registry.Approval, error) {
	a, err := s.Reader.Approval(ctx, actor.Workspace, id)
	if err == nil && a.Kind != registry.BlockedRequest {
		err = fault.New(fault.NotFound, "Blocked request not found.")
	}
	if fault.Is(err, fault.NotFound) {
		return registry.Approval{}, fault.New(fault.NotFound, "Blocked request not found.")
	}
	if err != nil {
		return a, err
	}
	now := s.Now()
	switch {
	case a.Status != registry.ApprovalPending:
		return a, decided(a)
	case !a.ExpiresAt.After(now):
		return a, fault.New(fault.Conflict, "The request expired at %s.", a.ExpiresAt.Format(time.RFC3339))
	}
	a.Status = registry.ApprovalDenied
	if resubmit {
		if err := s.askAgain(ctx, a); err != nil {
			return a, err
		}
		a.Status, a.Scope = registry.ApprovalApproved, registry.ApproveOnce
	}
	a.Decider, a.DecidedAt = &actor, &now
	is, err := s.Requests.DecideApproval(ctx, a, s.Notice)
	if fault.Is(err, fault.Conflict) {
		return is, decided(is)
	}
	if err == nil {
		err = s.carryOut(context.WithoutCancel(ctx), is)
	}
	if err != nil {
		return is, err
	}
	return s.Reader.Approval(ctx, actor.Workspace, id)
}

// askAgain asks the policy service about a blocked request without using cached answers.
func (s *Service) askAgain(ctx context.Context, a registry.Approval) error {
	if s.Asker == nil {
		return nil // The server no longer uses a policy service.
	}
	language, trigger, err := runs.Described(a.Request)
	if err != nil {
		return err
	}
	s.Asker.Forget()
	c := runs.Candidate{
		Version: registry.Version{Agent: a.Agent, Version: a.Version, Digest: a.Digest, Spec: registry.Spec{Language: language}}, Inline: a.AgentID == "", Input: a.Input, Trigger: trigger,
	}
	answer := s.Asker.Ask(ctx, question(a.Requester, c))
	if answer.Allowed {
		return nil
	}
	f := fault.New(fault.Forbidden, "The request is still blocked: %s", answer.Reason)
	f.Extra = map[string]any{"remedy": answer.Remedy}
	return f
}

// resubmit starts the run of a blocked request. The run gets the ID of the request. Therefore the request runs only
// once, even if resubmit is called again.
func (s *Service) resubmit(ctx context.Context, a registry.Approval) error {
	err := s.runs.Resubmit(ctx, a.Workspace, a.RunID, a.ID, a.Request, a.RequestID)
	switch fault.CodeOf(err) { //nolint:exhaustive // with any other code, the sweeper tries again
	case "":
		return s.Requests.CarriedOut(ctx, a.Workspace, a.ID, "Runs as "+a.ID+".")
	case fault.NotFound, fault.NoVersion, fault.InvalidInput, fault.SecretMissing, fault.Conflict:
		return s.Requests.CarriedOut(ctx, a.Workspace, a.ID, NotStarted+err.Error())
	}
	return err
}

// runOf returns the run with which a repeated request is answered. If the earlier request was submitted again, this is
// its new run; while it is pending, this is the blocked run. If it was dropped or has expired, runOf returns "", so
// that the policy service is asked again.
func runOf(a registry.Approval) string {
	switch a.Status {
	case registry.ApprovalApproved:
		return a.ID
	case registry.ApprovalPending:
		return a.RunID
	case registry.ApprovalDenied, registry.ApprovalExpired, registry.ApprovalWithdrawn:
	}
	return ""
}
