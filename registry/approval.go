package registry

import (
	"encoding/json"
	"time"
)

// ApprovalKind says which action needs an approval.
type ApprovalKind string

// These are the values of ApprovalKind.
const (
	RunApproval     ApprovalKind = "run"
	PublishApproval ApprovalKind = "publish"
	// BlockedRequest is a run that the policy service denied. An approver submits it again (approved) or drops it (denied).
	BlockedRequest ApprovalKind = "blocked"
)

// ApprovalStatus is the state of a request for approval.
type ApprovalStatus string

// These are the values of ApprovalStatus. All but the first are final.
const (
	ApprovalPending   ApprovalStatus = "pending"
	ApprovalApproved  ApprovalStatus = "approved"
	ApprovalDenied    ApprovalStatus = "denied"
	ApprovalExpired   ApprovalStatus = "expired"
	ApprovalWithdrawn ApprovalStatus = "withdrawn" // the run was cancelled
)

// ApprovalScope says which runs an approval allows.
type ApprovalScope string

// These are the values of ApprovalScope.
const (
	ApproveOnce    ApprovalScope = "once"
	ApproveVersion ApprovalScope = "version" // every run of this version
	ApproveCaller  ApprovalScope = "caller"  // every run of this version by this caller
)

// Approval is a request for approval, in any state.
type Approval struct {
	ID            string          `json:"id"`
	Workspace     string          `json:"-"`
	Kind          ApprovalKind    `json:"kind" enum:"run,publish"`
	Status        ApprovalStatus  `json:"status" enum:"pending,approved,denied,expired,withdrawn"`
	AgentID       string          `json:"agentId,omitempty"`
	Agent         string          `json:"agent,omitempty"`
	Version       string          `json:"version,omitempty" doc:"The version that runs, or that will be published."`
	Digest        string          `json:"digest,omitempty"`
	ContentDigest string          `json:"contentDigest,omitempty"`
	RunID         string          `json:"runId,omitempty"`
	RequestID     string          `json:"-"` // request ID that the client chose
	Reasons       []string        `json:"reasons" doc:"Reasons why a person must decide."`
	Verdict       *Verdict        `json:"verdict,omitempty"`
	PolicyVersion string          `json:"policyVersion,omitempty" doc:"Digest of the rules and thresholds at the time of the request."`
	Input         json.RawMessage `json:"input,omitempty" doc:"Input of the run."`
	Request       json.RawMessage `json:"-"` // the action to perform after the approval; the package that made the request defines the format
	Requester     Actor           `json:"requester"`
	CreatedAt     time.Time       `json:"createdAt"`
	ExpiresAt     time.Time       `json:"expiresAt"`
	Scope         ApprovalScope   `json:"scope,omitempty" enum:"once,version,caller"`
	Decider       *Actor          `json:"decider,omitempty"`
	Comment       string          `json:"comment,omitempty"`
	DecidedAt     *time.Time      `json:"decidedAt,omitempty"`
	Outcome       string          `json:"outcome,omitempty" doc:"Outcome of an approval: the published version, or the reason for its failure."`
}

// ApprovalFilter selects requests for approval. Zero fields select all.
type ApprovalFilter struct {
	Status  ApprovalStatus
	Kind    ApprovalKind
	AgentID string
	Cursor  string
	Limit   int
}

// ApprovalPage is a page of requests, newest first.
type ApprovalPage struct {
	Items      []Approval
	NextCursor string
}
