// Package goja runs JavaScript and TypeScript programs in pooled, sandboxed processes. Each run has its own VM, and
// each workspace has its own processes. The JavaScript engine runs inside the sandbox. This package only sends jobs to
// these processes and, if one dies, determines the cause.
package goja

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/bundle"
	"github.com/atelier-run/atelier/runtimes/egress"
	"github.com/atelier-run/atelier/runtimes/goja/guest"
	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/runtimes/worker"
)

// Limits after which the engine replaces a worker: number of runs, age, and peak memory of a run in bytes. Changes that
// a hostile program makes in the process therefore do not last. The limits are high, because starting a worker costs as
// much CPU time as a few hundred runs.
const (
	reuseRuns   = 5000
	reuseAge    = 10 * time.Minute
	reuseMemory = 192 << 20
)

// grace is the time between the interrupt of a program and the kill of its process. An interrupted program stops at its
// next instruction and reports its line.
const grace = 250 * time.Millisecond

// Options configures an Engine.
type Options struct {
	Jailer worker.Jailer
	Egress *egress.Proxy // proxy for fetch; nil: the engine creates its own
	Idle   int           // number of idle workers; default 2
	Max    int           // maximum number of workers; default 16
	Log    *slog.Logger
}

// Engine runs JavaScript and TypeScript programs. It is safe for concurrent use.
type Engine struct {
	pool   *worker.Pool
	egress *egress.Proxy
}

// New starts an engine. The caller must close it.
func New(options Options) *Engine {
	if options.Idle <= 0 {
		options.Idle = 2
	}
	if options.Egress == nil {
		options.Egress = egress.New(egress.Options{})
	}
	return &Engine{egress: options.Egress, pool: worker.NewPool(worker.Options{
		Jailer: options.Jailer, Idle: options.Idle, Max: options.Max, Log: options.Log,
		Profile: sandbox.Profile{Role: guest.RoleName, Filter: sandbox.FilterWorker, Limits: runtimes.DefaultLimits()},
		Reuse:   worker.Reuse{Runs: reuseRuns, Age: reuseAge, Memory: reuseMemory},
	})}
}

// Run implements runtimes.Runtime.
func (e *Engine) Run(ctx context.Context, job runtimes.Job, host runtimes.Host) (runtimes.Outcome, error) {
	brief := guest.Job{
		Entrypoint: job.Entrypoint, Language: job.Language, Digest: job.CodeDigest,
		Input: job.Input, Environment: job.Environment, Limits: job.Limits, Restricted: job.Rules != nil,
	}
	if job.Packages != nil && brief.Digest != "" {
		brief.Digest += " " + job.Packages.Digest
	}
	// Build the job only if the worker needs it: packages have thousands of files, and most workers already have the
	// program.
	whole := func() any {
		all := brief
		all.Files = bundle.Texts(job)
		return all
	}
	session := e.egress.Open(job, host)
	defer session.Close()
	outcome, err := e.pool.Run(ctx, worker.Task{
		Job: job, Payload: whole, Brief: brief, Program: brief.Program(), Prompt: true, Grace: grace, Death: death,
	}, session)
	session.Settle(outcome.Error)
	return outcome, err
}

// death returns the error for a worker that died of a stack overflow. If the parser overflowed, the cause is the source
// text; otherwise it is the running program. For other deaths it returns nil.
func death(exit sandbox.Exit) *runtimes.ProgramError {
	if !strings.Contains(exit.Stderr, "stack overflow") && !strings.Contains(exit.Stderr, "stack exceeds") {
		return nil
	}
	for _, parser := range []string{"esbuild/internal/", "goja/parser.", "goja.(*compiler)", "goja.CompileAST"} {
		if strings.Contains(exit.Stderr, parser) {
			return &runtimes.ProgramError{
				Type: runtimes.SyntaxError, Message: "The source is nested too deeply.", Remedy: "Reduce the nesting of brackets and expressions.",
			}
		}
	}
	return nil
}

// Warm waits until there is an idle worker.
func (e *Engine) Warm(ctx context.Context) error { return e.pool.Warm(ctx) }

// Features returns the features that the engine supports.
func (e *Engine) Features() []runtimes.Feature {
	return []runtimes.Feature{runtimes.FilesFeature, runtimes.PackagesFeature, runtimes.HostsFeature, runtimes.ToolsFeature, runtimes.ProjectsFeature, runtimes.RulesFeature, runtimes.StrictFeature}
}

// Stats counts the engine's workers.
func (e *Engine) Stats() worker.Stats { return e.pool.Stats() }

// Close ends every run and waits until all their processes are gone.
func (e *Engine) Close() { e.pool.Close() }
