// Package wasm runs WebAssembly modules that are WASI commands in pooled, sandboxed processes. Each run has its own
// instance. Each workspace has its own processes, which cache compiled modules. The WebAssembly engine runs inside the
// sandbox. This package only chooses the messages sent there.
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

// The engine replaces a worker after a number of runs, after a period of time, or after a run that leaves it with much
// memory. A module is untrusted machine code, so nothing that it leaves in the process may persist.
const (
	reuseRuns   = 1000
	reuseAge    = 10 * time.Minute
	reuseMemory = 256 << 20
)

// These constants are the engine's own memory: a fixed amount, plus a multiple of the module's size for compilation.
const (
	compilerMemory = 32 << 20
	compilerFactor = 16
)

// Options configures an Engine.
type Options struct {
	Jailer worker.Jailer
	Max    int // maximum number of workers; default 16
	Log    *slog.Logger
}

// Engine runs WebAssembly modules. It is safe for concurrent use.
type Engine struct{ pool *worker.Pool }

// New returns an engine. The caller must close it.
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
	// The guest applies the memory limit to the module's own memory. Compilation needs many times the module's size,
	// and the program does not control that, so the kernel's limit includes the overhead.
	overhead := compilerMemory + compilerFactor*int64(len(module))
	return e.pool.Run(ctx, worker.Task{Job: job, Payload: whole, Brief: brief, Program: brief.Program(), Overhead: overhead}, host)
}

// Warm does nothing. Workers are created on first use, so a server that runs no modules has none.
func (e *Engine) Warm(context.Context) error { return nil }

// Features lists the features of programs that the engine has.
func (e *Engine) Features() []runtimes.Feature {
	return []runtimes.Feature{runtimes.StrictFeature}
}

// Stats counts the engine's workers.
func (e *Engine) Stats() worker.Stats { return e.pool.Stats() }

// Close ends every run and waits until all their processes are gone.
func (e *Engine) Close() { e.pool.Close() }
