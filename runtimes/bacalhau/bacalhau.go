// Package bacalhau runs programs as jobs of a Bacalhau network: one job with a name of its own for each run. The program,
// its input and its environment leave this machine. The package speaks Bacalhau's HTTP API.
package bacalhau

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/hostpattern"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/parcel"
	"github.com/atelier-run/atelier/runtimes/worker"
)

// Level is the isolation of a program that runs elsewhere.
const Level = "remote"

// Remedy says how to make the runtime available.
const Remedy = "Set BACALHAU_API_HOST to the host of a Bacalhau orchestrator, BACALHAU_API_PORT to its port, and BACALHAU_API_KEY if it needs a key."

// Images of containers and the publisher of results, unless the configuration differs.
const (
	PythonImage = "python:3.12-slim"
	NodeImage   = "node:22-slim"
	BashImage   = "debian:12-slim"
	Publisher   = "local"
)

// These constants bound requests and the time in which a job must start.
const (
	requestWithin = 30 * time.Second
	resultWithin  = 2 * time.Minute
	stopWithin    = 20 * time.Second
	queuedWithin  = 3 * time.Minute
	sweepEvery    = time.Minute
)

// Options configures an Engine. Without a host it runs nothing.
type Options struct {
	Host       string        // name or address of the orchestrator, with https:// for TLS
	Port       string        // default 1234
	Key        string        // "" for an orchestrator without authentication
	Python     string        // image of containers for Python; default PythonImage
	Node       string        // for JavaScript and TypeScript; default NodeImage
	Bash       string        // default BashImage
	Publisher  string        // of results: local or s3managed; default Publisher
	Owner      string        // label of this server's jobs, which survives its restarts; "" if it owns none
	Bundle     parcel.Bundle // of JavaScript and TypeScript
	Ceiling    func(workspace string) hostpattern.Ceiling
	Queued     time.Duration // how long a job may wait for a node; default queuedWithin
	Poll       time.Duration // first pause between two looks at a job, which grows; default 100 ms
	HTTPClient *http.Client
	Log        *slog.Logger
}

// Engine runs programs. It is safe for concurrent use.
type Engine struct {
	options Options
	base    string
	http    *http.Client
	ctx     context.Context // ends with the engine
	stop    context.CancelFunc
	joined  sync.WaitGroup

	kept func(context.Context) (map[string]bool, error) // runs whose jobs a server will follow; nil for none

	mu   sync.Mutex
	live map[string]struct{} // names of jobs with a run
}

// New returns an engine. The caller must close it.
func New(o Options) *Engine {
	o.Port, o.Python, o.Publisher = cmp.Or(o.Port, "1234"), cmp.Or(o.Python, PythonImage), cmp.Or(o.Publisher, Publisher)
	o.Node, o.Bash = cmp.Or(o.Node, NodeImage), cmp.Or(o.Bash, BashImage)
	o.Queued, o.Poll = cmp.Or(o.Queued, queuedWithin), cmp.Or(o.Poll, 100*time.Millisecond)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Ceiling == nil {
		o.Ceiling = func(string) hostpattern.Ceiling { return hostpattern.Ceiling{} }
	}
	client := o.HTTPClient
	if client == nil {
		client = &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone(), CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }} //nolint:forcetypeassert // it is one
	}
	ctx, stop := context.WithCancel(context.Background())
	return &Engine{options: o, base: address(o), http: client, ctx: ctx, stop: stop, live: map[string]struct{}{}}
}

func address(o Options) string {
	scheme, host := "http", o.Host
	if name, ok := strings.CutPrefix(host, "https://"); ok {
		scheme, host = "https", name
	}
	host = strings.Trim(strings.TrimPrefix(host, "http://"), "[]/")
	return scheme + "://" + net.JoinHostPort(host, o.Port) + "/api/v1"
}

// Lacks returns why the engine cannot run programs, "" if it can.
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
		return away(relay.Reached(runtimes.Cancelled)), nil
	}
	if e.options.Host == "" {
		return runtimes.Outcome{}, fault.New(fault.RuntimeUnavailable, "The runtime bacalhau is not set up on this server. %s", Remedy)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(e.ctx, func() { cancel(context.Canceled) })()
	began := time.Now()
	r := &run{engine: e, job: job, relay: relay, host: host, cancel: cancel}
	outcome, err := r.execute(ctx)
	relay.Close()
	took := time.Since(began)
	outcome.Usage.Start = min(outcome.Usage.Start, took)
	outcome.Usage.Run = max(took-outcome.Usage.Start, 1)
	return away(outcome), err
}

func away(outcome runtimes.Outcome) runtimes.Outcome {
	outcome.Level = Level
	return outcome
}

// unfit refuses programs that need what a job elsewhere cannot have, although their version does not say so.
func unfit(job runtimes.Job) *runtimes.ProgramError {
	switch {
	case job.Rules != nil: // a workspace may have them for all programs
		return &runtimes.ProgramError{Type: runtimes.Denied, Message: "This program must follow the rules for Python, which the runtime bacalhau does not apply.", Rule: "rules", Remedy: "Use the runtime python."}
	case len(job.Bound) > 0:
		return &runtimes.ProgramError{
			Type: runtimes.Denied, Message: "The secret " + job.Bound[0].Name + " is bound to a host, which only the network of this server can add.", Rule: "secrets.bind",
			Remedy: "Remove the secret from the program, or choose another runtime.",
		}
	}
	return nil
}

