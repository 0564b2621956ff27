// Package elsewhere contains the code that the engines for remote services share.
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

// Level is the isolation level of programs that run at a remote service, where this server cannot check the isolation.
const Level = "remote"

const sweepEvery = time.Minute

// Service describes a remote service: its name in messages, and the form in which it lists granted hosts.
type Service struct {
	Name    string
	Runtime runtimes.Name
	Host    func(hostpattern.Grant) string // converts a grant to the form of the service; "" if the service cannot grant it
}

// Refuse returns the error for a program with language rules or bound secrets, because a remote service cannot apply
// them. The workspace and not the version defines them, so they are checked for each run.
func (s Service) Refuse(job runtimes.Job) *runtimes.ProgramError {
	switch {
	case job.Rules != nil: // a workspace may set rules for all programs
		return &runtimes.ProgramError{
			Type: runtimes.Denied, Message: "This program is subject to language rules, which the runtime " + string(s.Runtime) + " cannot enforce.", Rule: "rules", Remedy: "Use the runtime auto.",
		}
	case len(job.Bound) > 0:
		return &runtimes.ProgramError{
			Type: runtimes.Denied, Message: "The secret " + job.Bound[0].Name + " is bound to a host, which only the network of this server can add.", Rule: "secrets.bind",
			Remedy: "Remove the secret from the program, or choose another runtime.",
		}
	}
	return nil
}

// Hosts returns the granted hosts in the form of the service, or an error if the service cannot grant one of them. Services
// compare names without ports, so only the ports of HTTP and HTTPS can be granted.
func (s Service) Hosts(job runtimes.Job, ceiling hostpattern.Ceiling) ([]string, *runtimes.ProgramError) {
	allowed := []string{}
	for _, text := range job.Capabilities.Hosts {
		grant, err := hostpattern.ParseGrant(text)
		if err != nil {
			continue // a grant that is no longer valid allows nothing
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

// WebHost returns the host of a grant without its port. It returns "" if the port is not that of HTTP or HTTPS.
func WebHost(grant hostpattern.Grant) string {
	text := grant.String()
	at := strings.LastIndexByte(text, ':')
	if at < 0 || text[at+1:] != "80" && text[at+1:] != "443" || strings.HasPrefix(text, "[") {
		return ""
	}
	return text[:at]
}

// NameOnly returns the same as WebHost, but "" if the host is an IP address.
func NameOnly(grant hostpattern.Grant) string {
	host := WebHost(grant)
	if net.ParseIP(host) != nil {
		return ""
	}
	return host
}

// Remote sets the isolation level of an outcome to Level.
func Remote(outcome runtimes.Outcome) runtimes.Outcome {
	outcome.Level = Level
	return outcome
}

// OrEmpty returns *outcome, or an empty outcome if the pointer is nil.
func OrEmpty(outcome *runtimes.Outcome) runtimes.Outcome {
	if outcome == nil {
		return runtimes.Outcome{}
	}
	return *outcome
}

// Options configures an Engine.
type Options struct {
	Client *http.Client // HTTP client; nil: a client that does not follow redirects
	Log    *slog.Logger
}

// Engine is the common part of the engines: an HTTP client, the names of the jobs and sandboxes that runs use, and a
// goroutine that removes unused ones. It is safe for concurrent use.
type Engine struct {
	HTTP *http.Client
	Log  *slog.Logger

	ctx    context.Context // ends when the engine closes
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
		o.Client = &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone(), CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }} //nolint:forcetypeassert // it always is an *http.Transport
	}
	ctx, stop := context.WithCancel(context.Background())
	return &Engine{HTTP: o.Client, Log: o.Log, ctx: ctx, stop: stop, used: map[string]struct{}{}}
}

// Bound returns a context that is also cancelled when the engine closes. The caller must cancel it.
func (e *Engine) Bound(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(e.ctx, func() { cancel(context.Canceled) })
	return ctx, func(cause error) {
		stop()
		cancel(cause)
	}
}

// Enter records that a run may use the job or sandbox that has this name.
func (e *Engine) Enter(name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.used[name] = struct{}{}
}

// Leave records that no run uses the job or sandbox any more.
func (e *Engine) Leave(name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.used, name)
}

// Uses reports whether a run may use the job or sandbox.
func (e *Engine) Uses(name string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, ok := e.used[name]
	return ok
}

// Clean calls sweep now and every minute until the engine closes. sweep removes the jobs or sandboxes that no run uses.
// Such jobs or sandboxes remain if a server process was killed or a removal failed. what is their name in log messages.
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

// Warm does nothing, because a job or sandbox that is started in advance costs money.
func (e *Engine) Warm(context.Context) error { return nil }

// Features lists the features that the engines for remote services support.
func (e *Engine) Features() []runtimes.Feature {
	return []runtimes.Feature{runtimes.FilesFeature, runtimes.HostsFeature, runtimes.SubprocessFeature, runtimes.StrictFeature}
}

// Stats returns zeros: there are no workers.
func (e *Engine) Stats() worker.Stats { return worker.Stats{} }

// Close cancels all runs and waits until the goroutine of Clean has ended.
func (e *Engine) Close() {
	e.stop()
	e.joined.Wait()
}
