package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry"
	"github.com/atelier-run/atelier/studio/quotas"
)

// Quotas holds the limits and the usage of a workspace.
type Quotas struct {
	Limits registry.Quota    `json:"limits" doc:"Effective limits. 0 means no limit."`
	Own    registry.OwnQuota `json:"own" doc:"Limits that are set for this workspace instead of the server's defaults."`
	Used   registry.QuotaUse `json:"used"`
	Until  time.Time         `json:"until" doc:"Time when the daily counters are reset."`
}

type quotasAnswer struct{ Body Quotas }

func quotasOf(r quotas.Report) *quotasAnswer {
	return &quotasAnswer{Body: Quotas{Limits: r.Quota, Own: r.Own, Used: r.Used, Until: r.Until}}
}

func (a *API) getQuotas() {
	add(a, endpoint{
		id: "getQuotas", method: http.MethodGet, path: Base + "/quotas", tag: "server", summary: "Get quotas and usage of the workspace",
		about: "A run that exceeds a daily quota or the quota of concurrent runs is refused with 429 quota_exceeded and Retry-After. If the storage is full, runs and writes are refused with 403 storage_full.",
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
		id: "getQuotasOf", method: http.MethodGet, path: Base + "/quotas/{workspace}", tag: "server", summary: "Get quotas and usage of any workspace",
		about: "Requires the role administrator in the workspace default.", refusals: []fault.Code{fault.NotFound},
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
		id: "setQuotas", method: http.MethodPut, path: Base + "/quotas/{workspace}", tag: "server", summary: "Set the quotas of a workspace",
		about: "Requires the role administrator in the workspace default. Absent quotas return to the server's defaults.", refusals: []fault.Code{fault.NotFound, fault.InvalidInput},
	}, func(ctx context.Context, q *in) (*quotasAnswer, error) {
		r, err := a.Quotas.Set(ctx, actor(ctx), q.Workspace, q.Body)
		if err != nil {
			return nil, err
		}
		return quotasOf(r), nil
	})
}