// domains returns the names that Bacalhau lets the job reach. Its proxy compares names without ports, so only the ports of
// HTTP and HTTPS can be granted.
func (e *Engine) domains(job runtimes.Job) ([]string, *runtimes.ProgramError) {
	var allowed []string
	ceiling := e.options.Ceiling(job.Workspace)
	for _, text := range job.Capabilities.Hosts {
		grant, err := hostpattern.ParseGrant(text)
		if err != nil {
			continue // a grant that is invalid today allows nothing
		}
		name := Domain(grant)
		if name == "" {
			return nil, &runtimes.ProgramError{Type: runtimes.Denied, Rule: "capabilities.hosts", Message: "Bacalhau cannot grant " + text + ".", Remedy: "Grant names with port 80 or 443 only, or choose another runtime."}
		}
		if !ceiling.Allows(grant) {
			return nil, &runtimes.ProgramError{Type: runtimes.Denied, Rule: "egress-hosts", Message: "The host " + text + " must not be granted in this workspace.", Remedy: "Ask the operator of the server to add it to --egress-hosts."}
		}
		allowed = append(allowed, name)
	}
	slices.Sort(allowed)
	return slices.Compact(allowed), nil
}

// Domain returns a granted host as Bacalhau's list of domains has it, "" if Bacalhau cannot grant it. A wildcard is a dot
// before the name there.
func Domain(grant hostpattern.Grant) string {
	text := grant.String()
	at := strings.LastIndexByte(text, ':')
	if at < 0 || text[at+1:] != "80" && text[at+1:] != "443" {
		return ""
	}
	name := strings.TrimPrefix(text[:at], "*")
	if strings.HasPrefix(name, "[") || net.ParseIP(name) != nil || strings.Contains(name, "*") {
		return ""
	}
	return name
}

// Languages lists the languages of the engine.
func Languages() []runtimes.Language { return append(parcel.Languages(), runtimes.WASM) }

// Warm does nothing: a job costs money from its start.
func (e *Engine) Warm(context.Context) error { return nil }

// Features lists the features of programs that the engine has. The node applies the limits of memory, processors and disk.
// It does not limit the number of processes.
func (e *Engine) Features() []runtimes.Feature {
	return []runtimes.Feature{runtimes.FilesFeature, runtimes.HostsFeature, runtimes.SubprocessFeature, runtimes.StrictFeature}
}

// Stats returns zeros: there are no workers.
func (e *Engine) Stats() worker.Stats { return worker.Stats{} }

// Close cancels every run and waits until the janitor has ended.
func (e *Engine) Close() {
	e.stop()
	e.joined.Wait()
}

// Causes of the end of a run's context.
var (
	errTime = errors.New("the program used up its time")
	errOver = errors.New("the program printed more than its limit")
)

func (e *Engine) enter(name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.live[name] = struct{}{}
}

func (e *Engine) leave(name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.live, name)
}

func (e *Engine) alive(name string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, ok := e.live[name]
	return ok
}

// Spare sets the function that returns the IDs of runs whose jobs Tidy must not stop, although no run of this process uses
// them yet. It must be called before Tidy.
func (e *Engine) Spare(kept func(context.Context) (map[string]bool, error)) { e.kept = kept }

// Tidy stops the jobs of this server that no run uses, now and every minute until the engine closes: those of a process
// that was killed, and those that could not be stopped. It must be called before the first run.
func (e *Engine) Tidy(owner string) {
	e.options.Owner = strings.ToLower(owner)
	if e.options.Host == "" || owner == "" {
		return
	}
	e.joined.Go(func() {
		tick := time.NewTicker(sweepEvery)
		defer tick.Stop()
		for {
			if err := e.Sweep(e.ctx); err != nil && e.ctx.Err() == nil {
				e.options.Log.Warn("list jobs of Bacalhau", "error", err)
			}
			select {
			case <-tick.C:
			case <-e.ctx.Done():
				return
			}
		}
	})
}

// Sweep stops the jobs of this server that no run uses.
func (e *Engine) Sweep(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, requestWithin)
	defer cancel()
	jobs, err := e.list(ctx)
	if err != nil {
		return err
	}
	spared := map[string]bool{}
	if e.kept != nil {
		if spared, err = e.kept(ctx); err != nil {
			return err
		}
	}
	for _, one := range jobs {
		if one.Labels[labelOwner] != e.options.Owner || one.State.StateType.ended() || e.alive(one.Name) || spared[one.Labels[labelRun]] {
			continue
		}
		if err := e.end(ctx, one.ID, "the run has ended"); err != nil {
			return err
		}
		e.options.Log.Info("stopped a job of Bacalhau without a run", "job", one.ID, "run_id", one.Labels[labelRun])
	}
	return nil
}
