package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/approvals"
)

// BlockedRequest is a run that the policy service denied.
type BlockedRequest struct {
	ID          string          `json:"id"`
	Status      string          `json:"status" enum:"blocked,resubmitted,dropped,expired"`
	RunID       string          `json:"runId" doc:"The blocked run."`
	Resubmitted string          `json:"resubmittedRunId,omitempty" doc:"ID of the run that was started by submitting the request again."`
	RequestID   string          `json:"requestId,omitempty" doc:"ID that the client chose for the request."`
	Agent       string          `json:"agent" doc:"Empty for inline code."`
	Version     string          `json:"version"`
	Reason      string          `json:"reason"`
	Remedy      string          `json:"remedy,omitempty" doc:"How to change the decision of the policy service."`
	Policy      string          `json:"policyVersion" doc:"Digest of the gate's rules and thresholds when the request was blocked."`
	Input       json.RawMessage `json:"input,omitempty" doc:"Absent in lists."`
	Requester   registry.Actor  `json:"requester"`
	CreatedAt   time.Time       `json:"createdAt"`
	ExpiresAt   time.Time       `json:"expiresAt"`
	Decider     *registry.Actor `json:"decider,omitempty"`
	DecidedAt   *time.Time      `json:"decidedAt,omitempty"`
	Outcome     string          `json:"outcome,omitempty"`
}

func blockedOf(a registry.Approval) BlockedRequest {
	b := BlockedRequest{
		ID: a.ID, RunID: a.RunID, RequestID: a.RequestID, Agent: a.Agent, Version: a.Version, Input: a.Input, Requester: a.Requester, CreatedAt: a.CreatedAt, ExpiresAt: a.ExpiresAt,
		Decider: a.Decider, DecidedAt: a.DecidedAt, Outcome: a.Outcome, Policy: a.PolicyVersion,
	}
	b.Status = map[registry.ApprovalStatus]string{
		registry.ApprovalPending: "blocked", registry.ApprovalApproved: "resubmitted", registry.ApprovalDenied: "dropped", registry.ApprovalExpired: "expired", registry.ApprovalWithdrawn: "dropped",
	}[a.Status]
	if a.Status == registry.ApprovalApproved && !strings.HasPrefix(a.Outcome, approvals.NotStarted) {
		b.Resubmitted = a.ID
	}
	if len(a.Reasons) > 0 {
		b.Reason = a.Reasons[0]
	}
	if len(a.Reasons) > 1 {
		b.Remedy = a.Reasons[1]
	}
	return b
}

// BlockedList is one page of blocked requests, newest first.
type BlockedList struct {
	Items      []BlockedRequest `json:"items"`
	NextCursor string           `json:"nextCursor" doc:"Cursor of the next page. Empty on the last page."`
}

func (a *API) listBlocked() {
	type in struct {
		Paging
		All bool `query:"all" doc:"Also list requests that were submitted again, dropped or expired."`
	}
	type out struct{ Body BlockedList }
	add(a, endpoint{
		id: "listBlocked", method: http.MethodGet, path: Base + "/blocked", tag: "approvals", summary: "List requests that the policy service denied, newest first",
		about: "The list does not include the inputs of the runs.", refusals: []fault.Code{fault.InvalidInput},
	}, func(ctx context.Context, q *in) (*out, error) {
		filter := registry.ApprovalFilter{Status: registry.ApprovalPending, Cursor: q.Cursor, Limit: q.Limit}
		if q.All {
			filter.Status = ""
		}
		page, err := a.Approvals.Blocked(ctx, actor(ctx), filter)
		if err != nil {
			return nil, err
		}
		answer := &out{BlockedList{Items: make([]BlockedRequest, 0, len(page.Items)), NextCursor: page.NextCursor}}
		for _, one := range page.Items {
			answer.Body.Items = append(answer.Body.Items, blockedOf(one))
		}
		return answer, nil
	})
}

func (a *API) decideBlocked() {
	type in struct {
		ID   string `path:"request" maxLength:"100" doc:"ID of the blocked request."`
		Body struct {
			Action string `json:"action" enum:"resubmit,drop"`
		}
	}
	type out struct{ Body BlockedRequest }
	add(a, endpoint{
		id: "decideBlocked", method: http.MethodPost, path: Base + "/blocked/{request}", tag: "approvals", summary: "Submit a blocked request again, or drop it",
		about:      "The policy service decides again first. If it still denies the request, the request stays blocked, and the answer is forbidden. A request runs only once, even if it is submitted twice.",
		idempotent: true, refusals: []fault.Code{fault.NotFound, fault.Conflict, fault.InvalidInput},
	}, func(ctx context.Context, q *in) (*out, error) {
		one, err := a.Approvals.Unblock(ctx, actor(ctx), q.ID, q.Body.Action == "resubmit")
		if err != nil {
			return nil, err
		}
		return &out{blockedOf(one)}, nil
	})
}
