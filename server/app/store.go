package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/atelier-run/atelier/internal/config"
	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/registry/blobs"
	"github.com/atelier-run/atelier/registry/store"
)

// DatabaseURL returns the URL of the configured database. If none is configured, it returns the URL of a SQLite
// database in the data directory.
func DatabaseURL(c config.Config) string {
	if c.DatabaseURL != "" {
		return c.DatabaseURL
	}
	return "sqlite:" + filepath.Join(c.Data, "atelier.db")
}

// openStore opens the database and cleans up after a server process that did not shut down cleanly. It marks unfinished
// runs as interrupted. It also releases idempotency keys that have no answer yet, so that clients can retry.
func (a *App) openStore(ctx context.Context) error {
	if err := a.refuseRestoring(); err != nil {
		return err
	}
	member, err := a.member()
	if err != nil {
		return err
	}
	files, err := openBlobs(ctx, a.Config)
	if err != nil {
		return err
	}
	a.bucket = files
	local, err := blobs.Open(filepath.Join(a.Config.Data, "blobs")) // Open the directory even if a bucket is configured, because files may not have been moved to the bucket yet.
	if err != nil {
		return err
	}
	if err := errors.Join(a.missing(local), a.unshared(local)); err != nil {
		return err
	}
	for _, draft := range keyDrafts(a.Config.Data) {
		if err := os.Remove(draft); err != nil {
			a.Log.LogAttrs(ctx, slog.LevelWarn, "remove a file of a write that was killed", slog.Any("error", err))
		}
	}
	if n, err := local.SweepLeftovers(); err != nil {
		a.Log.LogAttrs(ctx, slog.LevelWarn, "remove files of writes that were killed", slog.Any("error", err)) // A full or read-only disk can cause this error.
	} else if n > 0 {
		a.Log.LogAttrs(ctx, slog.LevelInfo, "removed files of writes that were killed", slog.Int("files", n))
	}
	a.store, err = store.Open(ctx, store.Options{URL: DatabaseURL(a.Config), Blobs: files, Now: a.Now, Log: a.Log, Exclusive: true, Member: member, Asked: a.Asked, Notice: a.approvalNotice(), Arrears: filepath.Join(a.Config.Data, "unrecorded")})
	if errors.Is(err, store.ErrInUse) {
		return fmt.Errorf("%w; stop that process, choose another database with --database, or start all servers of this database with --replicas", err)
	}
	if err != nil {
		return err
	}
	a.closers.add("store", a.store.Close)
	done, err := a.store.Settle(ctx)
	if fault.Is(err, fault.StorageUnavailable) {
		a.Log.LogAttrs(ctx, slog.LevelError, "the server starts read-only, because the database cannot be written; it accepts changes and runs as soon as the database can be written again",
			slog.Any("error", err))
		return nil
	}
	if err != nil {
		return err
	}
	if done.Runs > 0 || done.Keys > 0 || done.Approvals > 0 {
		a.Log.LogAttrs(ctx, slog.LevelWarn, "the last server process did not shut down cleanly", slog.Int("runs_interrupted", done.Runs), slog.Int("keys_released", done.Keys), slog.Int("approvals_withdrawn", done.Approvals))
	}
	return nil
}

// keyDrafts lists incomplete key files. Such a file remains if a process is killed while it writes keys. It is never
// read.
func keyDrafts(dir string) []string {
	found, _ := filepath.Glob(filepath.Join(dir, keysFile+".next-*")) // The error is impossible: the pattern is valid.
	return found
}

// missing returns an error if the data directory was used before but has no database. A new database would hide the
// loss of agents and secrets.
func (a *App) missing(files *blobs.Folder) error {
	path, ok := strings.CutPrefix(DatabaseURL(a.Config), "sqlite:")
	if !ok {
		return nil
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil // The store explains other errors.
	}
	kept := ""
	if empty, err := files.Empty(); err != nil || !empty {
		kept = filepath.Join(a.Config.Data, "blobs")
	}
	if _, err := os.Stat(filepath.Join(a.Config.Data, keysFile)); err == nil {
		kept = filepath.Join(a.Config.Data, keysFile)
	}
	if kept == "" {
		return nil
	}
	return fmt.Errorf("the database %s does not exist, but %s of an earlier server does; restore the database from your backup, name it with --database, or move the data directory away to start with an empty database", path, kept)
}

const (
	sweepEvery    = time.Hour
	noteUsesEvery = time.Minute
)

// sweep removes expired records when the server starts, and then regularly.
func (a *App) sweep(ctx context.Context) error {
	a.again(ctx, "sweeper", sweepEvery, a.ifLeading(a.sweepOnce), func() error { return nil })
	return nil
}

// ifLeading wraps work so that only one server of a shared database does it, which is the server that started first.
func (a *App) ifLeading(work func(context.Context)) func(context.Context) {
	return func(ctx context.Context) {
		if a.store.Leads() {
			work(ctx)
		}
	}
}

// sweepApprovalsEvery is the interval at which expired requests for approval are ended and delayed approvals are
// carried out.
const sweepApprovalsEvery = 5 * time.Second

// sweepApprovals regularly ends requests for approval that have expired. It also carries out approved requests that an
// earlier process of the server did not finish.
func (a *App) sweepApprovals(ctx context.Context) error {
	a.again(ctx, "approvals", sweepApprovalsEvery, a.ifLeading(a.approvals.Sweep), func() error { return nil })
	return nil
}

// noteUses regularly stores the time of last use of each token. It does so again when the app is closed.
func (a *App) noteUses(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	a.again(ctx, "uses of tokens", noteUsesEvery, func(ctx context.Context) {
		if err := a.access.Flush(ctx); err != nil && ctx.Err() == nil {
			a.Log.LogAttrs(ctx, slog.LevelError, "store token uses", slog.Any("error", err))
		}
	}, func() error { return a.access.Flush(ctx) })
	return nil
}

