// Package wasmedge runs WebAssembly modules with the command-line runner of WasmEdge, each in a new sandbox. The runner
// gives a module no access to directories. Like the sandbox, it enforces the time and memory limits of the run.
package wasmedge

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/atelier-run/atelier/internal/bytesize"
	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/runtimes/sandbox/program"
	"github.com/atelier-run/atelier/runtimes/worker"
)

// Remedy explains how to make the runtime available.
const Remedy = "Install WasmEdge 0.14 or newer in a directory that all users can read, and set `WASMEDGE_PATH` to the absolute path of its program `wasmedge`."

// Files in the work directory. The sandbox stores the module under a fixed name, which does not depend on the name of
// the entrypoint.
const (
	moduleFile = "main.wasm"
	inputFile  = "input.json"
)

// pageBytes is the size of a page of a module's memory.
const pageBytes = 64 << 10

// laterMs is added to the run's time limit to get the runner's time limit, in milliseconds. So the sandbox ends the run
// first and reports the time limit.
const laterMs = 1000

// The memory of the runner in addition to the limit of the run: overhead bytes, plus factor times the size of the module.
const (
	overhead = 64 << 20
	factor   = 16
)

// processes is the minimum limit of threads. The runner needs that many.
const processes = 16

// Options configures an Engine.
type Options struct {
	Jailer worker.Jailer
	Runner string // absolute path of wasmedge; "" for none
	Max    int    // maximum number of sandboxes; default 16
	Log    *slog.Logger
}

// Engine runs WebAssembly modules. It is safe for concurrent use.
type Engine struct {
	pool   *worker.Pool // nil if no runner is installed
	runner string
	lacks  string
}

// New returns an engine. The caller must close it. Without a runner every run fails with runtime_unavailable.
func New(options Options) *Engine {
	if options.Runner == "" {
		return &Engine{lacks: Remedy}
	}
	found, err := program.FindInterpreter(options.Runner)
	if err != nil {
		return &Engine{lacks: fmt.Sprintf("WasmEdge cannot be used: %s. %s", err, Remedy)}
	}
	runner, mounts := place(found)
	return &Engine{
		runner: runner,
		pool: worker.NewPool(worker.Options{Jailer: options.Jailer, Max: options.Max, Log: options.Log, Profile: sandbox.Profile{
			Role: program.Name, Filter: sandbox.FilterProgram, Proc: true, Mounts: mounts, Launcher: "wasmedge",
			DiskBytes: runtimes.DefaultLimits().DiskBytes, Limits: runtimes.DefaultLimits(),
		}}),
	}
}

// place returns the path of the runner in the sandbox, and the runner's mounts. An installation outside of /usr is
// mounted at /opt/wasmedge, because its original path may be in a directory that the sandbox replaces, such as /tmp.
func place(found program.Interpreter) (runner string, mounts []sandbox.Mount) {
	const installed = "/opt/wasmedge"
	if sandbox.InUsr(found.Path) {
		return found.Path, found.Mounts
	}
	for _, m := range found.Mounts {
		if m.Host != "/usr" {
			m.Path = path.Join(installed, path.Base(m.Host))
		}
		mounts = append(mounts, m)
	}
	return path.Join(installed, "bin", path.Base(found.Path)), mounts
}

// Lacks returns the reason why the engine cannot run programs, or "" if it can.
func (e *Engine) Lacks() string { return e.lacks }

// Run implements runtimes.Runtime.
func (e *Engine) Run(ctx context.Context, job runtimes.Job, host runtimes.Host) (runtimes.Outcome, error) {
	if e.pool == nil {
		return runtimes.Outcome{}, fault.New(fault.RuntimeUnavailable, "The runtime wasmedge is not available on this server. %s", e.lacks)
	}
	module, ok := job.Files[job.Entrypoint]
	if !ok {
		return runtimes.Failed(runtimes.RuntimeError, "The entrypoint does not exist."), nil
	}
	if err := program.CheckEnvironment(job.Environment); err != nil {
		return runtimes.Outcome{}, err
	}
	input := job.Input
	if len(input) == 0 {
		input = json.RawMessage("null")
	}
	output := &transcript{limits: job.Limits}
	limited := job
	limited.Limits.Processes = max(job.Limits.Processes, processes)
	return e.pool.Run(ctx, worker.Task{
		Job: limited, Overhead: overhead + factor*int64(len(module)), Unaware: true,
		Payload: program.Job{
			Argv: Argv(e.runner, job), Env: program.Environment(), Files: map[string][]byte{moduleFile: module, inputFile: input}, Stdin: inputFile,
			Largest: job.Limits.OutputBytes, Rlimits: program.LimitsOf(limited.Limits, 0),
		},
		Tap: output.listen, Interpret: output.interpret,
	}, host)
}

// Argv returns the command line of a run. The sandbox limits the CPU time. WasmEdge's gas limit is not used: it has
// only 31 bits, which a program can exhaust in seconds, and with it the runner prints statistics on stdout.
func Argv(runner string, job runtimes.Job) []string {
	argv := []string{
		runner, "--time-limit", strconv.FormatInt(job.Limits.TimeoutMs+laterMs, 10),
		"--memory-page-limit", strconv.FormatInt(max(job.Limits.MemoryBytes/pageBytes, 1), 10),
	}
	for _, name := range slices.Sorted(maps.Keys(job.Environment)) {
		argv = append(argv, "--env", name+"="+job.Environment[name])
	}
	return append(argv, moduleFile)
}

