package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/atelier-run/atelier/registry/blobs"
	"github.com/atelier-run/atelier/registry/store"
	"github.com/atelier-run/atelier/server/httpapi"
	"github.com/atelier-run/atelier/studio/changes"
	"github.com/atelier-run/atelier/studio/runs"
)

// serverFile is the name of the file in the data directory that contains this server's ID. The ID distinguishes the
// servers that share a database.
const serverFile = "server-id"

// member describes this server to the other servers of its database. If the database is not shared, it returns nil. The
// ID belongs to the data directory. A restarted server can therefore end the runs of its earlier process at once: it
// has the lock of the directory, so the earlier process has ended.
func (a *App) member() (*store.Member, error) {
	if !a.Config.Replicas {
		return nil, nil //nolint:nilnil // no other server uses the database
	}
	path := filepath.Join(a.Config.Data, serverFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		text = []byte(uuid.NewString())
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		return nil, fmt.Errorf("ID of the server: %w", err)
	}
	id, err := uuid.Parse(strings.TrimSpace(string(text)))
	if err != nil {
		return nil, fmt.Errorf("the file %s does not contain the ID of a server; remove it: %w", path, err)
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	return &store.Member{ID: id.String(), Address: host + " " + a.Config.Listen}, nil
}

// unshared returns an error if several servers share the database without a bucket, and this data directory contains
// files of large versions. The other servers cannot read these files.
func (a *App) unshared(files *blobs.Folder) error {
	if !a.Config.Replicas || a.Config.S3.Endpoint != "" {
		return nil
	}
	if empty, err := files.Empty(); err != nil || empty {
		return err
	}
	return fmt.Errorf("%s has files of large versions, which other servers cannot read; set --s3-endpoint and run `atelier blobs move`", filepath.Join(a.Config.Data, "blobs"))
}

// others returns the access to the other servers of the database, or nil if the database is not shared.
func (a *App) others() runs.Others {
	if !a.Config.Replicas {
		return nil
	}
	return a.store
}

const (
	// cancelEvery is the interval at which a server reads requests of other servers to cancel its runs. A signal makes the
	// server read them earlier.
	cancelEvery = time.Second
	// shareEvery is the interval at which servers exchange their counts for the quotas.
	shareEvery = time.Second
)

// joinOthers starts the background work of servers that share a database. They exchange signals, cancellations and
// counts.
func (a *App) joinOthers(ctx context.Context) error {
	if !a.Config.Replicas {
		return nil
	}
	a.measureOthers()
	cancels := make(chan struct{}, 1)
	a.inBackground(ctx, "signals", func(ctx context.Context) {
		a.store.Listen(ctx, func(one store.Signal) { a.signalled(one, cancels) }, func(listening bool) {
			a.listening.Store(listening)
			a.forgetAll()
		})
	})
	a.inBackground(ctx, "cancellations", func(ctx context.Context) {
		tick := time.NewTicker(cancelEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			case <-cancels:
			}
			if err := a.runs.CancelForOthers(ctx); err != nil && ctx.Err() == nil {
				a.Log.LogAttrs(ctx, slog.LevelError, "cancel runs for other servers", slog.Any("error", err))
			}
		}
	})
	a.again(ctx, "quotas", shareEvery, func(ctx context.Context) {
		if err := a.quotas.Share(ctx, a.store); err != nil && ctx.Err() == nil {
			a.Log.LogAttrs(ctx, slog.LevelWarn, "exchange the use of quotas", slog.Any("error", err))
		}
	}, func() error { return nil })
	return nil
}

// inBackground runs work in a goroutine. When the app is closed, it cancels the context of work and waits until work
// returns.
func (a *App) inBackground(ctx context.Context, name string, work func(context.Context)) {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	a.closers.add(name, func() error {
		stop()
		<-ended
		return nil
	})
	go func() {
		defer close(ended)
		work(ctx)
	}()
}

// signalled handles a message of another server. It must not block, because later messages would have to wait.
func (a *App) signalled(one store.Signal, cancels chan<- struct{}) {
	switch one.Kind {
	case "changed":
		a.changed(one.Subject)
	case "cancel":
		select {
		case cancels <- struct{}{}:
		default: // A signal is already pending.
		}
	case "draft":
		var saved changes.Draft
		if err := json.Unmarshal([]byte(one.Data), &saved); err == nil {
			a.changes.Tell(one.Subject, changes.Event{Name: "draft", Data: saved})
		}
	case "version":
		a.changes.Published(one.Subject, one.Data)
	case "deleted":
		a.changes.Deleted(one.Subject)
	default:
		a.runs.Signalled(one.Kind, one.Subject)
	}
}

// changed clears the caches of data from a table that another server has changed.
func (a *App) changed(table string) {
	switch table {
	case "tokens", "sessions", "users", "memberships", "workspaces":
		a.access.Forget()
	case "agents", "agent_names", "versions":
		a.resolver.ForgetAll()
	case "skills":
		a.skills.Forget()
	case "gates", "rule_packs":
		a.policy.ForgetAll()
	case "quotas":
		a.quotas.Forget()
	}
}

// forgetAll clears all caches of stored data. It is called when messages of other servers may have been lost.
func (a *App) forgetAll() {
	for _, table := range []string{"tokens", "versions", "skills", "gates", "quotas"} {
		a.changed(table)
	}
}

// serversState returns the state of the servers that share the database, or nil if the database is not shared.
func (a *App) serversState() *httpapi.ServersState {
	m := a.store.Membership()
	if m == nil {
		return nil
	}
	return &httpapi.ServersState{Others: m.Others, Leading: m.Leads, Listening: a.listening.Load()}
}

// measureOthers registers the metrics about the servers that share the database.
func (a *App) measureOthers() {
	truth := func(is bool) float64 {
		if is {
			return 1
		}
		return 0
	}
	a.metrics.Gauge("atelier_servers", "Number of servers with a lease on the database, including this server.", nil, func() float64 { return float64(a.store.Membership().Others) + 1 })
	a.metrics.Gauge("atelier_server_leading", "1 on the server that removes old data, executes delayed approvals and sends webhooks.", nil, func() float64 { return truth(a.store.Leads()) })
	a.metrics.Gauge("atelier_server_listening", "1 if this server receives messages of the other servers, otherwise 0.", nil, func() float64 { return truth(a.listening.Load()) })
	a.metrics.Counter("atelier_leases_expired_total", "Number of leases of other servers that this server ended.", nil, func() float64 { return float64(a.store.Membership().Expired) })
	a.metrics.Counter("atelier_lease_lost_total", "Number of times that another server ended the lease of this server.", nil, func() float64 { return float64(a.store.Membership().Displaced) })
}
