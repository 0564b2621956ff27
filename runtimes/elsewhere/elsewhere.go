// Package elsewhere has the common parts of engines that run programs at other services.
package elsewhere

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/atelier-run/atelier/internal/hostpattern"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/worker"
)

// Level is the isolation of a program that runs elsewhere.
const Level = "remote"

const sweepEvery = time.Minute

// Service names a service in messages, and knows how it lists hosts.
type Service struct {
	Name    string
	Runtime runtimes.Name
	Host    func(hostpattern.Grant) string // a grant as the service has it, "" if it cannot grant it
}

// Refuse refuses programs that need rules or bound secrets, which a service cannot apply. A version does not
// declare these needs, so they are checked for each run.
func (s Service) Refuse(job runtimes.Job) *runtimes.ProgramError {
	switch {
	case job.Rules != nil: // a workspace may have them for all programs
		return &runtimes.ProgramError{
			Type: runtimes.Denied, Message: "This program must follow the rules of its language, which the runtime " + string(s.Runtime) + " does not apply.", Rule: "rules", Remedy: "Use the runtime auto.",
		}
	case len(job.Bound) > 0:
		return &runtimes.ProgramError{
			Type: runtimes.Denied, Message: "The secret " + job.Bound[0].Name + " is bound to a host, which only the network of this server can add.", Rule: "secrets.bind",
			Remedy: "Remove the secret from the program, or choose another runtime.",
		}
	}
	return nil
}

// Hosts returns the hosts that the service lets the program reach. Services compare names without ports, so only the ports
// of HTTP and HTTPS can be granted.
func (s Service) Hosts(job runtimes.Job, ceiling hostpattern.Ceiling) ([]string, *runtimes.ProgramError) {
	allowed := []string{}
	for _, text := range job.Capabilities.Hosts {
		grant, err := hostpattern.ParseGrant(text)
		if err != nil {
			continue // a grant that is invalid today allows nothing
		}
		name := s.Host(grant)
		if name == "" {
			return nil, &runtimes.ProgramError{
				Type: runtimes.Denied, Rule: "capabilities.hosts", Message: s.Name + " cannot grant " + text + ".", Remedy: "Grant names with port 80 or 443 only, or choose another runtime.",
			}
		}
		if !ceiling.Allows(grant) {
			return nil, &runtimes.ProgramError{
				Type: runtimes.Denied, Rule: "egress-hosts", Message: "The host " + text + " must not be granted in this workspace.", Remedy: "Ask the operator of the server to add it to --egress-hosts.",
			}
		}
		allowed = append(allowed, name)
	}
	slices.Sort(allowed)
	return slices.Compact(allowed), nil
}

// WebHost returns the host of a grant without its port, "" if the port is not that of HTTP or HTTPS.
func WebHost(grant hostpattern.Grant) string {
	text := grant.String()
	at := strings.LastIndexByte(text, ':')
	if at < 0 || text[at+1:] != "80" && text[at+1:] != "443" || strings.HasPrefix(text, "[") {
		return ""
	}
	return text[:at]
}

// NameOnly returns the host of WebHost if it is a name, "" for an address.
func NameOnly(grant hostpattern.Grant) string {
	host := WebHost(grant)
	if net.ParseIP(host) != nil {
		return ""
	}
	return host
}

// Remote marks an outcome as that of a program elsewhere.
func Remote(outcome runtimes.Outcome) runtimes.Outcome {
	outcome.Level = Level
	return outcome
}

// OrEmpty returns the outcome, or an empty one if it is nil.
func OrEmpty(outcome *runtimes.Outcome) runtimes.Outcome {
	if outcome == nil {
		return runtimes.Outcome{}
	}
	return *outcome
}

// Options configures an Engine.
type Options struct {
	Client *http.Client // nil for one that follows no redirections
	Log    *slog.Logger
}

// Engine is the part that such engines share: a client, the list of what their runs use, and a janitor for the rest. It is
// safe for concurrent use.
type Engine struct {
	HTTP *http.Client
	Log  *slog.Logger

	ctx    context.Context // ends with the engine
	stop   context.CancelFunc
	joined sync.WaitGroup

	mu   sync.Mutex
	used map[string]struct{}
}

// New returns an engine. The caller must close it.
func New(o Options) *Engine {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Client == nil {
		o.Client = &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone(), CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }} //nolint:forcetypeassert // it is one
	}
	ctx, stop := context.WithCancel(context.Background())
	return &Engine{HTTP: o.Client, Log: o.Log, ctx: ctx, stop: stop, used: map[string]struct{}{}}
}

// Bound returns a context that also ends with the engine. The caller must cancel it.
func (e *Engine) Bound(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(e.ctx, func() { cancel(context.Canceled) })
	return ctx, func(cause error) {
		stop()
		cancel(cause)
	}
}

// Enter notes that a run may use a thing at the service.
func (e *Engine) Enter(name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.used[name] = struct{}{}
}

// Leave notes that no run uses the thing any more.
func (e *Engine) Leave(name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.used, name)
}

// Uses reports whether a run may use the thing.
func (e *Engine) Uses(name string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, ok := e.used[name]
	return ok
}

// Clean calls sweep now and every minute until the engine closes. The sweep removes the sandboxes or jobs that no run uses:
// those of a process that was killed, and those that could not be removed before. The log names them with what.
func (e *Engine) Clean(what string, sweep func(context.Context) error) {
	e.joined.Go(func() {
		tick := time.NewTicker(sweepEvery)
		defer tick.Stop()
		for {
			if err := sweep(e.ctx); err != nil && e.ctx.Err() == nil {
				e.Log.Warn("list "+what, "error", err)
			}
			select {
			case <-tick.C:
			case <-e.ctx.Done():
				return
			}
		}
	})
}

// Warm does nothing: programs elsewhere cost money from their start.
func (e *Engine) Warm(context.Context) error { return nil }

// Features lists the features of programs that such engines have.
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
