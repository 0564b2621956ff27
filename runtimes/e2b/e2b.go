// Package e2b runs programs in sandboxes of E2B. Each run has its own virtual machine, which is deleted afterwards. The
// program, its input and its environment leave this machine. The package uses E2B's control API and the protocol of envd,
// the process in each sandbox that starts programs.
package e2b

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/hostpattern"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/elsewhere"
	"github.com/atelier-run/atelier/runtimes/parcel"
	"github.com/atelier-run/atelier/runtimes/worker"
)

// Remedy explains how to make the runtime available.
const Remedy = "Set `E2B_API_KEY` to the key of an E2B team, and `E2B_API_URL` and `E2B_DOMAIN` if you host E2B yourself."

// Timeouts of requests. spare is added to the lifetime of a sandbox. E2B ends a sandbox after its lifetime even if this
// server no longer runs.
const (
	createWithin = time.Minute
	deleteWithin = 20 * time.Second
	uploadWithin = 2 * time.Minute
	spare        = time.Minute
)

// Options configures an Engine. Without Key, the engine refuses all runs.
type Options struct {
	Key        string
	API        string        // address of the control API; default https://api. followed by Domain
	Domain     string        // domain of E2B; default e2b.app
	Template   string        // template of the sandboxes; default base
	Sandboxes  string        // common address of all sandboxes, for a self-hosted E2B; "" for addresses below Domain
	Owner      string        // tag of this server's sandboxes, the same after a restart; "" if the server has no such tag
	Bundle     parcel.Bundle // bundles programs in JavaScript and TypeScript
	Ceiling    func(workspace string) hostpattern.Ceiling
	Backoff    time.Duration // base of the random, growing pause before a request is repeated; default 500 ms
	HTTPClient *http.Client
	Log        *slog.Logger
}

// Engine runs programs. It is safe for concurrent use. The E2B template limits memory, processes and disk. The
// version's limits for these resources do not apply.
type Engine struct {
	*elsewhere.Engine

	options Options
}

// service describes E2B for package elsewhere.
var service = elsewhere.Service{Name: "E2B", Runtime: runtimes.E2BEngine, Host: Name}

// Name returns a granted host in the form of E2B's list of allowed destinations, or "" if E2B cannot grant it.
func Name(grant hostpattern.Grant) string { return elsewhere.WebHost(grant) }

// New returns an engine. The caller must close it.
func New(o Options) *Engine {
	o.Domain, o.Template = cmp.Or(o.Domain, "e2b.app"), cmp.Or(o.Template, "base")
	o.API = cmp.Or(o.API, "https://api."+o.Domain)
	o.Backoff = cmp.Or(o.Backoff, 500*time.Millisecond)
	if o.Ceiling == nil {
		o.Ceiling = func(string) hostpattern.Ceiling { return hostpattern.Ceiling{} }
	}
	return &Engine{elsewhere.New(elsewhere.Options{Client: o.HTTPClient, Log: o.Log}), o}
}

// Lacks returns the reason why the engine cannot run programs, or "" if it can.
func (e *Engine) Lacks() string {
	if e.options.Key == "" {
		return Remedy
	}
	return ""
}

// Run implements runtimes.Runtime.
func (e *Engine) Run(ctx context.Context, job runtimes.Job, host runtimes.Host) (runtimes.Outcome, error) {
	relay := worker.NewRelay(job, host)
	if ctx.Err() != nil {
		relay.Close()
		return elsewhere.Remote(relay.Reached(runtimes.Cancelled)), nil
	}
	if e.options.Key == "" {
		return runtimes.Outcome{}, fault.New(fault.RuntimeUnavailable, "The runtime e2b is not set up on this server. %s", Remedy)
	}
	ctx, cancel := e.Bound(ctx)
	defer cancel(nil)
	access, refused := service.Hosts(job, e.options.Ceiling(job.Workspace))
	if refused == nil {
		refused = service.Refuse(job)
	}
	if refused != nil {
		relay.Close()
		return elsewhere.Remote(runtimes.Outcome{Error: refused}), nil
	}
	began := time.Now()
	r := &run{engine: e, job: job, host: host, relay: relay, cancel: cancel}
	outcome, err := r.execute(ctx, access)
	relay.Close()
	outcome.Usage.Run = max(time.Since(began)-outcome.Usage.Start, 1)
	return elsewhere.Remote(outcome), err
}

// errTime is the cancellation cause of a run whose program exceeded its time limit.
var errTime = errors.New("the program reached its time limit")

// Tidy deletes the sandboxes of this server that no run uses, now and every minute until the engine closes. Such sandboxes
// remain if a server process was killed or a sandbox could not be deleted. Tidy must be called before the first run.
func (e *Engine) Tidy(owner string) {
	e.options.Owner = owner
	if e.options.Key == "" || e.options.Owner == "" {
		return
	}
	e.Clean("sandboxes of E2B", e.Sweep)
}

// Sweep deletes the sandboxes of this server that no run uses.
func (e *Engine) Sweep(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, createWithin)
	defer cancel()
	boxes, err := e.list(ctx)
	if err != nil {
		return err
	}
	for _, box := range boxes {
		if box.Metadata[tagOwner] != e.options.Owner || e.Uses(box.Metadata[tagRun]) {
			continue
		}
		if err := e.remove(ctx, box.SandboxID); err != nil {
			return err
		}
		e.Log.Info("deleted a sandbox of E2B without a run", "sandbox", box.SandboxID, "run_id", box.Metadata[tagRun])
	}
	return nil
}
