package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/atelier-run/atelier/internal/config"
	"github.com/atelier-run/atelier/registry"
)

// measureStorageEvery is the interval at which the storage of all workspaces is measured. The interval is long, because
// a measurement reads the sizes of all rows.
const measureStorageEvery = 12 * time.Hour

// prices returns the price of each meter.
func prices(c config.Usage) registry.Prices {
	return registry.Prices{
		registry.RunsMeter: c.Run, registry.CPUMeter: c.CPUSecond, registry.GPUMeter: c.GPUMinute, registry.RemoteMeter: c.RemoteSecond,
		registry.TokensMeter: c.Tokens, registry.EgressMeter: c.Egress, registry.StorageMeter: c.Storage,
	}
}

// warnEvery is the interval at which budgets are compared with the usage.
const warnEvery = 2 * time.Second

// warnBudgets regularly records warnings for budgets that are nearly or fully used.
func (a *App) warnBudgets(ctx context.Context) error {
	a.again(ctx, "warnings of budgets", warnEvery, a.budgets.Warn, func() error { return nil })
	return nil
}

// measureStorage regularly measures the storage of all workspaces, even of workspaces whose usage nobody reads. It
// first measures one interval after the start, so that it does not slow down the first runs.
func (a *App) measureStorage(ctx context.Context) error {
	started := false
	a.again(ctx, "storage meter", measureStorageEvery, func(ctx context.Context) {
		if !started {
			started = true
			return
		}
		all, err := a.store.Workspaces(ctx)
		for _, w := range all {
			if err == nil {
				err = a.usage.Measure(ctx, w.ID)
			}
		}
		if err != nil && ctx.Err() == nil {
			a.Log.LogAttrs(ctx, slog.LevelError, "measure storage", slog.Any("error", err))
		}
	}, func() error { return nil })
	return nil
}
