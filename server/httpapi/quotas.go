package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/quotas"
)

// Quotas is what a workspace may take and has taken.
type Quotas struct {
	Limits registry.Quota    `json:"limits" doc:"0 is no limit."`
	Own    registry.OwnQuota `json:"own" doc:"Those that this workspace has instead of the server's defaults."`
	Used   registry.QuotaUse `json:"used"`
	Until  time.Time         `json:"until" doc:"When the next day begins, in which what is counted by day begins anew."`
}

type quotasAnswer struct{ Body Quotas }

func quotasOf(r quotas.Report) *quotasAnswer {
	return &quotasAnswer{Body: Quotas{Limits: r.Quota, Own: r.Own, Used: r.Used, Until: r.Until}}
}

func (a *API) getQuotas() {
	add(a, endpoint{
		id: "getQuotas", method: http.MethodGet, path: Base + "/quotas", tag: "server", summary: "What the workspace may take and has taken",
		about: "A run above a quota of the day, or of runs at once, is 429 quota_exceeded with Retry-After; in a workspace that is full, runs and what would be kept are 403 storage_full.",
	}, func(ctx context.Context, _ *none) (*quotasAnswer, error) {
		r, err := a.Quotas.Of(ctx, actor(ctx).Workspace)
		if err != nil {
			return nil, err
		}
		return quotasOf(r), nil
	})
}

func (a *API) getQuotasOf() {
	add(a, endpoint{
		id: "getQuotasOf", method: http.MethodGet, path: Base + "/quotas/{workspace}", tag: "server", summary: "What any workspace may take and has taken",
		about: "For administrators of the workspace default.", refusals: []fault.Code{fault.NotFound},
	}, func(ctx context.Context, q *WorkspaceRef) (*quotasAnswer, error) {
		r, err := a.Quotas.For(ctx, actor(ctx), q.Workspace)
		if err != nil {
			return nil, err
		}
		return quotasOf(r), nil
	})
}

func (a *API) setQuotas() {
	type in struct {
		WorkspaceRef
		Body registry.OwnQuota
	}
	add(a, endpoint{
		id: "setQuotas", method: http.MethodPut, path: Base + "/quotas/{workspace}", tag: "server", summary: "Give a workspace quotas of its own",
		about: "For administrators of the workspace default. What is absent takes the server's default again.", refusals: []fault.Code{fault.NotFound, fault.InvalidInput},
	}, func(ctx context.Context, q *in) (*quotasAnswer, error) {
		r, err := a.Quotas.Set(ctx, actor(ctx), q.Workspace, q.Body)
		if err != nil {
			return nil, err
		}
		return quotasOf(r), nil
	})
}
