// Package remote runs programs at a service. The program names the service: another Atelier server, an MCP server or an
// HTTP service. The program, its input and its environment leave this machine. The rules for requests of programs also
// apply to requests to the service: they use the egress proxy, need a granted host, and can use the workspace's bound
// secrets.
package remote

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/egress"
	"github.com/atelier-run/atelier/runtimes/worker"
)

// Level is the isolation level of programs that run at a service, where this server cannot check the isolation.
const Level = "remote"

// startWithin is the default time in which a service must start a program. grace is added to the program's time limit,
// because requests over the network take time.
const (
	startWithin = time.Minute
	grace       = 5 * time.Second
)

// Options configures an Engine.
type Options struct {
	Egress  *egress.Proxy
	Backoff time.Duration // base of the random, growing pause before a request is repeated; default 200 ms
	Start   time.Duration // time in which a service must start a program; default startWithin
	Grace   time.Duration // addition to the program's time limit; default grace
	Now     func() time.Time
	Log     *slog.Logger
}

// Engine runs programs at services. It is safe for concurrent use.
type Engine struct {
	options Options
	breaker breaker
	ctx     context.Context // ends when the engine closes
	stop    context.CancelFunc
}

// New returns an engine. The caller must close it.
func New(options Options) *Engine {
	if options.Backoff == 0 {
		options.Backoff = 200 * time.Millisecond
	}
	if options.Start == 0 {
		options.Start = startWithin
	}
	if options.Grace == 0 {
		options.Grace = grace
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	ctx, stop := context.WithCancel(context.Background())
	return &Engine{options: options, breaker: breaker{now: options.Now, services: map[string]*broken{}}, ctx: ctx, stop: stop}
}

// Cancellation causes of a call: the program exceeded its time limit, or the program did not start in time.
var (
	errTime  = errors.New("the program reached its time limit")
	errStart = errors.New("the program did not start")
)

// Run implements runtimes.Runtime.
func (e *Engine) Run(ctx context.Context, job runtimes.Job, host runtimes.Host) (runtimes.Outcome, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(e.ctx, func() { cancel(context.Canceled) })()
	relay := worker.NewRelay(job, host)
	began := time.Now()
	outcome := e.run(ctx, cancel, job, host, relay)
	relay.Close()
	outcome.Level = Level
	took := time.Since(began)
	outcome.Usage.Start = min(max(outcome.Usage.Start, 0), took) // the service may report any time, so limit it
	outcome.Usage.Run = max(took-outcome.Usage.Start, 1)
	outcome.Usage.Remote = outcome.Usage.Run
	return outcome, nil
}

func (e *Engine) run(ctx context.Context, cancel context.CancelCauseFunc, job runtimes.Job, host runtimes.Host, relay *worker.Relay) runtimes.Outcome {
	if ctx.Err() != nil {
		return relay.Reached(runtimes.Cancelled)
	}
	service, err := Read(job.Files)
	if err != nil { // the file was checked when the program was saved, but a version from before that check may fail here
		return runtimes.Failed(runtimes.RuntimeError, fmt.Sprintf("The file %s does not define a service: %s", File, err))
	}
	// Versions with rules cannot be published for this runtime, but a workspace may set rules for all programs.
	if job.Rules != nil {
		return runtimes.Outcome{Error: &runtimes.ProgramError{
			Type: runtimes.Denied, Message: "This program is subject to language rules, which the runtime remote cannot enforce.", Rule: "rules", Remedy: "Use the runtime auto.",
		}}
	}
	session := e.options.Egress.Open(job, host)
	defer session.Close()
	c := &call{
		engine: e, service: service, job: job, host: host, relay: relay, key: job.Workspace + " " + service.target.String(), cancel: cancel,
		client: http.Client{Transport: traced{session.Transport()}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}
	if until, ok := e.breaker.allow(c.key); !ok {
		return c.failed(fmt.Sprintf("failed %d times in a row and is not called again before %s.", breakAfter, until.UTC().Format(time.TimeOnly)), "Try again later, and check that the service runs.")
	}
	c.timer = time.AfterFunc(e.options.Start, func() {
		if c.running.Load() {
			cancel(errTime)
		}
		cancel(errStart) // has no effect if the context already has a cause
	})
	defer c.timer.Stop()
	switch service.Protocol {
	case MCP:
		return c.mcp(ctx)
	case OpenAPI:
		return c.openAPI(ctx)
	case Atelier:
	}
	return c.atelier(ctx)
}

// limit returns the time limit of a program.
func limit(job runtimes.Job) time.Duration {
	return time.Duration(job.Limits.TimeoutMs) * time.Millisecond
}

// Warm does nothing: there are no workers.
func (e *Engine) Warm(context.Context) error { return nil }

// Features lists the features that the engine supports. The service still decides whether it grants them to a program.
func (e *Engine) Features() []runtimes.Feature {
	return []runtimes.Feature{runtimes.FilesFeature, runtimes.HostsFeature, runtimes.SubprocessFeature, runtimes.StrictFeature}
}

// Stats returns zeros: there are no workers.
func (e *Engine) Stats() worker.Stats { return worker.Stats{} }

// Close cancels every run.
func (e *Engine) Close() { e.stop() }
