package cli

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/atelier-run/atelier/studio/usage"
)

type usageCommand struct {
	Month string `help:"Calendar month in UTC, such as 2026-11 (default: the current one)." placeholder:"MONTH"`
	asked
}

func (c *usageCommand) run(ctx context.Context, p Process) error {
	path := "/api/v1/usage"
	if query := said(map[string]string{"month": c.Month}); len(query) > 0 {
		path += "?" + query.Encode()
	}
	return c.ask(ctx, p, http.MethodGet, path, nil, func(answer json.RawMessage) error {
		var r usage.Monthly
		if err := read(answer, &r); err != nil {
			return err
		}
		t := newTable(p.Stdout, "METER", "AMOUNT", "COST "+r.Currency)
		for _, m := range r.Meters {
			t.row(m.Unit, strconv.FormatFloat(m.Amount, 'f', -1, 64), strconv.FormatFloat(m.Cost, 'f', 2, 64))
		}
		t.row("sum of "+string(r.Month), "", strconv.FormatFloat(r.Cost, 'f', 2, 64))
		return t.flush()
	})
}
