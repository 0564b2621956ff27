// Package node runs JavaScript and TypeScript programs in V8. Each runs in a new sandbox, in a Node process that was
// started before the run and has executed only this package's guest script. The package implements the contract of a
// program. Package worker implements the protocol, and package sandbox the isolation.
package node

import (
	"context"
	"crypto/sha256"
	_ "embed" // the guest script
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/atelier-run/atelier/internal/lru"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/egress"
	"github.com/atelier-run/atelier/runtimes/node/guest"
	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/runtimes/sandbox/program"
	"github.com/atelier-run/atelier/runtimes/worker"
)

//go:embed guest.js
var outer string

// inner is the source of a function that the guest script uses under the name inner.
//
//go:embed inner.js
var inner string

// Options configures an Engine.
type Options struct {
	Jailer      worker.Jailer
	Egress      *egress.Proxy // proxy for fetch; nil: the engine creates its own
	Interpreter string        // absolute path of node
	Memory      int64         // memory limit of most programs, for which processes are started in advance; default 256 MiB
	Idle        int           // started processes that wait for a run; default 2
	Guest       string        // workspace of self-tests: its runs do not cause processes to be started in advance
	Max         int           // maximum number of sandboxes, waiting and running; default 16
	Log         *slog.Logger
}

// Engine runs JavaScript and TypeScript programs in Node. It is safe for concurrent use.
type Engine struct {
	interpreter string
	unavailable error
	version     version
	bundler     *bundler
	ahead       *worker.Pool               // for programs with the usual memory limit
	fresh       *worker.Pool               // for other limits: the size of V8's heap is fixed at its start
	parents     *worker.Pool               // for programs with the capability subprocess
	compiled    *lru.Cache[string, []byte] // programs compiled by V8
	memory      int64
	egress      *egress.Proxy
}

// restAfter is how long the engine must be without a run before it ends waiting processes. Two waiting processes use as
// much memory as the server itself.
const restAfter = 10 * time.Minute

// New starts an engine. The caller must close it. If Node is missing or too old, every run fails with
// runtime_unavailable.
func New(options Options) *Engine {
	interpreter, err := program.FindInterpreter(options.Interpreter)
	if err != nil {
		return &Engine{unavailable: unavailable(err), bundler: newBundler(options)}
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
		Role: program.Name, Filter: sandbox.FilterAlone, Proc: true, Mounts: interpreter.Mounts, Launcher: "node", Executables: interpreter.Executables,
		DiskBytes: runtimes.DefaultLimits().DiskBytes, Limits: runtimes.DefaultLimits(),
	}
	profile.Limits.MemoryBytes += overhead
	e := &Engine{interpreter: interpreter.Path, bundler: newBundler(options), compiled: lru.New[string, []byte](keptCompiled, compiledBytes), memory: options.Memory, egress: options.Egress}
	ahead := e.start(options.Memory)
	ahead.Ahead = true
	e.ahead = worker.NewPool(worker.Options{
		Jailer: options.Jailer, Idle: options.Idle, Rest: restAfter, Guest: options.Guest, Max: options.Max, Log: options.Log, Profile: profile, Prelude: ahead,
	})
	e.fresh = worker.NewPool(worker.Options{Jailer: options.Jailer, Max: options.Max, Log: options.Log, Profile: profile})
	profile.Filter, profile.Launcher, profile.Executables = sandbox.FilterProgram, "node with subprocesses", nil
	e.parents = worker.NewPool(worker.Options{Jailer: options.Jailer, Max: options.Max, Log: options.Log, Profile: profile})
	return e
}

// start returns the job that starts a Node process whose flags fit a memory limit.
func (e *Engine) start(memory int64) program.Job {
	return program.Job{Argv: slices.Concat([]string{e.interpreter}, flags(memory), []string{"-e", script()}), Env: program.Environment()}
}

// script returns the complete guest script for Node's command line.
func script() string {
	return "const inner = " + strings.TrimSpace(inner) + ";\n" + outer
}

// Inner returns the part of the guest script that shares objects with the program. It is the source of a JavaScript
// function that implements the contract of programs on any machine with Node. Its argument is an object with the functions
// that depend on the machine.
func Inner() string { return inner }

// Bundle returns the program of a job for Node, on this or another machine. If bundling fails, Bundle
// returns the outcome of the run instead.
func (e *Engine) Bundle(ctx context.Context, job runtimes.Job) (guest.Program, *runtimes.Outcome, error) {
	return e.bundler.bundle(ctx, job)
}

// Interpreter returns the path of the interpreter, or "" if there is none.
func (e *Engine) Interpreter() string { return e.interpreter }

