// Package monty runs Python programs in Monty, an interpreter of a subset of Python without files, network or packages.
// Each program runs in a new sandbox, in an interpreter that was started in advance. This package only sends jobs to it.
package monty

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/egress"
	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/monty/guest"
	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/runtimes/sandbox/program"
	"github.com/atelier-run/atelier/runtimes/worker"
)

// Paths in the sandbox.
const (
	binary      = "/opt/atelier"
	interpreter = "/opt/monty"
)

const (
	overhead  = 96 << 20 // bytes of memory for the interpreter and the guest process, in addition to the program's limit
	processes = 64       // limit of the threads of both processes; a program cannot start threads
)

// Remedy explains how to install the interpreter.
const Remedy = "Monty was not found. Install it with `pip install pydantic-monty-runtime==1.4.0` and set the path of its program with `--monty`."

// Options configures an Engine.
type Options struct {
	Jailer      worker.Jailer
	Egress      *egress.Proxy // proxy for fetch; nil: the engine creates its own
	Interpreter string        // absolute path of monty; "" for none
	Exe         string        // path of the server's binary; "" for the running one
	Idle        int           // number of started interpreters that wait for a run; default 1
	Max         int           // maximum number of sandboxes; default 16
	Log         *slog.Logger
}

// Engine runs programs in Monty. It is safe for concurrent use.
type Engine struct {
	options     Options
	path        string
	unavailable error

	mu     sync.Mutex
	pool   *worker.Pool // nil before the first job
	copies []string     // temporary directories with copies of binaries
	closed bool
}

// New starts an engine. The caller must close it. Without an interpreter every run fails with runtime_unavailable.
func New(options Options) *Engine {
	e := &Engine{options: options}
	path, err := find(options.Interpreter)
	if err != nil {
		e.unavailable = &fault.Error{Code: fault.RuntimeUnavailable, Message: Remedy, Err: err}
		return e
	}
	e.path = path
	if options.Idle <= 0 {
		e.options.Idle = 1
	}
	if options.Egress == nil {
		e.options.Egress = egress.New(egress.Options{})
	}
	return e
}

// find returns the path of the interpreter without symbolic links, or an error if the file is not an executable program.
func find(path string) (string, error) {
	if !filepath.IsAbs(path) {
		return "", fmt.Errorf("monty %q: not an absolute path", path)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", fmt.Errorf("monty: %w", err)
	}
	info, err := os.Stat(real)
	if err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return "", fmt.Errorf("monty %s: not a program", path)
	}
	return real, nil
}

// Interpreter returns the path of the interpreter, or "" if there is none.
func (e *Engine) Interpreter() string { return e.path }

// workers returns the pool. It creates the pool at the first call, so that a server without Monty programs starts no
// interpreter.
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
	mounts, err := e.mounts()
	if err != nil {
		return nil, &fault.Error{Code: fault.SandboxUnavailable, Message: "The sandbox for Monty could not be prepared.", Err: err}
	}
	limits := runtimes.DefaultLimits()
	limits.MemoryBytes, limits.Processes = limits.MemoryBytes+overhead, processes
	e.pool = worker.NewPool(worker.Options{
		Jailer: e.options.Jailer, Idle: e.options.Idle, Max: e.options.Max, Log: e.options.Log,
		Profile: sandbox.Profile{
			Role: program.Name, Filter: sandbox.FilterProgram, Proc: true, Mounts: mounts, Launcher: "monty", DiskBytes: limits.DiskBytes, Limits: limits,
		},
		Prelude: program.Job{Ahead: true, Argv: []string{binary, guest.Argument, interpreter}, Env: append(program.Environment(), "GOMAXPROCS=1")},
	})
	return e.pool, nil
}

