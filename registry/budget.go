package registry

import "time"

// CostMeter is the sum of the costs of all meters, in the server's currency. Only budgets use this meter.
const CostMeter Meter = "cost"

// Refusal says which runs the server refuses when a budget is used up.
type Refusal string

// These are the values of Refusal.
const (
	RefuseRemote  Refusal = "remote" // runs at other services
	RefuseAll     Refusal = "all"
	RefuseNothing Refusal = "none" // the server only warns
)

// Budget is the amount of a meter that a workspace may use in a calendar month (UTC).
type Budget struct {
	Workspace string    `json:"-"`
	Name      string    `json:"name"`
	Meter     Meter     `json:"meter" enum:"runs,cpuSeconds,gpuMinutes,remoteSeconds,remoteCost,tokens,egressBytes,storageBytes,cost"`
	Amount    float64   `json:"amount"`
	Refuse    Refusal   `json:"refuse" enum:"remote,all,none" doc:"Runs that are refused when the budget is used up: remote: runs at other services; all: every run; none: nothing. A budget of tokens or of cost that refuses anything also refuses requests to the language model."`
	UpdatedAt time.Time `json:"updatedAt"`
	UpdatedBy string    `json:"updatedBy" doc:"Name of the person or token that set the budget."`
}

// BudgetWarning records that a workspace has used 50, 80 or 100 percent of a budget in a month. There is one warning
// for each of these percentages.
type BudgetWarning struct {
	Workspace string    `json:"-"`
	Budget    string    `json:"budget"`
	Month     Month     `json:"month"`
	Percent   int       `json:"percent"`
	At        time.Time `json:"at"`
}

// WarningPercents returns the percentages of a budget at which the server warns.
func WarningPercents() []int { return []int{50, 80, 100} }
