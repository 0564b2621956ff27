// Package goja runs JavaScript and TypeScript programs in pooled, jailed processes: each run has a VM of its own, each
// workspace processes of its own. The engine itself is in the jail; this package only says what is sent there and what a
// worker's death means.
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

// A worker is replaced after so many runs, so long, or a run that took so much memory: what a hostile program may have
// left in the process does not stay. A new worker costs as much processor time as some hundred runs.
const (
	reuseRuns   = 5000
	reuseAge    = 10 * time.Minute
	reuseMemory = 192 << 20
)

// grace is what a program gets to stop at its next instruction and tell its line, before the process is killed.
const grace = 250 * time.Millisecond

// Options of an Engine.
type Options struct {
	Jailer worker.Jailer
	Egress *egress.Proxy // of fetch; nil is one of the engine's own
	Idle   int           // workers that wait unused; default 2
	Max    int           // workers together; default 16
	Log    *slog.Logger
}

// awake is about what a short program takes, there and back.
const awake = 150 * time.Microsecond

// Engine is the runtime. It is safe for concurrent use.
type Engine struct {
	pool   *worker.Pool
	egress *egress.Proxy
}

// New starts an engine; Close it.
func New(options Options) *Engine {
	if options.Idle <= 0 {
		options.Idle = 2
	}
	if options.Egress == nil {
		options.Egress = egress.New(egress.Options{})
	}
	return &Engine{egress: options.Egress, pool: worker.NewPool(worker.Options{
		Jailer: options.Jailer, Idle: options.Idle, Max: options.Max, Log: options.Log, Awake: awake,
		Profile: sandbox.Profile{Role: guest.RoleName, Filter: sandbox.FilterWorker, Limits: runtimes.DefaultLimits()},
		Reuse:   worker.Reuse{Runs: reuseRuns, Age: reuseAge, Memory: reuseMemory},
	})}
}

// Run implements runtimes.Runtime.
func (e *Engine) Run(ctx context.Context, job runtimes.Job, host runtimes.Host) (runtimes.Outcome, error) {
	brief := guest.Job{
		Entrypoint: job.Entrypoint, Language: job.Language, Digest: job.CodeDigest,
		Input: job.Input, Environment: job.Environment, Limits: job.Limits,
	}
	whole := brief
	whole.Files = bundle.Texts(job)
	session := e.egress.Open(job, host)
	defer session.Close()
	outcome, err := e.pool.Run(ctx, worker.Task{
		Job: job, Payload: whole, Brief: brief, Program: brief.Program(), Prompt: true, Grace: grace, Death: death,
	}, session)
	session.Settle(outcome.Error)
	return outcome, err
}

// death reads the last words of a worker. A parser that ran out of stack is the source's fault, anything else that did is
// the running program's.
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

// Warm waits until an idle worker is there.
func (e *Engine) Warm(ctx context.Context) error { return e.pool.Warm(ctx) }

// Stats counts the engine's workers.
func (e *Engine) Stats() worker.Stats { return e.pool.Stats() }

// Close ends every run and waits until nothing is left of them.
func (e *Engine) Close() { e.pool.Close() }