// mounts returns the mounts of the sandbox: the server's binary, the interpreter and the libraries that the interpreter
// loads.
func (e *Engine) mounts() ([]sandbox.Mount, error) {
	exe := e.options.Exe
	if exe == "" {
		var err error
		if exe, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	exe, err := filepath.EvalSymlinks(exe)
	if err != nil {
		return nil, err
	}
	mounts := []sandbox.Mount{{Host: "/usr", Path: "/usr"}, {Host: exe, Path: binary}, {Host: e.path, Path: interpreter}}
	for i := range mounts[1:] {
		mount := &mounts[1+i]
		if program.Reachable(mount.Host) {
			continue
		}
		dir, path, err := program.Copy(mount.Host)
		if dir != "" {
			e.copies = append(e.copies, dir)
		}
		if err != nil {
			return nil, err
		}
		mount.Host = path
	}
	return mounts, nil
}

// Run implements runtimes.Runtime.
func (e *Engine) Run(ctx context.Context, job runtimes.Job, host runtimes.Host) (runtimes.Outcome, error) {
	pool, err := e.workers()
	if err != nil {
		return runtimes.Outcome{}, err
	}
	source, ok := job.Files[job.Entrypoint]
	if !ok {
		return runtimes.Failed(runtimes.RuntimeError, fmt.Sprintf("The entrypoint %q does not exist.", job.Entrypoint)), nil
	}
	// Versions with rules cannot be published for this runtime, but a workspace may set rules for all programs.
	if job.Rules != nil {
		return runtimes.Outcome{Error: &runtimes.ProgramError{
			Type: runtimes.Denied, Message: "This program is subject to language rules, which Monty cannot enforce.", Rule: "rules", Remedy: "Use the runtime python.",
		}, Level: e.options.Jailer.Level()}, nil
	}
	waiting, refused := waited(job)
	if refused != nil {
		return runtimes.Outcome{Error: refused, Level: e.options.Jailer.Level()}, nil
	}
	input := job.Input
	if len(input) == 0 {
		input = json.RawMessage("null")
	}
	start, err := program.JSON(guest.Job{
		Entry: job.Entrypoint, Source: string(source), Input: input, Env: job.Environment,
		Memory: job.Limits.MemoryBytes, Recursion: job.Limits.RecursionDepth, Largest: job.Limits.OutputBytes,
		Resume: waiting,
	})
	if err != nil {
		return runtimes.Outcome{}, fault.Invalid("/input", "must be valid JSON.")
	}
	session := e.options.Egress.Open(job, host)
	defer session.Close()
	limited := job
	limited.Limits.Processes = max(job.Limits.Processes, processes)
	outcome, err := pool.Run(ctx, worker.Task{
		Job: limited, Overhead: overhead,
		Payload: program.Job{Start: start, Largest: job.Limits.OutputBytes, Rlimits: program.LimitsOf(limited.Limits, 0)},
		Interpret: func(result frames.Result) frames.Result {
			result, _ = program.Conclude(result, crash)
			return result
		},
	}, session)
	session.Settle(outcome.Error)
	return outcome, err
}

// waited returns the saved state of the program that a job continues, nil if the job starts from the beginning.
func waited(job runtimes.Job) (*guest.Waiting, *runtimes.ProgramError) {
	if job.Attach == "" {
		return nil, nil //nolint:nilnil // the job starts from the beginning
	}
	var waiting guest.Waiting
	if err := json.Unmarshal([]byte(job.Attach), &waiting); err != nil || len(waiting.State) == 0 {
		return nil, &runtimes.ProgramError{Type: runtimes.Interrupted, Message: "The server stopped while the program was waiting, and the saved state of the program cannot be read.", Remedy: "Run it again."}
	}
	if waiting.Maker != guest.Version {
		return nil, &runtimes.ProgramError{
			Type: runtimes.Interrupted, Message: fmt.Sprintf("The server stopped while the program was waiting. The state of the program was saved by Monty %.50s, but this server has Monty %s.", waiting.Maker, guest.Version), Remedy: "Run it again.",
		}
	}
	return &waiting, nil
}

// crash returns the error for a signal that ended the sandboxed process.
func crash(signal int) *runtimes.ProgramError {
	return &runtimes.ProgramError{Type: runtimes.RuntimeError, Message: fmt.Sprintf("Monty was killed by signal %d.", signal)}
}

// Warm waits until an interpreter is ready for a run.
func (e *Engine) Warm(ctx context.Context) error {
	pool, err := e.workers()
	if err != nil {
		return err
	}
	return pool.Warm(ctx)
}

// Features lists the features that the engine supports.
func (e *Engine) Features() []runtimes.Feature {
	return []runtimes.Feature{runtimes.HostsFeature, runtimes.ToolsFeature, runtimes.StrictFeature}
}

// Stats counts the engine's workers.
func (e *Engine) Stats() worker.Stats {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.pool == nil {
		return worker.Stats{}
	}
	return e.pool.Stats()
}

// Close ends all runs and waits until all their processes have ended.
func (e *Engine) Close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	if e.pool != nil {
		e.pool.Close()
	}
	for _, dir := range e.copies {
		_ = os.RemoveAll(dir) // if the removal fails, only temporary files remain
	}
}
