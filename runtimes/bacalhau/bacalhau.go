// Package bacalhau runs programs as jobs of a Bacalhau network through Bacalhau's HTTP API. Each run is one job with a
// unique name. The program, its input and its environment leave this machine.
package bacalhau

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/hostpattern"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/elsewhere"
	"github.com/atelier-run/atelier/runtimes/parcel"
	"github.com/atelier-run/atelier/runtimes/worker"
)

// Remedy explains how to make the runtime available.
const Remedy = "Set `BACALHAU_API_HOST` to the host of a Bacalhau orchestrator, `BACALHAU_API_PORT` to its port, and `BACALHAU_API_KEY` if it needs a key."

// Default container images and default publisher of results.
const (
	PythonImage = "python:3.12-slim"
	NodeImage   = "node:22-slim"
	BashImage   = "debian:12-slim"
	Publisher   = "local"
)

// Timeouts of requests to the API, of the download of a result, of stopping a job, of a sweep and its list of jobs, and of
// waiting for a node.
const (
	requestWithin = 30 * time.Second
	resultWithin  = 2 * time.Minute
	stopWithin    = 20 * time.Second
	listWithin    = 2 * time.Minute
	sweepWithin   = 2 * time.Minute
	queuedWithin  = 3 * time.Minute
)

// Options configures an Engine. Without Host, the engine refuses all runs.
type Options struct {
	Host   string // name or address of the orchestrator, with https:// for TLS
	Port   string // port; default 1234
	Key    string // "" if the orchestrator has no authentication
	Python string // image of containers for Python; default PythonImage
	// URL of a Python interpreter that is a WebAssembly module with its standard library; "" if all programs run in
	// containers
	PythonModule string
	Node         string        // image for JavaScript and TypeScript; default NodeImage
	Bash         string        // image for Bash; default BashImage
	Publisher    string        // publisher of results: local or s3managed; default Publisher
	Owner        string        // label of this server's jobs, the same after a restart; "" if the server has no such label
	Bundle       parcel.Bundle // bundles programs in JavaScript and TypeScript
	Ceiling      func(workspace string) hostpattern.Ceiling
	Queued       time.Duration // how long a job may wait for a node; default queuedWithin
	Poll         time.Duration // first pause between two status requests for a job; later pauses grow; default 100 ms
	HTTPClient   *http.Client
	Log          *slog.Logger
}

// Engine runs programs. It is safe for concurrent use. The Bacalhau node enforces the limits of memory, CPU and disk. The
// number of processes is not limited.
type Engine struct {
	*elsewhere.Engine

	options Options
	base    string
	kept    func(context.Context) (map[string]bool, error) // IDs of runs whose jobs must not be stopped; nil for none
	depot   Depot                                          // nil if there is no depot
	// Creation time in nanoseconds; all jobs created before it had ended at the last Sweep, so Sweep lists no older jobs.
	settled int64
}

// service describes Bacalhau for package elsewhere.
var service = elsewhere.Service{Name: "Bacalhau", Runtime: runtimes.Bacalhau, Host: Domain}

// New returns an engine. The caller must close it.
func New(o Options) *Engine {
	o.Port, o.Python, o.Publisher = cmp.Or(o.Port, "1234"), cmp.Or(o.Python, PythonImage), cmp.Or(o.Publisher, Publisher)
	o.Node, o.Bash = cmp.Or(o.Node, NodeImage), cmp.Or(o.Bash, BashImage)
	o.Queued, o.Poll = cmp.Or(o.Queued, queuedWithin), cmp.Or(o.Poll, 100*time.Millisecond)
	if o.Ceiling == nil {
		o.Ceiling = func(string) hostpattern.Ceiling { return hostpattern.Ceiling{} }
	}
	return &Engine{Engine: elsewhere.New(elsewhere.Options{Client: o.HTTPClient, Log: o.Log}), options: o, base: address(o)}
}

