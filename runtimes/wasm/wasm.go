// Package wasm runs WebAssembly modules that are WASI commands in pooled, sandboxed processes. Each run has its own
// instance. Each workspace has its own processes, which cache compiled modules. The WebAssembly engine runs inside the
// sandbox. This package only sends jobs to it.
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

// The engine replaces a worker after reuseRuns runs, after reuseAge, or after a run after which the worker uses more
// than reuseMemory. Workers are replaced because a module is untrusted machine code, so its effects on the process must
// not last.
const (
	reuseRuns   = 1000
	reuseAge    = 10 * time.Minute
	reuseMemory = 256 << 20
)

// The memory for compiling a module: a fixed amount in bytes, plus compilerFactor times the size of the module.
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
	// The guest applies the memory limit to the module's own memory. The kernel's limit is higher, because compilation
	// needs many times the size of the module. This memory does not count towards the limit of the program.
	overhead := compilerMemory + compilerFactor*int64(len(module))
	return e.pool.Run(ctx, worker.Task{Job: job, Payload: whole, Brief: brief, Program: brief.Program(), Overhead: overhead}, host)
}

// Warm does nothing. Workers are created on first use, so a server that runs no modules has none.
func (e *Engine) Warm(context.Context) error { return nil }

// Features lists the features that the engine supports.
func (e *Engine) Features() []runtimes.Feature {
	return []runtimes.Feature{runtimes.StrictFeature}
}

// Stats counts the engine's workers.
func (e *Engine) Stats() worker.Stats { return e.pool.Stats() }

// Close ends all runs and waits until all their processes have ended.
func (e *Engine) Close() { e.pool.Close() }
