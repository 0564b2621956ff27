// Package types reads the types of TypeScript and JavaScript programs with the native TypeScript compiler, and
// describes the types of main as JSON Schema. The compiler and the process that sends it requests (package guest) run
// in one sandbox, which is prepared in advance. No code of the program runs.
package types

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/runtimes/sandbox/program"
	"github.com/atelier-run/atelier/runtimes/types/guest"
	"github.com/atelier-run/atelier/runtimes/worker"
)

// Paths in the sandbox.
const (
	binary   = "/opt/atelier"
	compiler = "/opt/typescript"
)

const (
	memory    = 512 << 20 // maximum memory in bytes; a program whose types need more is rejected
	processes = 128       // the compiler starts a thread for each of its tasks
	rest      = 5 * time.Minute
)

// Remedy is the error message if there is no compiler. It explains how to install one.
const Remedy = "The TypeScript compiler was not found. Install it with `npm install -g typescript@7` and set the path of its native program, lib/tsc of @typescript/typescript-linux-x64, with --typescript."

// Options configures an Engine.
type Options struct {
	Jailer   worker.Jailer
	Compiler string // absolute path of the native compiler: tsc with its libraries next to it, or tsgo; "" for none
	Exe      string // path of the server's binary; "" for the running one
	Max      int    // maximum number of sandboxes; default 4
	Log      *slog.Logger
}

// Engine describes the types of programs. It is safe for concurrent use.
type Engine struct {
	unavailable error
	start       func() (*worker.Pool, error)

	mu     sync.Mutex
	pool   *worker.Pool // nil before the first job
	copied string       // directory with a copy of the server's binary, "" if no copy is needed
	closed bool
}

// New starts an engine. The caller must close it. Without a compiler every job fails with runtime_unavailable.
func New(options Options) *Engine {
	mounts, argv, err := find(options)
	if err != nil {
		return &Engine{unavailable: &fault.Error{Code: fault.RuntimeUnavailable, Message: Remedy, Err: err}}
	}
	if options.Max <= 0 {
		options.Max = 4
	}
	limits := runtimes.DefaultLimits()
	limits.MemoryBytes, limits.Processes = memory, processes
	e := &Engine{}
	e.start = func() (*worker.Pool, error) {
		if !program.Reachable(mounts[0].Host) {
			if err := e.copyBinary(&mounts[0]); err != nil {
				return nil, err
			}
		}
		return worker.NewPool(worker.Options{
			Jailer: options.Jailer, Idle: 1, Rest: rest, Max: options.Max, Log: options.Log,
			Profile: sandbox.Profile{
				Role: program.Name, Filter: sandbox.FilterProgram, Proc: true, Mounts: mounts, Launcher: "types", DiskBytes: limits.DiskBytes, Limits: limits,
			},
			Prelude: program.Job{Ahead: true, Argv: argv, Env: append(program.Environment(), "GOMAXPROCS=2")},
		}), nil
	}
	return e
}

// copyBinary copies the server's binary to a directory that all users can read, if its own directory is closed to other
// users.
func (e *Engine) copyBinary(mount *sandbox.Mount) error {
	dir, to, err := program.Copy(mount.Host)
	e.copied = dir
	if err != nil {
		return err
	}
	mount.Host = to
	return nil
}

// workers returns the pool of sandboxes. The first job starts the pool, so that commands that read no types need not
// wait for it.
func (e *Engine) workers() (*worker.Pool, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.unavailable != nil:
		return nil, e.unavailable
	case e.closed:
		return nil, fault.New(fault.ShuttingDown, "The server is shutting down.")
	case e.pool != nil:
		return e.pool, nil
	}
	pool, err := e.start()
	if err != nil {
		return nil, &fault.Error{Code: fault.SandboxUnavailable, Message: "The sandbox for the TypeScript compiler could not be prepared.", Err: err}
	}
	e.pool = pool
	return pool, nil
}

// find returns the mounts and the command line of the process that describes types.
func find(options Options) ([]sandbox.Mount, []string, error) {
	if !filepath.IsAbs(options.Compiler) {
		return nil, nil, fmt.Errorf("compiler %q: not an absolute path", options.Compiler)
	}
	real, err := filepath.EvalSymlinks(options.Compiler)
	if err != nil {
		return nil, nil, fmt.Errorf("compiler: %w", err)
	}
	if !program.Reachable(real) {
		return nil, nil, fmt.Errorf("compiler %s: is in a directory that other users cannot read", options.Compiler)
	}
	info, err := os.Stat(real)
	if err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return nil, nil, fmt.Errorf("compiler %s: not a program", options.Compiler)
	}
	exe := options.Exe
	if exe == "" {
		if exe, err = os.Executable(); err != nil {
			return nil, nil, err
		}
	}
	if exe, err = filepath.EvalSymlinks(exe); err != nil {
		return nil, nil, err
	}
	mounts, inside := []sandbox.Mount{{Host: exe, Path: binary}, {Host: real, Path: compiler}}, compiler
	// The compiler needs its libraries, which are in the same directory.
	if _, err := os.Stat(filepath.Join(filepath.Dir(real), "lib.es5.d.ts")); err == nil {
		mounts[1], inside = sandbox.Mount{Host: filepath.Dir(real), Path: compiler, Private: true}, compiler+"/"+filepath.Base(real)
	}
	return mounts, []string{binary, guest.Argument, inside}, nil
}

// Available reports whether a compiler was found.
func (e *Engine) Available() bool { return e.unavailable == nil }

// Run describes the types of a program. The output is a JSON object with inputSchema, outputSchema, source and notes,
// or with failed if the types cannot be described. It implements runtimes.Runtime.
func (e *Engine) Run(ctx context.Context, job runtimes.Job, host runtimes.Host) (runtimes.Outcome, error) {
	pool, err := e.workers()
	if err != nil {
		return runtimes.Outcome{}, err
	}
	start, err := program.JSON(guest.Job{Entry: job.Entrypoint})
	if err != nil {
		return runtimes.Outcome{}, err
	}
	job.Limits.MemoryBytes, job.Limits.Processes = max(job.Limits.MemoryBytes, memory), max(job.Limits.Processes, processes)
	return pool.Run(ctx, worker.Task{
		Job:       job,
		Payload:   program.Job{Files: job.Files, Start: start, Largest: job.Limits.OutputBytes, Rlimits: program.LimitsOf(job.Limits, 0)},
		Interpret: conclude,
	}, host)
}

// conclude converts the last message of the process to the result of the job.
func conclude(result frames.Result) frames.Result {
	result, report := program.Conclude(result, func(signal int) *runtimes.ProgramError {
		return &runtimes.ProgramError{Type: runtimes.RuntimeError, Message: fmt.Sprintf("The TypeScript compiler was killed by signal %d.", signal)}
	})
	if result.Error != nil && result.Error.Type == runtimes.RuntimeError && report.End == nil {
		result.Error.Message = "The TypeScript compiler failed on this program. Simplify its types."
	}
	if result.Error == nil && !json.Valid(result.Output) {
		result.Error = &runtimes.ProgramError{Type: runtimes.RuntimeError, Message: "The TypeScript compiler sent an answer that is not valid JSON."}
	}
	return result
}

// Close ends every job and waits until all processes have ended.
func (e *Engine) Close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	if e.pool != nil {
		e.pool.Close()
	}
	if e.copied != "" {
		_ = os.RemoveAll(e.copied) // a copy that remains in the temporary folder is harmless
	}
}