func address(o Options) string {
	scheme, host := "http", o.Host
	if name, ok := strings.CutPrefix(host, "https://"); ok {
		scheme, host = "https", name
	}
	host = strings.Trim(strings.TrimPrefix(host, "http://"), "[]/")
	return scheme + "://" + net.JoinHostPort(host, o.Port) + "/api/v1"
}

// Lacks returns the reason why the engine cannot run programs, or "" if it can.
func (e *Engine) Lacks() string {
	if e.options.Host == "" {
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
	if e.options.Host == "" {
		return runtimes.Outcome{}, fault.New(fault.RuntimeUnavailable, "The runtime bacalhau is not set up on this server. %s", Remedy)
	}
	ctx, cancel := e.Bound(ctx)
	defer cancel(nil)
	began := time.Now()
	r := &run{engine: e, job: job, relay: relay, host: host, cancel: cancel}
	outcome, err := r.execute(ctx)
	relay.Close()
	took := time.Since(began)
	outcome.Usage.Start = min(outcome.Usage.Start, took)
	outcome.Usage.Run = max(took-outcome.Usage.Start, 1)
	return elsewhere.Remote(outcome), err
}

// Domain returns a granted host in the form of Bacalhau's list of domains, or "" if Bacalhau cannot grant it. In this
// form a leading dot stands for a wildcard.
func Domain(grant hostpattern.Grant) string {
	return strings.TrimPrefix(elsewhere.NameOnly(grant), "*")
}

// Features lists the features that the engine supports: those of all remote services, and a GPU.
func (e *Engine) Features() []runtimes.Feature {
	return append(e.Engine.Features(), runtimes.GPUFeature)
}

// Cancellation causes of a run's context.
var (
	errTime = errors.New("the program reached its time limit")
	errOver = errors.New("the program printed more than its limit")
)

// Spare sets the function that returns the IDs of runs whose jobs Tidy must not stop. After a restart, these runs still
// have to be resumed, so this process does not follow them yet. Spare must be called before Tidy.
func (e *Engine) Spare(kept func(context.Context) (map[string]bool, error)) { e.kept = kept }

// Tidy stops the jobs of this server that no run uses, now and every minute until the engine closes. Such jobs remain if a
// server process was killed or a job could not be stopped. Tidy must be called before the first run.
func (e *Engine) Tidy(owner string) {
	e.options.Owner = strings.ToLower(owner)
	if e.options.Host == "" || owner == "" {
		return
	}
	e.Clean("jobs of Bacalhau", e.Sweep)
}

// overlap is a period before settled whose jobs Sweep lists again, in case the clock of the orchestrator was changed.
const overlap = time.Hour

// Sweep stops the jobs of this server that no run uses. If it cannot read all jobs, it stops those that it has read. Two
// calls must not overlap.
func (e *Engine) Sweep(ctx context.Context) error {
	listing, stop := context.WithTimeout(ctx, listWithin)
	defer stop()
	jobs, err := e.list(listing, e.settled)
	failures := []error{err}
	ctx, cancel := context.WithTimeout(ctx, sweepWithin)
	defer cancel()
	spared := map[string]bool{}
	if e.kept != nil {
		if spared, err = e.kept(ctx); err != nil {
			return err
		}
	}
	settled := e.settled
	for i, one := range jobs { // newest first
		used, ended := e.Uses(one.Name) || spared[one.Labels[labelRun]], one.State.StateType.ended()
		if i == 0 || used || !ended {
			settled = one.CreateTime - int64(overlap)
		}
		if used || ended || one.Labels[labelOwner] != e.options.Owner {
			continue
		}
		if err := e.end(ctx, one.ID, "the run has ended"); err != nil {
			failures = append(failures, err)
			continue
		}
		e.Log.Info("stopped a job of Bacalhau without a run", "job", one.ID, "run_id", one.Labels[labelRun])
	}
	if e.depot != nil {
		failures = append(failures, e.takeBackLost(ctx, jobs, spared))
	}
	if err = errors.Join(failures...); err == nil {
		e.settled = settled
	}
	return err
}