// startMessage is the message that the guest script waits for. The input is text, because JSON.parse would round its
// numbers.
type startMessage struct {
	Entry string   `json:"entry"`
	Files []string `json:"files,omitempty"`
	Code  string   `json:"code"`
	// Encoding the map as base64 is faster than checking that it is JSON, and few runs read it.
	Map     []byte            `json:"map,omitempty"`
	Input   string            `json:"input"`
	Env     map[string]string `json:"env"`
	Largest int64             `json:"largest"`
	Modules []string          `json:"modules,omitempty"` // modules that the program may import; nil without rules

	Compiled []byte `json:"compiled,omitempty"` // the code as compiled by V8 in an earlier run
	Keep     bool   `json:"keep,omitempty"`     // whether to send the compiled code
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
	message := startMessage{
		Entry: job.Entrypoint, Files: slices.Sorted(maps.Keys(job.Files)), Code: bundled.Code, Map: bundled.Map,
		Input: input, Env: environment, Largest: job.Limits.OutputBytes, Modules: modules(job),
	}
	key := compiledKey(job, bundled.Code)
	message.Compiled, _ = e.compiled.Get(key)
	message.Keep = key != "" && message.Compiled == nil
	start, err := program.JSON(message)
	if err != nil {
		return runtimes.Outcome{}, err
	}
	session := e.egress.Open(job, host)
	defer session.Close()
	payload := program.Job{Files: job.Files, Start: start, Largest: job.Limits.OutputBytes, Keep: message.Keep, Rlimits: program.LimitsOf(job.Limits, stackBytes)}
	said := new(words)
	outcome, err := e.run(ctx, job, payload, said, session)
	if message.Keep && len(said.kept) > 0 {
		e.compiled.Put(key, said.kept, len(said.kept))
	}
	session.Settle(outcome.Error)
	return outcome, err
}

// Bounds for caching programs that V8 has compiled: minimum source size in bytes, number of programs, total bytes.
// Compiling a smaller program takes less time than sending its compiled form.
const (
	minCompiled   = 64 << 10
	keptCompiled  = 64
	compiledBytes = 32 << 20
)

// compiledKey returns the cache key of a compiled program, or "" if the program is not cached. The key contains a
// digest of the code, because V8 compares only the length of the code. It contains the memory limit, because V8 rejects
// a form that was compiled with other settings, such as another heap size.
func compiledKey(job runtimes.Job, code string) string {
	if len(code) < minCompiled || job.CodeDigest == "" || job.Workspace == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(code))
	return fmt.Sprintf("%s %x %d", job.Workspace, sum, job.Limits.MemoryBytes)
}

// modules returns the modules that a program with rules may import, nil without rules.
func modules(job runtimes.Job) []string {
	if job.Rules == nil {
		return nil
	}
	return runtimes.RestrictedModules()
}

// run runs a program in its own process.
func (e *Engine) run(ctx context.Context, job runtimes.Job, payload program.Job, said *words, session runtimes.Host) (runtimes.Outcome, error) {
	pool := e.ahead
	if job.Capabilities.Subprocess || job.Limits.MemoryBytes != e.memory {
		started := e.start(job.Limits.MemoryBytes)
		payload.Argv, payload.Env = started.Argv, started.Env
		pool = e.fresh
	}
	if job.Capabilities.Subprocess {
		pool = e.parents
	}
	return pool.Run(ctx, worker.Task{Job: job, Payload: payload, Overhead: overhead, Tap: said.listen, LastStderr: lastGCs, Interpret: said.interpret}, session)
}

// orEmpty returns *outcome, or an empty outcome if the pointer is nil.
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

// fit returns an error if no suitable Node is installed.
func (e *Engine) fit(ctx context.Context) error {
	if e.unavailable != nil {
		return e.unavailable
	}
	return e.version.check(ctx, e.fresh, e.interpreter)
}

// Features returns the features that the engine supports.
func (e *Engine) Features() []runtimes.Feature {
	return []runtimes.Feature{runtimes.FilesFeature, runtimes.PackagesFeature, runtimes.HostsFeature, runtimes.SubprocessFeature, runtimes.ToolsFeature, runtimes.ProjectsFeature, runtimes.RulesFeature, runtimes.StrictFeature}
}

// Stats counts the engine's workers.
func (e *Engine) Stats() worker.Stats {
	if e.unavailable != nil {
		return worker.Stats{}
	}
	return e.ahead.Stats().Plus(e.fresh.Stats()).Plus(e.parents.Stats()).Plus(e.bundler.pool.Stats())
}

// Close ends every run and waits until all their processes are gone.
func (e *Engine) Close() {
	if e.unavailable == nil {
		e.ahead.Close()
		e.fresh.Close()
		e.parents.Close()
	}
	e.bundler.pool.Close()
}
