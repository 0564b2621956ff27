// Package e2b runs programs in sandboxes of E2B: a virtual machine for each run, which is deleted afterwards. The program,
// its input and its environment leave this machine. The package speaks E2B's control API and the protocol of envd, the
// process in each sandbox.
package e2b

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
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
const Remedy = "Set E2B_API_KEY to the key of an E2B team, and E2B_API_URL and E2B_DOMAIN if you host E2B yourself."

// These constants bound requests. A sandbox lives a while longer than its program may run, so that it also ends if this
// server is gone for good.
const (
	createWithin = time.Minute
	deleteWithin = 20 * time.Second
	uploadWithin = 2 * time.Minute
	spare        = time.Minute
	sweepEvery   = time.Minute
)

// Options configures an Engine. Without a key it runs nothing.
type Options struct {
	Key        string
	API        string        // address of the control API; "" for that of the domain
	Domain     string        // default e2b.app
	Template   string        // default base
	Sandboxes  string        // address of all sandboxes, for a self-hosted E2B; "" for addresses below the domain
	Owner      string        // tag of this server's sandboxes, which survives its restarts; "" if it owns none
	Bundle     parcel.Bundle // of JavaScript and TypeScript
	Ceiling    func(workspace string) hostpattern.Ceiling
	Backoff    time.Duration // before a repetition; default 500 ms
	HTTPClient *http.Client
	Log        *slog.Logger
}

// Engine runs programs. It is safe for concurrent use.
type Engine struct {
	options Options
	http    *http.Client
	ctx     context.Context // ends with the engine
	stop    context.CancelFunc
	joined  sync.WaitGroup

	mu   sync.Mutex
	live map[string]struct{} // runs that may have a sandbox
}

// New returns an engine. The caller must close it.
func New(o Options) *Engine {
	o.Domain, o.Template = cmp.Or(o.Domain, "e2b.app"), cmp.Or(o.Template, "base")
	o.API = cmp.Or(o.API, "https://api."+o.Domain)
	o.Backoff = cmp.Or(o.Backoff, 500*time.Millisecond)
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
	return &Engine{options: o, http: client, ctx: ctx, stop: stop, live: map[string]struct{}{}}
}

// Lacks returns why the engine cannot run programs, "" if it can.
func (e *Engine) Lacks() string {
	if e.options.Key == "" {
		return Remedy
	}
	return ""
}

// Languages lists the languages of the engine.
func Languages() []runtimes.Language { return parcel.Languages() }

// Run implements runtimes.Runtime.
func (e *Engine) Run(ctx context.Context, job runtimes.Job, host runtimes.Host) (runtimes.Outcome, error) {
	relay := worker.NewRelay(job, host)
	if ctx.Err() != nil {
		relay.Close()
		return away(relay.Reached(runtimes.Cancelled)), nil
	}
	if e.options.Key == "" {
		return runtimes.Outcome{}, fault.New(fault.RuntimeUnavailable, "The runtime e2b is not set up on this server. %s", Remedy)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(e.ctx, func() { cancel(context.Canceled) })()
	access, refused := e.network(job)
	if refused == nil {
		refused = unfit(job)
	}
	if refused != nil {
		relay.Close()
		return away(runtimes.Outcome{Error: refused}), nil
	}
	began := time.Now()
	r := &run{engine: e, job: job, host: host, relay: relay, cancel: cancel}
	outcome, err := r.execute(ctx, access)
	relay.Close()
	outcome.Usage.Run = max(time.Since(began)-outcome.Usage.Start, 1)
	return away(outcome), err
}

func away(outcome runtimes.Outcome) runtimes.Outcome {
	outcome.Level = Level
	return outcome
}

// unfit refuses programs that need what a sandbox elsewhere cannot have, although their version does not say so.
func unfit(job runtimes.Job) *runtimes.ProgramError {
	switch {
	case job.Rules != nil: // a workspace may have them for all programs
		return &runtimes.ProgramError{Type: runtimes.Denied, Message: "This program must follow the rules for Python, which the runtime e2b does not apply.", Rule: "rules", Remedy: "Use the runtime python."}
	case len(job.Bound) > 0:
		return &runtimes.ProgramError{
			Type: runtimes.Denied, Message: "The secret " + job.Bound[0].Name + " is bound to a host, which only the network of this server can add.", Rule: "secrets.bind",
			Remedy: "Remove the secret from the program, or choose another runtime.",
		}
	}
	return nil
}

// network returns the hosts that E2B lets the sandbox reach. E2B compares names without ports, so only the ports of HTTP
// and HTTPS can be granted.
func (e *Engine) network(job runtimes.Job) ([]string, *runtimes.ProgramError) {
	allowed := []string{}
	ceiling := e.options.Ceiling(job.Workspace)
	for _, text := range job.Capabilities.Hosts {
		grant, err := hostpattern.ParseGrant(text)
		if err != nil {
			continue // a grant that is invalid today allows nothing
		}
		name := Name(grant)
		if name == "" {
			return nil, &runtimes.ProgramError{Type: runtimes.Denied, Rule: "capabilities.hosts", Message: "E2B cannot grant " + text + ".", Remedy: "Grant names with port 80 or 443 only, or choose another runtime."}
		}
		if !ceiling.Allows(grant) {
			return nil, &runtimes.ProgramError{Type: runtimes.Denied, Rule: "egress-hosts", Message: "The host " + text + " must not be granted in this workspace.", Remedy: "Ask the operator of the server to add it to --egress-hosts."}
		}
		allowed = append(allowed, name)
	}
	slices.Sort(allowed)
	return slices.Compact(allowed), nil
}

// Warm does nothing: a sandbox costs money from its start.
func (e *Engine) Warm(context.Context) error { return nil }

// Features lists the features of programs that the engine has. Memory, processes and disk have the limits of the E2B
// template, not those of the version.
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

// errTime ends a program that used up its time.
var errTime = errors.New("the program used up its time")

// enter notes a run that may have a sandbox, and leave that it has none.
func (e *Engine) enter(id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.live[id] = struct{}{}
}

func (e *Engine) leave(id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.live, id)
}

// alive reports whether a run may have a sandbox.
func (e *Engine) alive(id string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, ok := e.live[id]
	return ok
}

// Tidy deletes the sandboxes of this server that no run uses, now and every minute until the engine closes: those of a
// process that was killed, and those that could not be deleted. It must be called before the first run.
func (e *Engine) Tidy(owner string) {
	e.options.Owner = owner
	if e.options.Key == "" || e.options.Owner == "" {
		return
	}
	e.joined.Go(func() {
		tick := time.NewTicker(sweepEvery)
		defer tick.Stop()
		for {
			if err := e.Sweep(e.ctx); err != nil && e.ctx.Err() == nil {
				e.options.Log.Warn("list sandboxes of E2B", "error", err)
			}
			select {
			case <-tick.C:
			case <-e.ctx.Done():
				return
			}
		}
	})
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
		if box.Metadata[tagOwner] != e.options.Owner || e.alive(box.Metadata[tagRun]) {
			continue
		}
		if err := e.remove(ctx, box.SandboxID); err != nil {
			return err
		}
		e.options.Log.Info("deleted a sandbox of E2B without a run", "sandbox", box.SandboxID, "run_id", box.Metadata[tagRun])
	}
	return nil
}
