package app

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes/egress"
	"github.com/atelier-run/atelier/studio/budgets"
	"github.com/atelier-run/atelier/studio/webhook"
)

// deliverEvery is the interval at which due webhooks are sent.
const deliverEvery = time.Second

// approvalNotice returns the function that creates webhook messages about requests for approval, or nil if no webhook
// is configured.
func (a *App) approvalNotice() registry.Notice {
	if a.Config.Approvals.Webhook == "" {
		return nil
	}
	return webhook.Notice(a.studio(), a.newID, a.now)
}

// budgetNotice returns the function that creates webhook messages about budgets, or nil if no webhook is configured.
func (a *App) budgetNotice() budgets.Notice {
	if a.Config.Approvals.Webhook == "" {
		return nil
	}
	return webhook.BudgetNotice(a.studio(), a.newID)
}

// studio returns the address of the Studio, for links in webhooks.
func (a *App) studio() string {
	return cmp.Or(a.Config.PublicURL, "http://"+a.Config.Listen+a.Config.BasePath) + "/studio"
}

// deliverWebhooks regularly sends the stored webhook messages about approvals and budgets. It also sends messages that
// an earlier process of the server stored but did not deliver.
func (a *App) deliverWebhooks(ctx context.Context) error {
	c := a.Config.Approvals
	if c.Webhook == "" {
		return nil
	}
	sender, err := webhook.Through(egress.New(egress.Options{Server: a.engines.listeners.all}), c.Webhook)
	if err != nil {
		return fmt.Errorf("open the webhook of approvals: %w", err)
	}
	service := webhook.New(webhook.Options{Store: a.store, Sender: sender, URL: c.Webhook, Secrets: c.Secrets, Retry: c.Retry, Log: a.Log, Now: a.now})
	a.again(ctx, "webhooks", deliverEvery, a.ifLeading(service.Deliver), func() error { return nil })
	return nil
}
