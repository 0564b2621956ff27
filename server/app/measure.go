package app

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/atelier-run/atelier/registry/store"
)

const (
	measureEvery = time.Minute
	measureFor   = 5 * time.Second
)

// measure registers the metrics of the disk and the database. It measures the database every minute and not on each
// request of /metrics, because the request needs no credential and its answer must not wait for the database.
func (a *App) measure(ctx context.Context) error {
	var last atomic.Pointer[store.Size]
	last.Store(&store.Size{})
	a.again(ctx, "measurements", measureEvery, func(ctx context.Context) {
		limited, cancel := context.WithTimeout(ctx, measureFor)
		defer cancel()
		size, err := a.store.Measure(limited)
		if err == nil {
			last.Store(&size)
		} else if ctx.Err() == nil {
			a.Log.LogAttrs(ctx, slog.LevelDebug, "measure database", slog.Any("error", err))
		}
	}, func() error { return nil })
	a.metrics.Gauge("atelier_database_bytes", "Size of the database in bytes, measured every minute.", nil, func() float64 { return float64(last.Load().Bytes) })
	a.metrics.Gauge("atelier_oldest_run_timestamp_seconds", "Time when the oldest stored run was requested, as Unix time. 0 if there are no runs.", nil, func() float64 {
		if last.Load().OldestRun.IsZero() {
			return 0
		}
		return float64(last.Load().OldestRun.UnixMilli()) / 1000
	})
	a.metrics.Gauge("atelier_database_writable", "1 if the server can record runs, otherwise 0.", nil, func() float64 {
		if a.store.Ready() != nil {
			return 0
		}
		return 1
	})
	a.metrics.Gauge("atelier_runs_waiting_for_database", "Number of finished runs whose records wait for the database.", nil, func() float64 { return float64(a.store.Arrears()) })
	a.metrics.Gauge("atelier_data_disk_free_bytes", "Free space of the disk with the data directory in bytes.", nil, func() float64 {
		free, _ := a.dataDisk()
		return free
	})
	a.metrics.Gauge("atelier_data_disk_bytes", "Size of the disk with the data directory in bytes.", nil, func() float64 {
		_, size := a.dataDisk()
		return size
	})
	return nil
}

// dataDisk returns the free space and the size in bytes of the disk that contains the data directory. Both are 0 if
// they are unknown.
func (a *App) dataDisk() (free, size float64) {
	var disk unix.Statfs_t
	if err := unix.Statfs(a.Config.Data, &disk); err != nil {
		return 0, 0
	}
	return float64(disk.Bavail) * float64(disk.Bsize), float64(disk.Blocks) * float64(disk.Bsize)
}
