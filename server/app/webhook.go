package app

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/runtimes/egress"
	"github.com/atelier-run/atelier/studio/webhook"
)

// deliverEvery is the interval at which due webhooks are sent.
const deliverEvery = time.Second

// approvalNotice returns the function that makes webhooks about requests for approval, nil for no webhooks.
func (a *App) approvalNotice() registry.Notice {
	if a.Config.Approvals.Webhook == "" {
		return nil
	}
	base := cmp.Or(a.Config.PublicURL, "http://"+a.Config.Listen+a.Config.BasePath)
	return webhook.Notice(base+"/studio", a.newID, a.now)
}

// deliverWebhooks sends webhooks about requests for approval, also those of an earlier server.
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
