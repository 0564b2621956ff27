// Package bash runs Bash scripts, each in a new sandbox and a new shell. It implements the contract of a script and
// interprets Bash's error messages.
package bash

import (
	"bytes"
	"context"
	_ "embed" // the prelude
	"fmt"
	"log/slog"
	"maps"
	"net"
	"slices"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/egress"
	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/runtimes/sandbox/program"
	"github.com/atelier-run/atelier/runtimes/worker"
)

//go:embed prelude.sh
var prelude []byte

// Paths of this package's files in the sandbox. Their folder is next to the agent's files, so an agent may not have a
// folder of this name.
const (
	folder      = ".atelier"
	preludeFile = folder + "/prelude.sh"
	inputFile   = folder + "/input.json"
	outputFile  = folder + "/output.json"
)

// maxInline is the maximum size in bytes of an input that is also passed in $INPUT. Linux limits an environment string to
// 128 KiB.
const maxInline = 96 << 10

// Options configures an Engine.
type Options struct {
	Jailer      worker.Jailer
	Egress      *egress.Proxy // proxy for programs with granted hosts; nil: the engine creates its own
	Interpreter string        // absolute path of bash
	Idle        int           // prepared sandboxes that wait for a run; default 2
	Max         int           // maximum number of sandboxes, waiting and running; default 16
	Log         *slog.Logger
}

// Engine runs Bash scripts. It is safe for concurrent use.
type Engine struct {
	pool        *worker.Pool
	granted     *worker.Pool // for programs with granted hosts
	egress      *egress.Proxy
	interpreter string
	unavailable error
}

// New starts an engine. The caller must close it. If the interpreter is missing, every run fails with
// runtime_unavailable.
func New(options Options) *Engine {
	interpreter, err := program.FindInterpreter(options.Interpreter)
	if err != nil {
		return &Engine{unavailable: &fault.Error{Code: fault.RuntimeUnavailable, Message: "Bash is not available on this server.", Err: err}}
	}
	if options.Idle <= 0 {
		options.Idle = 2
	}
	if options.Egress == nil {
		options.Egress = egress.New(egress.Options{})
	}
	profile := sandbox.Profile{
		Role: program.Name, Filter: sandbox.FilterProgram, Proc: true, Mounts: interpreter.Mounts, Launcher: "bash",
		DiskBytes: runtimes.DefaultLimits().DiskBytes, Limits: runtimes.DefaultLimits(),
	}
	granted := profile
	granted.Launcher, granted.Network, granted.Mounts = "bash with network", true, slices.Concat(profile.Mounts, program.Certificates())
	return &Engine{
		interpreter: interpreter.Path, egress: options.Egress,
		pool:    worker.NewPool(worker.Options{Jailer: options.Jailer, Idle: options.Idle, Max: options.Max, Log: options.Log, Profile: profile}),
		granted: worker.NewPool(worker.Options{Jailer: options.Jailer, Max: options.Max, Log: options.Log, Profile: granted}),
	}
}

// Interpreter returns the path of the interpreter, or "" if there is none.
func (e *Engine) Interpreter() string { return e.interpreter }

// Run implements runtimes.Runtime.
func (e *Engine) Run(ctx context.Context, job runtimes.Job, host runtimes.Host) (runtimes.Outcome, error) {
	if e.unavailable != nil {
		return runtimes.Outcome{}, e.unavailable
	}
	if err := program.CheckEnvironment(job.Environment); err != nil {
		return runtimes.Outcome{}, err
	}
	files, refused := filesOf(job)
	if refused != nil {
		return runtimes.Outcome{Error: refused}, nil
	}
	said := transcript{limits: job.Limits, files: job.Files, restricted: job.Rules != nil}
	task := worker.Task{
		Job: job,
		Payload: program.Job{
			Argv: []string{e.interpreter, "--noprofile", "--norc", "--", job.Entrypoint}, Env: environment(job, files[inputFile]),
			Files: files, Stdin: inputFile, Result: outputFile, Largest: job.Limits.OutputBytes,
			Rlimits: program.LimitsOf(job.Limits, 0),
		},
		Tap:       said.listen,
		Interpret: said.interpret,
		Unaware:   true,
	}
	session := e.egress.Open(job, host)
	defer session.Close()
	pool := e.pool
	if len(job.Capabilities.Hosts) > 0 {
		pool = e.granted
		task.Network = func(listener net.Listener) func() {
			session.Serve(listener)
			return session.Close
		}
	}
	outcome, err := pool.Run(ctx, task, session)
	if failed := outcome.Error; failed != nil && said.stopped && session.Refused() && (failed.Type == runtimes.RuntimeError || failed.Type == runtimes.Denied && failed.Rule == "") {
		session.Blame(failed) // names the last denied request as the cause of the failure
	}
	session.Settle(outcome.Error)
	return outcome, err
}

