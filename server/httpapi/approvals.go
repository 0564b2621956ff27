package httpapi

import (
	"context"
	"net/http"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/agents"
	"github.com/atelier-run/atelier/studio/approvals"
)

// ApprovalList is one page of requests for approval, newest first.
type ApprovalList struct {
	Items      []registry.Approval `json:"items"`
	NextCursor string              `json:"nextCursor" doc:"Cursor of the next page. Empty on the last page."`
	Pending    int                 `json:"pending" doc:"Number of pending requests in the whole workspace."`
}

// ApprovalRef is a path parameter that names a request for approval.
type ApprovalRef struct {
	Approval string `path:"approval" maxLength:"100" doc:"ID of the request."`
}

// DecisionBody is a person's decision about a request for approval.
type DecisionBody struct {
	Decision string                 `json:"decision" enum:"approve,deny"`
	Scope    registry.ApprovalScope `json:"scope,omitempty" enum:"once,version,caller" doc:"Runs that the approval allows: once (this run), version (every run of this version) or caller (every run of this version by this caller). Default: once."`
	Comment  string                 `json:"comment,omitempty" maxLength:"4000"`
}

type approvalAnswer struct{ Body registry.Approval }

func (a *API) listApprovals() {
	type in struct {
		Paging
		Status  registry.ApprovalStatus `query:"status" enum:"pending,approved,denied,expired,withdrawn" doc:"Only requests in this state."`
		Kind    registry.ApprovalKind   `query:"kind" enum:"run,publish" doc:"Only requests of this kind."`
		AgentID string                  `query:"agentId" maxLength:"100" doc:"Only requests about this agent."`
	}
	type out struct{ Body ApprovalList }
	add(a, endpoint{
		id: "listApprovals", method: http.MethodGet, path: Base + "/approvals", tag: "approvals", summary: "List requests for approval, newest first",
		about: "The list does not include the inputs of the runs.", refusals: []fault.Code{fault.InvalidInput},
	}, func(ctx context.Context, q *in) (*out, error) {
		page, err := a.Approvals.List(ctx, actor(ctx), registry.ApprovalFilter{Status: q.Status, Kind: q.Kind, AgentID: q.AgentID, Cursor: q.Cursor, Limit: q.Limit})
		if err != nil {
			return nil, err
		}
		pending, err := a.Approvals.Pending(ctx, actor(ctx))
		return &out{ApprovalList{page.Items, page.NextCursor, pending}}, err
	})
}

func (a *API) getApproval() {
	type out struct{ Body approvals.Details }
	add(a, endpoint{
		id: "getApproval", method: http.MethodGet, path: Base + "/approvals/{approval}", tag: "approvals", summary: "Read a request for approval",
		about: "Includes the input of the run, the findings, and the differences of the program from the last approved version.", refusals: []fault.Code{fault.NotFound},
	}, func(ctx context.Context, q *ApprovalRef) (*out, error) {
		one, err := a.Approvals.Details(ctx, actor(ctx), q.Approval)
		return &out{one}, err
	})
}

func (a *API) diffApproval() {
	type out struct{ Body agents.Diff }
	add(a, endpoint{
		id: "diffApproval", method: http.MethodGet, path: Base + "/approvals/{approval}/diff", tag: "approvals", summary: "Compare the program of a request with the approved version",
		about:    "Returns the differences from the last approved version, in the form of diffAgent. If there is no approved version, every file is shown as added. A program that was not approved is not kept; then the answer is not_found.",
		refusals: []fault.Code{fault.NotFound},
	}, func(ctx context.Context, q *ApprovalRef) (*out, error) {
		d, err := a.Approvals.Diff(ctx, actor(ctx), q.Approval)
		return &out{d}, err
	})
}

func (a *API) decideApproval() {
	type in struct {
		ApprovalRef
		Body DecisionBody
	}
	add(a, endpoint{
		id: "decideApproval", method: http.MethodPost, path: Base + "/approvals/{approval}", tag: "approvals", summary: "Approve or deny",
		about:      "The approved action starts at once: the run continues, or the version is published. If somebody else has already decided, the answer is conflict, with the name and the time of that decision.",
		idempotent: true, refusals: []fault.Code{fault.NotFound, fault.Conflict, fault.InvalidInput},
	}, func(ctx context.Context, q *in) (*approvalAnswer, error) {
		one, err := a.Approvals.Decide(ctx, actor(ctx), q.Approval, approvals.Decision{Approve: q.Body.Decision == "approve", Scope: q.Body.Scope, Comment: q.Body.Comment})
		return &approvalAnswer{one}, err
	})
}
