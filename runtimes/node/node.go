// Package node runs JavaScript and TypeScript programs in V8: each in a fresh jail, in a Node that was started ahead of the
// run and has seen nothing but our own guest script. It knows the contract of a program, and neither frames nor namespaces.
package node

import (
	"context"
	_ "embed" // the guest script
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/egress"
	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/runtimes/sandbox/program"
	"github.com/atelier-run/atelier/runtimes/worker"
)

//go:embed guest.js
var outer string

// inner is a function that the guest script names.
//
//go:embed inner.js
var inner string

// Options of an Engine.
type Options struct {
	Jailer      worker.Jailer
	Egress      *egress.Proxy // of fetch; nil is one of the engine's own
	Interpreter string        // absolute path of node
	Memory      int64         // limit of most programs, for which processes are started ahead; default 256 MiB
	Idle        int           // processes that wait started; default 2
	Guest       string        // a workspace whose runs are no reason to start processes ahead
	Max         int           // jails together, waiting and running; default 16
	Log         *slog.Logger
}

// Engine is the runtime. It is safe for concurrent use.
type Engine struct {
	interpreter string
	unavailable error
	version     version
	bundler     *bundler
	ahead       *worker.Pool // of programs with the usual limit of memory
	fresh       *worker.Pool // of others: the size of V8's heap is fixed when it starts
	parents     *worker.Pool // of programs that may start others
	memory      int64
	egress      *egress.Proxy
}

// restAfter is when no process waits any more: two of them take as much memory as the whole server.
const restAfter = 10 * time.Minute

// New starts an engine; Close it. A Node that is not there, or too old, makes every run fail with runtime_unavailable.
func New(options Options) *Engine {
	interpreter, err := program.FindInterpreter(options.Interpreter)
	if err != nil {
		return &Engine{unavailable: unavailable(err)}
	}
	if options.Idle <= 0 {
		options.Idle = 2
	}
	if options.Memory <= 0 {
		options.Memory = runtimes.DefaultLimits().MemoryBytes
	}
	if options.Egress == nil {
		options.Egress = egress.New(egress.Options{})
	}
	profile := sandbox.Profile{
		Role: program.Name, Filter: sandbox.FilterAlone, Proc: true, Mounts: interpreter.Mounts, Launcher: "node",
		DiskBytes: runtimes.DefaultLimits().DiskBytes, Limits: runtimes.DefaultLimits(),
	}
	profile.Limits.MemoryBytes += overhead
	e := &Engine{interpreter: interpreter.Path, bundler: newBundler(options), memory: options.Memory, egress: options.Egress}
	ahead := e.start(options.Memory)
	ahead.Ahead = true
	e.ahead = worker.NewPool(worker.Options{
		Jailer: options.Jailer, Idle: options.Idle, Rest: restAfter, Guest: options.Guest, Max: options.Max, Log: options.Log, Profile: profile, Prelude: ahead,
	})
	e.fresh = worker.NewPool(worker.Options{Jailer: options.Jailer, Max: options.Max, Log: options.Log, Profile: profile})
	profile.Filter, profile.Launcher = sandbox.FilterProgram, "node with subprocesses"
	e.parents = worker.NewPool(worker.Options{Jailer: options.Jailer, Max: options.Max, Log: options.Log, Profile: profile})
	return e
}

// start is how a process begins for programs with a limit of memory.
func (e *Engine) start(memory int64) program.Job {
	return program.Job{Argv: slices.Concat([]string{e.interpreter}, flags(memory), []string{"-e", script()}), Env: program.Environment()}
}

// script is the guest as Node gets it on its command line.
func script() string {
	return "const inner = " + strings.TrimSpace(inner) + ";\n" + outer
}

// Interpreter is the path of the interpreter, "" if there is none.
func (e *Engine) Interpreter() string { return e.interpreter }

