package httpapi

import (
	"context"
	"net/http"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
)

// DeliveryList is one page of webhooks, newest first.
type DeliveryList struct {
	Items      []registry.Delivery `json:"items"`
	NextCursor string              `json:"nextCursor" doc:"Cursor of the next page. Empty on the last page."`
}

func (a *API) listDeliveries() {
	type in struct {
		Paging
		Approval string                 `query:"approval" maxLength:"100" doc:"Only webhooks about this request."`
		State    registry.DeliveryState `query:"state" enum:"pending,delivered,failed" doc:"Only webhooks in this state."`
	}
	type out struct{ Body DeliveryList }
	add(a, endpoint{
		id: "listDeliveries", method: http.MethodGet, path: Base + "/approval-deliveries", tag: "approvals", summary: "List webhooks about requests for approval and budgets, newest first",
		about: "The server sends one webhook when a request is created, one when it ends, and one for each warning of a budget. Failed webhooks are sent again. The list is empty if the server has no --approval-webhook.", refusals: []fault.Code{fault.InvalidInput},
	}, func(ctx context.Context, q *in) (*out, error) {
		page, err := a.Approvals.ListDeliveries(ctx, actor(ctx), registry.DeliveryFilter{ApprovalID: q.Approval, State: q.State, Cursor: q.Cursor, Limit: q.Limit})
		return &out{DeliveryList{page.Items, page.NextCursor}}, err
	})
}