// filesOf adds this package's files to the agent's.
func filesOf(job runtimes.Job) (map[string][]byte, *runtimes.ProgramError) {
	if _, ok := job.Files[job.Entrypoint]; !ok {
		return nil, &runtimes.ProgramError{Type: runtimes.RuntimeError, Message: fmt.Sprintf("The entrypoint %q does not exist.", job.Entrypoint)}
	}
	for name := range job.Files {
		if name == folder || strings.HasPrefix(name, folder+"/") {
			return nil, &runtimes.ProgramError{Type: runtimes.RuntimeError, Message: fmt.Sprintf("The folder %s is reserved.", folder), Remedy: "Rename the folder."}
		}
	}
	files := maps.Clone(job.Files)
	files[preludeFile] = slices.Concat(nesting(job), removals(job), prelude)
	files[inputFile] = job.Input
	if len(job.Input) == 0 {
		files[inputFile] = []byte("null")
	}
	return files, nil
}

// nesting returns the line of the prelude that limits the nesting of functions.
func nesting(job runtimes.Job) []byte {
	return fmt.Appendf(nil, "[[ -v __atelier_tag ]] || FUNCNEST=%d\n", job.Limits.RecursionDepth)
}

// environment returns the environment of the script: this package's variables and the agent's values. It contains nothing
// from the server's environment. It omits values that select POSIX mode, in which Bash would not read the prelude.
func environment(job runtimes.Job, input []byte) []string {
	ours := program.Environment()
	if len(job.Capabilities.Hosts) > 0 {
		ours = append(ours, program.Network()...)
	}
	ours = append(ours,
		"INPUT_FILE="+sandbox.WorkDir+"/"+inputFile, "OUTPUT="+sandbox.WorkDir+"/"+outputFile, "BASH_ENV="+sandbox.WorkDir+"/"+preludeFile)
	return with(ours, job, input)
}

// with returns a copy of an environment with the agent's values, and with $INPUT if the input is short enough.
func with(ours []string, job runtimes.Job, input []byte) []string {
	if len(input) <= maxInline {
		ours = append(ours, "INPUT="+string(input))
	}
	reserved := map[string]bool{"INPUT": true, "POSIXLY_CORRECT": true, "POSIX_PEDANTIC": true}
	for _, entry := range ours {
		name, _, _ := strings.Cut(entry, "=")
		reserved[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(job.Environment)) {
		if !reserved[name] && !strings.HasPrefix(name, "__atelier_") {
			ours = append(ours, name+"="+job.Environment[name])
		}
	}
	return ours
}

// transcript collects the script's output, up to the output limit. The result may be in stdout, and Bash's error messages
// are in stderr.
type transcript struct {
	limits     runtimes.Limits
	files      map[string][]byte
	restricted bool // true if the rule pack "restricted" applies
	stdout     bytes.Buffer
	stderr     []byte // end of stderr

	stopped bool // whether a denied request may be the cause of the failure
}

func (s *transcript) listen(kind frames.Kind, p []byte) {
	const keep = 16 << 10
	if kind == frames.Stdout {
		s.stdout.Write(p)
		return
	}
	s.stderr = append(s.stderr, p...)
	if over := len(s.stderr) - keep; over > keep {
		s.stderr = append(s.stderr[:0], s.stderr[over:]...)
	}
}

// Warm waits until a sandbox is ready for a run.
func (e *Engine) Warm(ctx context.Context) error {
	if e.unavailable != nil {
		return e.unavailable
	}
	return e.pool.Warm(ctx)
}

// Features returns the features that the engine supports.
func (e *Engine) Features() []runtimes.Feature {
	return []runtimes.Feature{runtimes.FilesFeature, runtimes.HostsFeature, runtimes.SubprocessFeature, runtimes.ToolsFeature, runtimes.ProjectsFeature, runtimes.RulesFeature, runtimes.StrictFeature}
}

// Stats counts the engine's workers.
func (e *Engine) Stats() worker.Stats {
	if e.unavailable != nil {
		return worker.Stats{}
	}
	return e.pool.Stats().Plus(e.granted.Stats())
}

// Close ends every run and waits until all their processes are gone.
func (e *Engine) Close() {
	if e.unavailable == nil {
		e.pool.Close()
		e.granted.Close()
	}
}