// startMessage is what the guest script waits for. The input is text: JSON.parse would round its numbers.
type startMessage struct {
	Entry   string            `json:"entry"`
	Files   []string          `json:"files,omitempty"`
	Code    string            `json:"code"`
	Map     json.RawMessage   `json:"map,omitempty"`
	Input   string            `json:"input"`
	Env     map[string]string `json:"env"`
	Largest int64             `json:"largest"`
}

// Run implements runtimes.Runtime.
func (e *Engine) Run(ctx context.Context, job runtimes.Job, host runtimes.Host) (runtimes.Outcome, error) {
	if err := e.fit(ctx); err != nil {
		return runtimes.Outcome{}, err
	}
	if err := program.CheckEnvironment(job.Environment); err != nil {
		return runtimes.Outcome{}, err
	}
	if _, ok := job.Files[job.Entrypoint]; !ok {
		return runtimes.Failed(runtimes.RuntimeError, fmt.Sprintf("The entrypoint %q does not exist.", job.Entrypoint)), nil
	}
	bundled, refused, err := e.bundler.bundle(ctx, job)
	if err != nil || refused != nil {
		return orEmpty(refused), err
	}
	input := string(job.Input)
	if input == "" {
		input = "null"
	}
	environment := job.Environment
	if environment == nil {
		environment = map[string]string{}
	}
	start, err := program.JSON(startMessage{
		Entry: job.Entrypoint, Files: slices.Sorted(maps.Keys(job.Files)), Code: bundled.Code, Map: bundled.Map,
		Input: input, Env: environment, Largest: job.Limits.OutputBytes,
	})
	if err != nil {
		return runtimes.Outcome{}, err
	}
	session := e.egress.Open(job, host)
	defer session.Close()
	payload := program.Job{Files: job.Files, Start: start, Largest: job.Limits.OutputBytes, Rlimits: program.LimitsOf(job.Limits, stackBytes)}
	outcome, err := e.run(ctx, job, payload, session)
	session.Settle(outcome.Error)
	return outcome, err
}

// run runs a program in a process of its own.
func (e *Engine) run(ctx context.Context, job runtimes.Job, payload program.Job, session runtimes.Host) (runtimes.Outcome, error) {
	pool := e.ahead
	if job.Capabilities.Subprocess || job.Limits.MemoryBytes != e.memory {
		started := e.start(job.Limits.MemoryBytes)
		payload.Argv, payload.Env = started.Argv, started.Env
		pool = e.fresh
	}
	if job.Capabilities.Subprocess {
		pool = e.parents
	}
	said := new(words)
	return pool.Run(ctx, worker.Task{Job: job, Payload: payload, Overhead: overhead, Tap: said.listen, LastStderr: lastGCs, Interpret: said.interpret}, session)
}

// orEmpty is an outcome that there may be none of.
func orEmpty(outcome *runtimes.Outcome) runtimes.Outcome {
	if outcome == nil {
		return runtimes.Outcome{}
	}
	return *outcome
}

// Warm waits until a process is ready for a run.
func (e *Engine) Warm(ctx context.Context) error {
	if err := e.fit(ctx); err != nil {
		return err
	}
	return e.ahead.Warm(ctx)
}

// fit says why there is no Node, or none that will do.
func (e *Engine) fit(ctx context.Context) error {
	if e.unavailable != nil {
		return e.unavailable
	}
	return e.version.check(ctx, e.fresh, e.interpreter)
}

// Stats counts the engine's workers.
func (e *Engine) Stats() worker.Stats {
	if e.unavailable != nil {
		return worker.Stats{}
	}
	return e.ahead.Stats().Plus(e.fresh.Stats()).Plus(e.parents.Stats()).Plus(e.bundler.pool.Stats())
}

// Close ends every run and waits until nothing is left of them.
func (e *Engine) Close() {
	if e.unavailable == nil {
		e.ahead.Close()
		e.fresh.Close()
		e.parents.Close()
		e.bundler.pool.Close()
	}
}
