// Package python runs Python programs. Each runs in a new sandbox, in an interpreter that was started before the run
// and has executed only this package's guest script. The package implements the contract of a Python program. Package
// worker implements the protocol, and package sandbox the isolation.
package python

import (
	"context"
	_ "embed" // the guest script
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/internal/lru"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/egress"
	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/python/rules"
	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/runtimes/sandbox/program"
	"github.com/atelier-run/atelier/runtimes/worker"
)

//go:embed guest.py
var guest string

// typed implements typed parameters and results. The guest script loads it only if a program needs it.
//
//go:embed typed.py
var typed string

// Scripts of a fork server. It executes preload, then guest, then forks.
var (
	//go:embed preload.py
	preload string

	//go:embed forks.py
	forks string
)

// start compiles and runs the scripts in its argument.
//
//go:embed start.py
var start string

// ModelsDir is the path in a sandbox where the directory of models is mounted under its own name.
const ModelsDir = "/models"

// PackagesDir is the path in a sandbox where the packages of a program are mounted.
const PackagesDir = "/packages"

// stackBytes is the stack size of a process. The deepest allowed recursion through C code, such as sorted with a key,
// ends with an exception before this stack is full.
const stackBytes = 64 << 20

// Options configures an Engine.
type Options struct {
	Jailer      worker.Jailer
	Models      string        // host directory that jobs with Models see at ModelsDir; "" if there is none
	Egress      *egress.Proxy // proxy for programs with granted hosts; nil: the engine creates its own
	Interpreter string        // absolute path of python3
	Idle        int           // started interpreters that wait for a run; default 2
	Max         int           // maximum number of sandboxes, waiting and running; default 16
	Log         *slog.Logger
}

// Engine runs Python programs. It is safe for concurrent use.
type Engine struct {
	interpreter program.Interpreter
	unavailable error
	forked      *workspacePools // fork servers, the usual way to run a program
	fresh       *worker.Pool    // one new interpreter per run: for runs that request it, and if no fork server is available
	granted     *worker.Pool    // like fresh, for programs with granted hosts
	models      *worker.Pool    // like fresh, with the directory of models mounted; nil if there is none
	locked      *lockPools      // for programs with packages
	egress      *egress.Proxy
	codes       *lru.Cache[string, []byte] // compiled entrypoints and their imports
	log         *slog.Logger
}

// Limits of the cache of compiled programs, and of each program in it. Sizes are in bytes.
const (
	maxCode      = 64 << 10
	maxModules   = 256 // files in addition to the entrypoint
	maxCodes     = 1024
	maxCodeBytes = 16 << 20
)

// codeKey returns the cache key of a job's compiled program. ok is false if the program cannot be cached. The compiling
// process has read files of the workspace, so the key belongs to that workspace only.
func codeKey(job runtimes.Job) (key string, ok bool) {
	if job.CodeDigest == "" || job.Workspace == "" {
		return "", false
	}
	key = job.Workspace + " " + job.CodeDigest + " " + job.Entrypoint
	if job.Packages != nil { // the compiling process has also executed code of the packages
		key += " " + job.Packages.Digest
	}
	return key, true
}

