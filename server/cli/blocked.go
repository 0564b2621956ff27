package cli

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/atelier-run/atelier/server/httpapi"
)

type blockedCommand struct {
	List     blockedList     `cmd:"" default:"withargs" help:"List requests that the policy service denied, newest first."`
	Resubmit blockedResubmit `cmd:"" help:"Submit a blocked request again. The permission covers one run."`
	Drop     blockedDrop     `cmd:"" help:"Drop a blocked request."`
}

type blockedList struct {
	All   bool `help:"Also list requests that were submitted again, dropped or expired."`
	Limit int  `help:"Maximum number of requests." default:"50" placeholder:"N"`
	asked
}

func (c *blockedList) run(ctx context.Context, p Process) error {
	query := url.Values{}
	if c.All {
		query.Set("all", "true")
	}
	return list(ctx, p, c.asked, "/api/v1/blocked", query, c.Limit, func(items []httpapi.BlockedRequest) error {
		t := newTable(p.Stdout, "ID", "STATUS", "WHAT", "BY", "AT", "WHY")
		for _, b := range items {
			what := b.Agent + "@" + b.Version
			if b.Agent == "" {
				what = "inline code"
			}
			t.row(b.ID, b.Status, what, b.Requester.Name, b.CreatedAt.UTC().Format(time.RFC3339), b.Reason)
		}
		return t.flush()
	})
}

type blockedResubmit struct {
	ID string `arg:"" help:"ID of the request."`
	asked
}

func (c *blockedResubmit) run(ctx context.Context, p Process) error {
	return unblock(ctx, p, c.asked, c.ID, "resubmit")
}

type blockedDrop struct {
	ID string `arg:"" help:"ID of the request."`
	asked
}

func (c *blockedDrop) run(ctx context.Context, p Process) error {
	return unblock(ctx, p, c.asked, c.ID, "drop")
}

func unblock(ctx context.Context, p Process, a asked, id, action string) error {
	return a.ask(ctx, p, http.MethodPost, "/api/v1/blocked/"+url.PathEscape(id), map[string]any{"action": action}, func(answer json.RawMessage) error {
		var b httpapi.BlockedRequest
		if err := read(answer, &b); err != nil {
			return err
		}
		return p.say("%s is %s. %s", b.ID, b.Status, b.Outcome)
	})
}