// again calls work immediately and then at each interval, until the app is closed. At the end it calls last.
func (a *App) again(ctx context.Context, name string, every time.Duration, work func(context.Context), last func() error) {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	a.closers.add(name, func() error {
		stop()
		<-ended
		return last()
	})
	go func() {
		defer close(ended)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			work(ctx)
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	}()
}

func (a *App) sweepOnce(ctx context.Context) {
	if _, err := a.store.SweepKeys(ctx, a.Now()); err != nil && ctx.Err() == nil {
		a.Log.LogAttrs(ctx, slog.LevelError, "sweep idempotency keys", slog.Any("error", err))
	}
	if err := a.store.SweepSessions(ctx, a.Now()); err != nil && ctx.Err() == nil {
		a.Log.LogAttrs(ctx, slog.LevelError, "sweep sessions", slog.Any("error", err))
	}
	if n, err := a.projects.Expire(ctx); err != nil && ctx.Err() == nil {
		a.Log.LogAttrs(ctx, slog.LevelError, "expire overlays", slog.Any("error", err))
	} else if n > 0 {
		a.Log.LogAttrs(ctx, slog.LevelInfo, "expired overlays", slog.Int("overlays", n))
	}
	if n, err := a.projects.Collect(ctx); err != nil && ctx.Err() == nil {
		a.Log.LogAttrs(ctx, slog.LevelError, "remove files of deleted projects", slog.Any("error", err))
	} else if n > 0 {
		a.Log.LogAttrs(ctx, slog.LevelInfo, "removed files of deleted projects", slog.Int("files", n))
	}
	a.collectGarbage(ctx)
	a.removeOld(ctx)
}

// collectGarbage removes unused data of all workspaces that is older than the configured age. If no age is configured,
// it does nothing.
func (a *App) collectGarbage(ctx context.Context) {
	if a.Config.GCOlder == 0 {
		return
	}
	workspaces, err := a.store.Workspaces(ctx)
	if err != nil && ctx.Err() == nil {
		a.Log.LogAttrs(ctx, slog.LevelError, "list workspaces", slog.Any("error", err))
	}
	for _, w := range workspaces {
		done, err := a.garbage.Collect(ctx, w.ID, a.Config.GCOlder, false)
		if err != nil && ctx.Err() == nil {
			a.Log.LogAttrs(ctx, slog.LevelError, "collect garbage", slog.String("workspace", w.Name), slog.Any("error", err))
		}
		for _, g := range done.Items {
			if g.Count > 0 {
				a.Log.LogAttrs(ctx, slog.LevelInfo, "collected garbage", slog.String("workspace", w.Name), slog.String("kind", string(g.Kind)), slog.Int("count", g.Count), slog.Int64("bytes", g.Bytes))
			}
		}
	}
}

const (
	// examinedAtOnce is the number of runs that one transaction examines. It is small, so that other writers wait only
	// briefly.
	examinedAtOnce = 200
	// removedAtOnce is the number of smaller rows that one transaction removes.
	removedAtOnce = 2000
	// runsKept is the number of newest runs of each version and draft that are never removed.
	runsKept = 100
)

// removeOld removes records that are older than the configured retention times, and then frees their disk space.
func (a *App) removeOld(ctx context.Context) {
	runs := a.store.SweepRuns(a.Now().Add(-a.Config.KeepRuns), runsKept)
	a.retain(ctx, "runs", a.Config.KeepRuns, func(time.Time) (int, bool, error) { return runs.Next(ctx, examinedAtOnce) })
	a.retain(ctx, "uses of secrets", a.Config.KeepRuns, func(before time.Time) (int, bool, error) {
		n, err := a.store.SweepSecretUses(ctx, before, removedAtOnce)
		return n, n > 0, err
	})
	a.retain(ctx, "events", a.Config.KeepEvents, func(before time.Time) (int, bool, error) {
		n, err := a.store.SweepEvents(ctx, before, removedAtOnce)
		return n, n > 0, err
	})
	a.retain(ctx, "approvals", a.Config.Approvals.Keep, func(before time.Time) (int, bool, error) {
		n, err := a.store.SweepApprovals(ctx, before, removedAtOnce)
		return n, n > 0, err
	})
	a.retain(ctx, "webhooks", a.Config.Approvals.Keep, func(before time.Time) (int, bool, error) {
		n, err := a.store.SweepDeliveries(ctx, before, removedAtOnce)
		return n, n > 0, err
	})
	freed, err := a.store.Vacuum(ctx)
	if err != nil && ctx.Err() == nil {
		a.Log.LogAttrs(ctx, slog.LevelError, "return the space of removed data", slog.Any("error", err))
	}
	if freed > 0 {
		a.Log.LogAttrs(ctx, slog.LevelInfo, "returned the space of removed data", slog.Int64("bytes", freed))
	}
}

// retain removes records older than the configured time, in small batches.
func (a *App) retain(ctx context.Context, what string, keep time.Duration, sweep func(before time.Time) (n int, more bool, err error)) {
	if keep == 0 {
		return
	}
	before, total := a.Now().Add(-keep), 0
	for more := true; more && ctx.Err() == nil; {
		n, further, err := sweep(before)
		if err != nil && ctx.Err() == nil {
			a.Log.LogAttrs(ctx, slog.LevelError, "remove old data", slog.String("what", what), slog.Any("error", err))
		}
		more = further && err == nil
		total += n
	}
	if total > 0 {
		a.Log.LogAttrs(ctx, slog.LevelInfo, "removed old data", slog.String("what", what), slog.Int("removed", total))
	}
}