// modules returns the files, in addition to a job's entrypoint, that may be compiled with the entrypoint.
func modules(job runtimes.Job) (names []string) {
	for name, source := range job.Files {
		if name != job.Entrypoint && strings.HasSuffix(name, ".py") && len(source) <= maxCode {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names[:min(len(names), maxModules)]
}

// pause is how long a workspace's runs start new interpreters after its fork server has failed. Without the pause,
// every run would first wait for a fork server that fails to start.
const pause = 10 * time.Second

// New starts an engine. The caller must close it. If the interpreter is missing, every run fails with
// runtime_unavailable.
func New(options Options) *Engine {
	interpreter, err := program.FindInterpreter(options.Interpreter)
	if err != nil {
		return &Engine{unavailable: &fault.Error{Code: fault.RuntimeUnavailable, Message: "Python is not available on this server.", Err: err}}
	}
	if options.Idle <= 0 {
		options.Idle = 2
	}
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	profile := func(launcher string) sandbox.Profile {
		return sandbox.Profile{
			Role: program.Name, Filter: sandbox.FilterProgram, Proc: true, Mounts: interpreter.Mounts, Launcher: launcher,
			DiskBytes: runtimes.DefaultLimits().DiskBytes, Limits: runtimes.DefaultLimits(),
		}
	}
	// The flags isolate the interpreter from the environment and the user's site directory, prevent it from writing byte
	// code, and select UTF-8 for every locale.
	argv := func(script string, more ...string) []string {
		return append([]string{interpreter.Path, "-I", "-S", "-B", "-X", "utf8", "-c", script}, more...)
	}
	if options.Egress == nil {
		options.Egress = egress.New(egress.Options{})
	}
	granted := profile("python with network")
	granted.Network, granted.Mounts = true, slices.Concat(granted.Mounts, program.Certificates())
	ahead := func(environment ...string) program.Job {
		source := "TYPED = " + strconv.QuoteToASCII(typed) + "\n\nsettle()\nboot(True)\n"
		return program.Job{Ahead: true, Argv: argv(guest + rules.Source() + "\n" + source), Env: append(program.Environment(), environment...)}
	}
	pool := func(p sandbox.Profile, idle int, prelude any) *worker.Pool {
		return worker.NewPool(worker.Options{Jailer: options.Jailer, Idle: idle, Max: options.Max, Log: options.Log, Profile: p, Prelude: prelude})
	}
	forking := func(p sandbox.Profile, environment ...string) sandbox.Profile {
		p.Forks = &sandbox.Command{Argv: argv(start, preload+guest+rules.Source()+forks, typed), Env: append(program.Environment(), environment...)}
		return p
	}
	engine := &Engine{
		interpreter: interpreter, egress: options.Egress, log: options.Log, codes: lru.New[string, []byte](maxCodes, maxCodeBytes),
		forked: newWorkspacePools(func(launcher string) *worker.Pool { return pool(forking(profile(launcher)), options.Idle, nil) }),
		fresh:  pool(profile("python"), 0, ahead()), granted: pool(granted, 0, ahead(program.Network()...)),
	}
	engine.locked = newLockPools(func(launcher string, key lockKey, environment []string) *worker.Pool {
		p := profile(launcher)
		p.Mounts = slices.Concat(p.Mounts, []sandbox.Mount{{Host: key.dir, Path: PackagesDir, Private: true}})
		switch {
		case key.network:
			p.Network, p.Mounts = true, slices.Concat(p.Mounts, program.Certificates())
			return pool(p, 1, ahead(append(program.Network(), environment...)...))
		case key.fresh:
			return pool(p, 0, ahead(oneThread()...))
		}
		return pool(forking(p, environment...), options.Idle, nil)
	})
	if options.Models != "" {
		models := profile("python with models")
		models.Mounts = slices.Concat(models.Mounts, []sandbox.Mount{{Host: options.Models, Path: ModelsDir + "/" + filepath.Base(options.Models), Private: true}})
		engine.models = worker.NewPool(worker.Options{Jailer: options.Jailer, Max: options.Max, Log: options.Log, Profile: models, Prelude: ahead()})
	}
	return engine
}

// Interpreter returns the path of the interpreter, or "" if there is none.
func (e *Engine) Interpreter() string { return e.interpreter.Path }

// Version returns the version of the language, such as 3.11, or "" if it is unknown.
func (e *Engine) Version() string { return e.interpreter.Version }

// startMessage is the message that the guest script waits for.
type startMessage struct {
	Entry     string            `json:"entry"`
	Input     json.RawMessage   `json:"input"`
	Env       map[string]string `json:"env"`
	Recursion int64             `json:"recursion"`
	Largest   int64             `json:"largest"`
	Rules     []string          `json:"rules,omitempty"`   // modules that the program may import; nil: no rules
	Code      []byte            `json:"code,omitempty"`    // code of the entrypoint and its imports, compiled by another run
	Keep      bool              `json:"keep,omitempty"`    // whether to send the compiled code
	Modules   []string          `json:"modules,omitempty"` // files that are compiled with the entrypoint if Keep is set
	Infer     bool              `json:"infer,omitempty"`   // whether to describe the types of main instead of calling it
}

// Run implements runtimes.Runtime.
func (e *Engine) Run(ctx context.Context, job runtimes.Job, host runtimes.Host) (runtimes.Outcome, error) {
	return e.execute(ctx, job, host, false)
}

// Infer loads a program and describes the parameters and the result of its main, without calling it. The output is a
// JSON object with inputSchema, outputSchema, source and notes, or only failed. The program has no network.
func (e *Engine) Infer(ctx context.Context, job runtimes.Job, host runtimes.Host) (runtimes.Outcome, error) {
	job.Capabilities.Hosts, job.Input = nil, nil
	return e.execute(ctx, job, host, true)
}

func (e *Engine) execute(ctx context.Context, job runtimes.Job, host runtimes.Host, infer bool) (runtimes.Outcome, error) {
	if e.unavailable != nil {
		return runtimes.Outcome{}, e.unavailable
	}
	if err := program.CheckEnvironment(job.Environment); err != nil {
		return runtimes.Outcome{}, err
	}
	if _, ok := job.Files[job.Entrypoint]; !ok {
		return runtimes.Failed(runtimes.RuntimeError, fmt.Sprintf("The entrypoint %q does not exist.", job.Entrypoint)), nil
	}
	input := job.Input
	if len(input) == 0 {
		input = json.RawMessage("null")
	}
	environment := job.Environment
	if environment == nil {
		environment = map[string]string{}
	}
	greets := startMessage{Entry: job.Entrypoint, Input: input, Env: environment, Recursion: job.Limits.RecursionDepth, Largest: job.Limits.OutputBytes, Infer: infer}
	if job.Rules != nil {
		greets.Rules = rules.Imports(*job.Rules)
	}
	key, known := codeKey(job)
	if known {
		greets.Code, _ = e.codes.Get(key)
	}
	if greets.Keep = known && greets.Code == nil && !job.KeepsNoCode; greets.Keep {
		greets.Modules = modules(job)
	}
	greeting, err := program.JSON(greets)
	if err != nil {
		return runtimes.Outcome{}, fault.Invalid("/input", "must be valid JSON.")
	}
	session := e.egress.Open(job, host)
	defer session.Close()
	task := worker.Task{
		Job: job,
		Payload: program.Job{
			Files: job.Files, Start: greeting, Largest: job.Limits.OutputBytes, Keep: greets.Keep,
			Rlimits: program.LimitsOf(job.Limits, stackBytes),
		},
		Interpret: func(result frames.Result) frames.Result {
			result, report := program.Conclude(result, crash)
			if greets.Keep && len(report.Kept) > 0 && len(report.Kept) <= maxCode {
				e.codes.Put(key, report.Kept, len(report.Kept))
			}
			return result
		},
	}
	var outcome runtimes.Outcome
	if len(job.Capabilities.Hosts) > 0 {
		task.Network = func(listener net.Listener) func() {
			session.Serve(listener)
			return session.Close
		}
	}
	switch {
	case job.Packages != nil:
		outcome, err = e.runLocked(ctx, task, session)
	case job.Models && e.models != nil: // the directory of models is never combined with a network
		outcome, err = e.models.Run(ctx, task, session)
	case len(job.Capabilities.Hosts) == 0:
		outcome, err = e.run(ctx, task, session)
	default:
		outcome, err = e.granted.Run(ctx, task, session)
	}
	if failed := outcome.Error; failed != nil && failed.Type == runtimes.RuntimeError && strings.Contains(failed.Message+failed.Stack, egress.Marker) {
		session.Blame(failed)
	}
	session.Settle(outcome.Error)
	return outcome, err
}

// run executes a task in a child of a fork server. It uses a new interpreter if the task requires strict isolation, if no
// fork server is available, or if the child did not start. A fork server is paused only if it failed to start, and only
// for its own workspace.
func (e *Engine) run(ctx context.Context, task worker.Task, host runtimes.Host) (runtimes.Outcome, error) {
	if task.Job.Isolation != runtimes.Strict && task.Job.Workspace != "" {
		outcome, ok, err := e.forked.run(ctx, task, host)
		switch {
		case !ok: // workspacePools has no fork server for this workspace now
		case !fault.Is(err, fault.SandboxUnavailable) || errors.Is(err, worker.ErrLost):
			return outcome, err
		case !errors.Is(err, worker.ErrNotStarted):
			e.forked.pause(task.Job.Workspace)
			e.warnNoForks(ctx, err)
		}
	}
	return e.fresh.Run(ctx, task, host)
}

// warnNoForks logs that a fork server failed. Runs then start new interpreters, which takes longer.
func (e *Engine) warnNoForks(ctx context.Context, err error) {
	e.log.LogAttrs(ctx, slog.LevelWarn, "the Python fork server is not available; each run starts a new interpreter", slog.Any("error", errors.Join(err, errors.Unwrap(err))))
}

// crash returns the error for an interpreter that was ended by a signal.
func crash(signal int) *runtimes.ProgramError {
	if signal == sigsegv {
		return &runtimes.ProgramError{
			Type: runtimes.RuntimeError, Message: "The Python interpreter crashed (SIGSEGV).",
			Remedy: "Check the program for very deep recursion through built-in functions.",
		}
	}
	return &runtimes.ProgramError{Type: runtimes.RuntimeError, Message: fmt.Sprintf("Python was killed by signal %d.", signal)}
}

const sigsegv = 11

// Warm waits until an interpreter is ready for a run. If a fork server fails to start, Warm pauses it. Runs then use
// new interpreters, which takes longer.
func (e *Engine) Warm(ctx context.Context) error {
	if e.unavailable != nil {
		return e.unavailable
	}
	err := e.forked.warm(ctx)
	if err == nil || ctx.Err() != nil {
		return err
	}
	e.forked.pauseSpare()
	e.warnNoForks(ctx, err)
	return nil
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
	stats := e.forked.stats().Plus(e.fresh.Stats()).Plus(e.granted.Stats()).Plus(e.locked.stats())
	if e.models != nil {
		stats = stats.Plus(e.models.Stats())
	}
	return stats
}

// Close ends every run and waits until all their processes are gone.
func (e *Engine) Close() {
	if e.unavailable == nil {
		e.forked.close()
		e.locked.close()
		e.fresh.Close()
		e.granted.Close()
		if e.models != nil {
			e.models.Close()
		}
	}
}
