package cli

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"github.com/atelier-run/atelier/studio/budgets"
)

type budgetCommand struct {
	List   budgetList   `cmd:"" default:"withargs" help:"List the budgets of the workspace with their use in this month."`
	Set    budgetSet    `cmd:"" help:"Create or replace a monthly budget (calendar months in UTC). The server warns at 50, 80 and 100 percent."`
	Remove budgetRemove `cmd:"" help:"Remove a budget."`
}

type budgetList struct{ asked }

func (c *budgetList) run(ctx context.Context, p Process) error {
	return c.ask(ctx, p, http.MethodGet, "/api/v1/budgets", nil, func(answer json.RawMessage) error {
		var all page[budgets.Balance]
		if err := read(answer, &all); err != nil {
			return err
		}
		return p.printBudgets(all.Items)
	})
}

func (p Process) printBudgets(all []budgets.Balance) error {
	t := newTable(p.Stdout, "NAME", "USED", "OF", "UNIT", "PERCENT", "REFUSES")
	for _, b := range all {
		t.row(b.Name, strconv.FormatFloat(b.Used, 'f', -1, 64), strconv.FormatFloat(b.Amount, 'f', -1, 64), b.Unit, strconv.FormatFloat(b.Percent, 'f', 1, 64), string(b.Refuse))
	}
	return t.flush()
}

type budgetSet struct {
	Name   string  `arg:"" help:"Name of the budget."`
	Meter  string  `required:"" enum:"runs,cpuSeconds,gpuMinutes,remoteSeconds,remoteCost,tokens,egressBytes,storageBytes,cost" help:"Meter to limit: cost (the sum of all costs), or a meter that atelier usage lists, for example runs." placeholder:"METER"`
	Amount float64 `required:"" help:"Amount per month, in the unit of the meter; for costs, in the server's currency." placeholder:"AMOUNT"`
	Refuse string  `default:"remote" enum:"remote,all,none" help:"Runs to refuse when the budget is used up: remote (runs at other services), all or none (default: remote)." placeholder:"RUNS"`
	asked
}

func (c *budgetSet) run(ctx context.Context, p Process) error {
	body := map[string]any{"meter": c.Meter, "amount": c.Amount, "refuse": c.Refuse}
	return c.ask(ctx, p, http.MethodPut, "/api/v1/budgets/"+url.PathEscape(c.Name), body, func(answer json.RawMessage) error {
		var b budgets.Balance
		if err := read(answer, &b); err != nil {
			return err
		}
		return p.printBudgets([]budgets.Balance{b})
	})
}

type budgetRemove struct {
	Name string `arg:"" help:"Name of the budget."`
	asked
}

func (c *budgetRemove) run(ctx context.Context, p Process) error {
	return c.change(ctx, p, http.MethodDelete, "/api/v1/budgets/"+url.PathEscape(c.Name), nil)
}
