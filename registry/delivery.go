package registry

import (
	"encoding/json"
	"time"
)

// DeliveryState is the state of a webhook.
type DeliveryState string

// These are the values of DeliveryState. All but the first are final.
const (
	DeliveryPending   DeliveryState = "pending"
	DeliveryDelivered DeliveryState = "delivered"
	DeliveryFailed    DeliveryState = "failed" // the server makes no further attempts
)

// Delivery is one webhook about a request for approval or about a budget. The server sends it until the receiver
// confirms it, but only a few times.
type Delivery struct {
	ID          string          `json:"id" doc:"Value of the header webhook-id. It is the same in every attempt."`
	Workspace   string          `json:"-"`
	ApprovalID  string          `json:"approvalId,omitempty" doc:"Absent for a webhook about a budget."`
	Event       string          `json:"event" enum:"approval.requested,approval.approved,approval.denied,approval.expired,approval.withdrawn,budget.warning,budget.exceeded"`
	State       DeliveryState   `json:"state" enum:"pending,delivered,failed"`
	Attempts    int             `json:"attempts"`
	LastError   string          `json:"lastError,omitempty" doc:"Reason why the last attempt failed."`
	CreatedAt   time.Time       `json:"createdAt"`
	NextAt      *time.Time      `json:"nextAttemptAt,omitempty" doc:"Absent if there is no further attempt."`
	DeliveredAt *time.Time      `json:"deliveredAt,omitempty"`
	Payload     json.RawMessage `json:"-"`
}

// DeliveryFilter selects deliveries. Zero fields select all.
type DeliveryFilter struct {
	ApprovalID string
	State      DeliveryState
	Cursor     string
	Limit      int
}

// DeliveryPage is a page of deliveries, newest first.
type DeliveryPage struct {
	Items      []Delivery
	NextCursor string
}

// Notice creates the webhook that reports a new or an ended request for approval. If the Notice is nil, the server
// creates no webhooks.
type Notice func(Approval) Delivery
