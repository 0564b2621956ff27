package webhook

import (
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/budgets"
)

// event is the payload of a webhook about an approval. It contains neither the input of a run nor comments.
type event struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Data      subject   `json:"data"`
}

// subject describes the request for approval in the payload.
type subject struct {
	ApprovalID  string                  `json:"approvalId"`
	Kind        registry.ApprovalKind   `json:"kind"`
	Status      registry.ApprovalStatus `json:"status"`
	Workspace   string                  `json:"workspace"`
	Reference   string                  `json:"reference,omitempty"` // empty for inline code
	RunID       string                  `json:"runId,omitempty"`
	Reasons     []string                `json:"reasons"`
	RequestedBy string                  `json:"requestedBy"`
	ExpiresAt   time.Time               `json:"expiresAt"`
	DecidedBy   string                  `json:"decidedBy,omitempty"`
	DecidedAt   *time.Time              `json:"decidedAt,omitempty"`
	URL         string                  `json:"url"` // address of the page on which a person can decide
}

// Notice returns a function that creates the webhook message about a request for approval. studio is the address of the
// Studio.
func Notice(studio string, newID func() string, now func() time.Time) registry.Notice {
	return func(a registry.Approval) registry.Delivery {
		at := now()
		e := event{Type: "approval." + string(a.Status), Timestamp: at, Data: subject{
			ApprovalID: a.ID, Kind: a.Kind, Status: a.Status, Workspace: a.Workspace, RunID: a.RunID, Reasons: a.Reasons, RequestedBy: a.Requester.Name, ExpiresAt: a.ExpiresAt, DecidedAt: a.DecidedAt,
			URL: strings.TrimSuffix(studio, "/") + "/approvals/" + url.PathEscape(a.ID),
		}}
		if a.Status == registry.ApprovalPending {
			e.Type = "approval.requested"
		}
		if a.Agent != "" {
			e.Data.Reference = a.Agent + "@" + a.Version
		}
		if a.Decider != nil {
			e.Data.DecidedBy = a.Decider.Name
		}
		payload, _ := json.Marshal(e) // The error is impossible: texts and times always have a JSON form.
		return registry.Delivery{ID: newID(), Workspace: a.Workspace, ApprovalID: a.ID, Event: e.Type, State: registry.DeliveryPending, CreatedAt: at, NextAt: &at, Payload: payload}
	}
}

// budgetEvent is the payload of a webhook about a budget.
type budgetEvent struct {
	Type      string        `json:"type"`
	Timestamp time.Time     `json:"timestamp"`
	Data      budgetSubject `json:"data"`
}

type budgetSubject struct {
	Budget    string           `json:"budget"`
	Workspace string           `json:"workspace"`
	Meter     registry.Meter   `json:"meter"`
	Unit      string           `json:"unit"`
	Amount    float64          `json:"amount"`
	Used      float64          `json:"used"`
	Percent   int              `json:"percent"` // percentage of the budget that was reached
	Month     registry.Month   `json:"month"`
	Refuse    registry.Refusal `json:"refuse"`
	URL       string           `json:"url"`
}

// BudgetNotice returns a function that creates the webhook message about a warning. studio is the address of the
// Studio.
func BudgetNotice(studio string, newID func() string) budgets.Notice {
	return func(b budgets.Balance, w registry.BudgetWarning) registry.Delivery {
		e := budgetEvent{Type: "budget.warning", Timestamp: w.At, Data: budgetSubject{
			Budget: b.Name, Workspace: w.Workspace, Meter: b.Meter, Unit: b.Unit, Amount: b.Amount, Used: b.Used, Percent: w.Percent, Month: w.Month, Refuse: b.Refuse, URL: strings.TrimSuffix(studio, "/") + "/usage",
		}}
		if w.Percent >= 100 {
			e.Type = "budget.exceeded"
		}
		payload, _ := json.Marshal(e) // The error is impossible: texts, times and amounts always have a JSON form.
		return registry.Delivery{ID: newID(), Workspace: w.Workspace, Event: e.Type, State: registry.DeliveryPending, CreatedAt: w.At, NextAt: &w.At, Payload: payload}
	}
}
