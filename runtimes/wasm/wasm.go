// Package wasm runs WebAssembly modules, WASI commands, in pooled, jailed processes: each run has an instance of its own,
// each workspace processes of its own, which keep what they compiled. The engine itself is in the jail; this package only
// says what is sent there.
package wasm

import (
	"context"
	"log/slog"
	"time"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/runtimes/wasm/guest"
	"github.com/atelier-run/atelier/runtimes/worker"
)

// A worker is replaced after so many runs, so long, or a run after which it holds so much memory: a module is foreign
// machine code, and what it may have left in the process does not stay.
const (
	reuseRuns   = 1000
	reuseAge    = 10 * time.Minute
	reuseMemory = 256 << 20
)

// What the engine takes for itself: a little, and a multiple of the module to compile it.
const (
	compilerMemory = 32 << 20
	compilerFactor = 16
)

// Options of an Engine.
type Options struct {
	Jailer worker.Jailer
	Max    int // workers together; default 16
	Log    *slog.Logger
}

// Engine is the runtime. It is safe for concurrent use.
type Engine struct{ pool *worker.Pool }

// New returns an engine; Close it.
func New(options Options) *Engine {
	return &Engine{pool: worker.NewPool(worker.Options{
		Jailer: options.Jailer, Max: options.Max, Log: options.Log,
		Profile: sandbox.Profile{Role: guest.RoleName, Filter: sandbox.FilterCompiler, Limits: runtimes.DefaultLimits()},
		Reuse:   worker.Reuse{Runs: reuseRuns, Age: reuseAge, Memory: reuseMemory},
	})}
}

// Run implements runtimes.Runtime.
func (e *Engine) Run(ctx context.Context, job runtimes.Job, host runtimes.Host) (runtimes.Outcome, error) {
	module, ok := job.Files[job.Entrypoint]
	if !ok {
		return runtimes.Failed(runtimes.RuntimeError, "The entrypoint does not exist."), nil
	}
	brief := guest.Job{Brief: true, Name: job.Entrypoint, Digest: job.CodeDigest, Input: job.Input, Environment: job.Environment, Limits: job.Limits}
	whole := brief
	whole.Module, whole.Brief = module, false
	// The limit is that of the module's own memory, which the guest keeps. To compile takes the engine more, by far, than
	// the module is large, and is no doing of the program: the kernel's limit leaves room for it.
	overhead := compilerMemory + compilerFactor*int64(len(module))
	return e.pool.Run(ctx, worker.Task{Job: job, Payload: whole, Brief: brief, Program: brief.Program(), Overhead: overhead}, host)
}

// Warm does nothing: workers are made when they are first needed, and a server that runs no modules has none.
func (e *Engine) Warm(context.Context) error { return nil }

// Stats counts the engine's workers.
func (e *Engine) Stats() worker.Stats { return e.pool.Stats() }

// Close ends every run and waits until nothing is left of them.
func (e *Engine) Close() { e.pool.Close() }