// transcript collects the stdout of the runner. The stdout contains the module's output, which is the result, and the
// entries of the runner's log.
type transcript struct {
	limits runtimes.Limits
	stdout bytes.Buffer
	line   []byte // the part of stdout's last line that has arrived; of a long line, only the entry of the log or the end
	fatal  string // last error in the log that has a code
	full   bool   // whether the module tried to grow its memory above its limit
	small  bool   // whether the module declares more memory than its limit
}

// logged matches an entry of the runner's log, and begun matches the start of an entry. On its line, an entry may
// follow output of the module.
var (
	begun  = regexp.MustCompile(entryStart)
	logged = regexp.MustCompile(entryStart + `([^\n]*)\n?`)
)

const entryStart = `\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}\] \[[a-z]+\] `

func (s *transcript) listen(kind frames.Kind, p []byte) {
	if kind != frames.Stdout {
		return
	}
	s.stdout.Write(p[:min(len(p), max(int(s.limits.OutputBytes)+1-s.stdout.Len(), 0))])
	// Only lines of stack traces are longer; an entry may begin in the last bytes of long output.
	const longest, start = 4 << 10, 64
	for len(p) > 0 {
		part, rest, ended := bytes.Cut(p, []byte{'\n'})
		if s.line = append(s.line, part...); len(s.line) > longest {
			at := len(s.line) - start
			if found := begun.FindIndex(s.line); found != nil {
				at = found[0]
			}
			s.line = append(s.line[:0], s.line[at:min(len(s.line), at+longest)]...)
		}
		if p = rest; ended {
			s.log(s.line)
			s.line = s.line[:0]
		}
	}
}

// log records the error in a line of stdout if the line is an entry of the runner's log.
func (s *transcript) log(line []byte) {
	found := logged.FindSubmatch(line)
	if found == nil {
		return
	}
	text := strings.ToValidUTF8(string(found[1]), "\uFFFD")
	if message, _, coded := strings.Cut(text, ", Code: "); coded { // entries without a code only describe the position of an error
		s.fatal = message
	}
	s.full = s.full || strings.HasPrefix(text, "Memory Instance: Memory grow page failed")
	s.small = s.small || strings.HasPrefix(text, "Memory Instance: Limited ")
}

// interpret converts the exit of the runner and its output to the result of the module.
func (s *transcript) interpret(result frames.Result) frames.Result {
	s.log(s.line)
	failed := result.ExitCode != nil && *result.ExitCode != 0
	switch {
	case result.Error != nil:
	case result.Signal != 0:
		result.Error = &runtimes.ProgramError{Type: runtimes.RuntimeError, Message: fmt.Sprintf("WasmEdge was killed by signal %d.", result.Signal)}
	case s.small, failed && s.full:
		result.Error = &runtimes.ProgramError{Type: runtimes.MemoryLimit, Message: fmt.Sprintf("The module exceeded its memory limit of %s.", bytesize.Text(s.limits.MemoryBytes))}
	case failed:
		result.Error = s.failure(*result.ExitCode)
	default:
		result.Output, result.Error = s.output()
	}
	return result
}

// failure returns the error for an exit code. If the runner's log contains an error, failure uses the last one.
func (s *transcript) failure(code int) *runtimes.ProgramError {
	failed := &runtimes.ProgramError{Type: runtimes.RuntimeError, Message: fmt.Sprintf("The module exited with code %d.", code)}
	if s.fatal == "" {
		return failed
	}
	failed.Message = "The module was stopped: " + strings.TrimPrefix(s.fatal, "execution failed: ") + "."
	switch {
	case strings.Contains(s.fatal, "call stack exhausted"), strings.Contains(s.fatal, "stack overflow"):
		failed.Type = runtimes.RecursionLimit
	case strings.HasPrefix(s.fatal, "loading failed"), strings.HasPrefix(s.fatal, "validation failed"):
		failed.Type = runtimes.SyntaxError
	}
	return failed
}

// output parses stdout as the output of the module: one JSON value, or nothing, which means null. If stdout is not
// valid JSON, output first removes the entries of the runner's log.
func (s *transcript) output() (json.RawMessage, *runtimes.ProgramError) {
	text := bytes.TrimSpace(s.stdout.Bytes())
	if !json.Valid(text) {
		text = bytes.TrimSpace(logged.ReplaceAll(text, nil))
	}
	switch {
	case s.stdout.Len() > int(s.limits.OutputBytes):
		return nil, &runtimes.ProgramError{Type: runtimes.OutputLimit}
	case len(text) == 0:
		return json.RawMessage("null"), nil
	case !json.Valid(text):
		return nil, &runtimes.ProgramError{
			Type: runtimes.InvalidOutput, Message: "output: stdout must be exactly one JSON value.",
			Remedy: "Print the output as JSON on stdout, and everything else on stderr.",
		}
	}
	return text, nil
}

// Warm does nothing. Sandboxes are created on first use, so a server that runs no modules has none.
func (e *Engine) Warm(context.Context) error { return nil }

// Features lists the features that the engine supports.
func (e *Engine) Features() []runtimes.Feature { return []runtimes.Feature{runtimes.StrictFeature} }

// Stats counts the engine's workers.
func (e *Engine) Stats() worker.Stats {
	if e.pool == nil {
		return worker.Stats{}
	}
	return e.pool.Stats()
}

// Close ends all runs and waits until all their processes have ended.
func (e *Engine) Close() {
	if e.pool != nil {
		e.pool.Close()
	}
}
