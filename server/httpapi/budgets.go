package httpapi

import (
	"context"
	"net/http"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/budgets"
)

// BudgetBody sets a budget.
type BudgetBody struct {
	Meter  registry.Meter   `json:"meter" enum:"runs,cpuSeconds,gpuMinutes,remoteSeconds,remoteCost,tokens,egressBytes,storageBytes,cost" doc:"A meter of GET /usage, or cost, the sum of the costs of all meters."`
	Amount float64          `json:"amount" exclusiveMinimum:"0" maximum:"1e15" doc:"Amount for one calendar month (UTC), in the unit of the meter; for cost, in the server's currency."`
	Refuse registry.Refusal `json:"refuse,omitempty" enum:"remote,all,none" default:"remote" doc:"Runs that are refused when the budget is used up: remote: runs at other services; all: every run; none: nothing. A budget of tokens or of cost that refuses anything also refuses requests to the language model."`
}

// BudgetList is the list of all budgets of a workspace.
type BudgetList struct {
	Items      []budgets.Balance `json:"items"`
	NextCursor string            `json:"nextCursor" doc:"Cursor of the next page. Empty on the last page."`
}

// BudgetName is a path parameter that names a budget.
type BudgetName struct {
	Budget string `path:"budget" maxLength:"63" doc:"Name of the budget."`
}

func (a *API) listBudgets() {
	type out struct{ Body BudgetList }
	add(a, endpoint{
		id: "listBudgets", method: http.MethodGet, path: Base + "/budgets", tag: "server", summary: "List the budgets of the workspace with their use",
		about: "A budget warns at 50, 80 and 100 percent: in the Studio, in the log and by webhook. When a budget is used up, the runs selected by its field refuse are refused with 402 budget_exceeded. Active runs finish, so their use may exceed the budget.",
	}, func(ctx context.Context, q *ListPaging) (*out, error) {
		states, err := a.Budgets.List(ctx, actor(ctx))
		if err != nil {
			return nil, err
		}
		page, next, err := pageOf(*q, "budgets", states, func(s budgets.Balance) string { return s.Name })
		return &out{BudgetList{page, next}}, err
	})
}

func (a *API) putBudget() {
	type in struct {
		BudgetName
		Body BudgetBody
	}
	type out struct{ Body budgets.Balance }
	add(a, endpoint{
		id: "putBudget", method: http.MethodPut, path: Base + "/budgets/{budget}", tag: "server", summary: "Create or replace a budget",
		about:      "Requires the role administrator. A replaced budget sends its warnings again.",
		idempotent: true, refusals: []fault.Code{fault.InvalidInput, fault.Conflict},
	}, func(ctx context.Context, q *in) (*out, error) {
		b := registry.Budget{Name: q.Budget, Meter: q.Body.Meter, Amount: q.Body.Amount, Refuse: q.Body.Refuse}
		if b.Refuse == "" {
			b.Refuse = registry.RefuseRemote
		}
		state, err := a.Budgets.Set(ctx, actor(ctx), b)
		if err != nil {
			return nil, err
		}
		return &out{state}, nil
	})
}

func (a *API) deleteBudget() {
	add(a, endpoint{
		id: "deleteBudget", method: http.MethodDelete, path: Base + "/budgets/{budget}", tag: "server", summary: "Remove a budget",
		about:  "Requires the role administrator.",
		status: http.StatusNoContent, idempotent: true, refusals: []fault.Code{fault.NotFound},
	}, func(ctx context.Context, q *BudgetName) (*none, error) {
		return &none{}, a.Budgets.Remove(ctx, actor(ctx), q.Budget)
	})
}
