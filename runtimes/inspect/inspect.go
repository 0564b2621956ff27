package inspect

import (
	"context"
	_ "embed" // the checker of Python
	"encoding/json"
	"log/slog"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/inspect/guest"
	"github.com/atelier-run/atelier/runtimes/python/rules"
	"github.com/atelier-run/atelier/runtimes/sandbox"
	"github.com/atelier-run/atelier/runtimes/sandbox/program"
	"github.com/atelier-run/atelier/runtimes/worker"
)

//go:embed checker.py
var checker string

const (
	// timeLimit is the time limit of one inspection. Source whose parsing takes longer is rejected as too large.
	timeLimit = 10 * time.Second
	// shared is the workspace of all inspections. The workers only parse and run no programs, so all workspaces can
	// share them.
	shared = "inspect"
	// maxPlaces is the maximum number of concurrent inspections per language.
	maxPlaces = 4
	// moduleMemory is the memory in bytes for inspecting a module. It is enough for the largest allowed module.
	moduleMemory = 1 << 30
	// pythonStack is the stack size in bytes. It is so large that Python's parser reaches its own nesting limit before the
	// stack is full.
	pythonStack = 64 << 20
)

// Programs runs Python programs.
type Programs interface {
	Run(ctx context.Context, job runtimes.Job, host runtimes.Host) (runtimes.Outcome, error)
}

// Options configures an Inspector.
type Options struct {
	Jailer   worker.Jailer
	Programs Programs // the Python engine, which runs the analysis for Facts; if it is nil, Facts rejects Python programs
	Python   string   // absolute path of python3; if it is "" or does not exist, Python is not inspected
	Bash     string   // absolute path of bash, which checks again the scripts that this package's parser rejects; may be ""
	Log      *slog.Logger
}

// Inspector checks programs. It is safe for concurrent use.
type Inspector struct {
	parsers  *worker.Pool
	programs Programs
	python   *language // nil if there is no interpreter
	bash     *language
	compiled atomic.Bool // whether the Python engine has compiled the analysis
}

// language is an interpreter that checks the syntax of programs, together with its pool of sandboxes.
type language struct {
	interpreter program.Interpreter
	pool        *worker.Pool
}

// New starts an inspector. The caller must close it. Workers are started when they are first used.
func New(options Options) *Inspector {
	limits := limits()
	i := &Inspector{
		programs: options.Programs,
		parsers: worker.NewPool(worker.Options{
			Jailer: options.Jailer, Max: maxPlaces, Log: options.Log,
			Profile: sandbox.Profile{Role: guest.RoleName, Filter: sandbox.FilterWorker, Limits: limits},
			Reuse:   worker.Reuse{Runs: 200, Age: 10 * time.Minute, Memory: 192 << 20},
		}),
	}
	open := func(path string) *language {
		interpreter, err := program.FindInterpreter(path)
		if err != nil {
			return nil
		}
		return &language{interpreter: interpreter, pool: worker.NewPool(worker.Options{
			Jailer: options.Jailer, Max: maxPlaces, Log: options.Log,
			Profile: sandbox.Profile{
				Role: program.Name, Filter: sandbox.FilterProgram, Proc: true, Mounts: interpreter.Mounts, Launcher: "inspect " + interpreter.Path, DiskBytes: limits.DiskBytes, Limits: limits,
			},
		})}
	}
	i.python, i.bash = open(options.Python), open(options.Bash)
	return i
}

func limits() runtimes.Limits {
	l := runtimes.DefaultLimits()
	l.TimeoutMs, l.CPUMs = timeLimit.Milliseconds(), timeLimit.Milliseconds()
	return l
}

// Check returns the errors of a program without running it. It returns an error only if the server failed.
func (i *Inspector) Check(ctx context.Context, req Request) (Report, error) {
	job := runtimes.Job{
		RunID: "inspect", Workspace: shared, Language: req.Language, Files: req.Files, Entrypoint: req.Entrypoint, Limits: limits(), Rules: req.Rules,
	}
	switch req.Language {
	case runtimes.Python:
		return i.checkPython(ctx, job)
	case runtimes.WASM:
		job.Limits.MemoryBytes = moduleMemory
	}
	outcome, err := i.parsers.Run(ctx, worker.Task{
		Job:     job,
		Payload: guest.Job{Language: req.Language, Runtime: req.Runtime, Files: sources(req), Entrypoint: req.Entrypoint, Unpacked: req.Unpacked},
		Death:   death,
	}, silent{})
	report, err := read(ctx, outcome, err, req)
	if err == nil && req.Language == runtimes.Bash && len(report.Errors) > 0 {
		return i.askBash(ctx, job, report)
	}
	return report, err
}

// sources returns the files of a request. It removes the content of files that no parser reads.
func sources(req Request) map[string][]byte {
	kept := map[string][]byte{}
	for name, content := range req.Files {
		switch ext := path.Ext(name); {
		case name == req.Entrypoint:
		case req.Language == runtimes.Bash && (ext == ".sh" || ext == ".bash"):
		case (req.Language == runtimes.JavaScript || req.Language == runtimes.TypeScript) && strings.Contains(".js.mjs.cjs.jsx.ts.mts.cts.tsx.json.", ext+".") && ext != "":
		default:
			content = nil // keep the name, so that an import of the file is rejected with the correct reason
		}
		kept[name] = content
	}
	for name, text := range req.Sources {
		kept[name] = []byte(text)
	}
	return kept
}

// read returns the report in the outcome of a worker. If the source made the worker fail, read returns a report with
// that failure as an error.
func read(ctx context.Context, outcome runtimes.Outcome, err error, req Request) (Report, error) {
	if err != nil {
		return Report{}, err
	}
	if e := outcome.Error; e != nil {
		if ctx.Err() != nil {
			return Report{}, &fault.Error{Code: fault.Cancelled, Message: "The inspection was cancelled.", Err: ctx.Err()}
		}
		return Report{Errors: []fault.Detail{{File: req.Entrypoint, Code: string(runtimes.SyntaxError), Message: complaint(e)}}}, nil
	}
	var found guest.Report
	if err := json.Unmarshal(outcome.Output, &found); err != nil {
		return Report{}, &fault.Error{Code: fault.Internal, Message: "The inspection failed.", Err: err}
	}
	// Data from a sandbox is untrusted, so check that its files and lines exist.
	return Report{Errors: known(found.Errors, req), Warnings: known(found.Warnings, req), Gaps: known(found.Gaps, req), Names: found.Names[req.Entrypoint], Module: found.Module}, nil
}

func complaint(e *runtimes.ProgramError) string {
	switch e.Type {
	case runtimes.Timeout:
		return "The source takes too long to parse. Make it smaller."
	case runtimes.MemoryLimit:
		return "The source needs too much memory to parse. Make it smaller or reduce its nesting."
	case runtimes.SyntaxError:
		return e.Message
	}
	return "The source cannot be parsed: " + e.Message
}

// known removes file, line and column from details whose file is not a file of the program.
func known(details []fault.Detail, req Request) []fault.Detail {
	for i, d := range details {
		if _, ok := req.Files[d.File]; !ok || d.Line < 0 || d.Column < 0 {
			details[i].File, details[i].Line, details[i].Column = "", 0, 0
		}
	}
	return details
}

// death returns the error for a worker whose parser overflowed the stack. It recognizes this by the worker's last
// output. For other ends it returns nil.
func death(exit sandbox.Exit) *runtimes.ProgramError {
	if strings.Contains(exit.Stderr, "stack overflow") || strings.Contains(exit.Stderr, "stack exceeds") {
		return &runtimes.ProgramError{Type: runtimes.SyntaxError, Message: "The source is nested too deeply."}
	}
	return nil
}

// checkPython checks the files by compiling them with CPython.
func (i *Inspector) checkPython(ctx context.Context, job runtimes.Job) (Report, error) {
	req := Request{Language: job.Language, Files: job.Files, Entrypoint: job.Entrypoint}
	if i.python == nil {
		return Report{}, &fault.Error{Code: fault.RuntimeUnavailable, Message: "Python is not available on this server."}
	}
	if _, ok := job.Files[job.Entrypoint]; !ok {
		return Report{Errors: []fault.Detail{{Code: "missing_entry", Message: "The entrypoint does not exist."}}}, nil
	}
	outcome, err := i.compile(ctx, job, []string{job.Entrypoint})
	return read(ctx, outcome, err, req)
}

// compile checks the files of a job with CPython. entries are the entrypoints among them.
func (i *Inspector) compile(ctx context.Context, job runtimes.Job, entries []string) (runtimes.Outcome, error) {
	var imports []string
	if job.Rules != nil {
		imports = rules.Imports(*job.Rules)
	}
	startMessage, err := json.Marshal(map[string]any{"entries": entries, "rules": imports})
	if err != nil {
		return runtimes.Outcome{}, err
	}
	return i.python.pool.Run(ctx, worker.Task{
		Job: job,
		Payload: program.Job{
			Argv: []string{i.python.interpreter.Path, "-I", "-S", "-B", "-X", "utf8", "-c", rules.Source() + checker}, Env: program.Environment(),
			Files: scripts(job, entries), Start: startMessage, Largest: job.Limits.OutputBytes, Rlimits: program.LimitsOf(job.Limits, pythonStack),
		},
		Interpret: func(result frames.Result) frames.Result {
			said, err := program.ReadReport(result)
			if result.Error != nil || err != nil || said.End == nil {
				return frames.Result{Error: &runtimes.ProgramError{Type: runtimes.SyntaxError, Message: "Python's parser failed on this source."}}
			}
			return frames.Result{Output: said.End}
		},
	}, silent{})
}

// scripts returns the files that CPython compiles: the entrypoints and all .py files.
func scripts(job runtimes.Job, entries []string) map[string][]byte {
	kept := map[string][]byte{}
	for name, content := range job.Files {
		if slices.Contains(entries, name) || path.Ext(name) == ".py" {
			kept[name] = content
		}
	}
	return kept
}

// askBash lets Bash check the scripts that this package's parser rejects. A script that Bash accepts may be published.
// All scripts are checked in one sandbox, because starting a sandbox for each script would take too long.
func (i *Inspector) askBash(ctx context.Context, job runtimes.Job, report Report) (Report, error) {
	files, names := map[string][]byte{}, []string{}
	for _, problem := range report.Errors {
		if _, again := files[problem.File]; again || problem.Code != guest.CodeSyntax || problem.File == "" {
			continue
		}
		files[problem.File] = job.Files[problem.File]
		names = append(names, problem.File)
	}
	if i.bash == nil || len(names) == 0 {
		return report, nil
	}
	outcome, err := i.bash.pool.Run(ctx, worker.Task{
		Job: job,
		Payload: program.Job{
			Argv: append([]string{i.bash.interpreter.Path, "--noprofile", "--norc", "-c", bashChecker, "bash"}, names...), Env: program.Environment(),
			Files: files, Largest: job.Limits.OutputBytes, Rlimits: program.LimitsOf(job.Limits, 0),
		},
		Interpret: func(result frames.Result) frames.Result {
			said, err := program.ReadReport(result)
			if result.Error != nil || err != nil || said.End == nil {
				return frames.Result{Error: &runtimes.ProgramError{Type: runtimes.SyntaxError, Message: "Bash failed on this source."}}
			}
			return frames.Result{Output: said.End}
		},
	}, silent{})
	var taken []int
	switch {
	case err != nil:
		return report, err
	case ctx.Err() != nil:
		return Report{}, &fault.Error{Code: fault.Cancelled, Message: "The inspection was cancelled.", Err: ctx.Err()}
	case outcome.Error != nil || json.Unmarshal(outcome.Output, &taken) != nil:
		report.Warnings = append(report.Warnings, fault.Detail{Code: guest.CodeSyntax, Message: "Bash could not check these files in the available time and memory. Make them smaller."})
		return report, nil
	}
	return pardon(report, names, taken), nil
}

// bashChecker is a script that parses each file with Bash and prints the indexes of the accepted files.
const bashChecker = `n=0 taken=
for file; do
  "$BASH" --noprofile --norc -n -- "$file" </dev/null >/dev/null 2>&1 3>&- && taken+=${taken:+,}$n
  n=$((n + 1))
done
echo "{\"end\":[$taken]}" >&3`

// pardon changes errors to warnings if Bash accepts their file. taken holds the indexes of these files in names.
func pardon(report Report, names []string, taken []int) Report {
	fine := map[string]bool{}
	for _, n := range taken {
		if n >= 0 && n < len(names) {
			fine[names[n]] = true
		}
	}
	var kept []fault.Detail
	for _, problem := range report.Errors {
		if problem.Code == guest.CodeSyntax && fine[problem.File] {
			report.Warnings = append(report.Warnings, problem)
		} else {
			kept = append(kept, problem)
		}
	}
	report.Errors = kept
	return report
}

// Close ends all workers and waits for their end.
func (i *Inspector) Close() {
	i.parsers.Close()
	for _, l := range []*language{i.python, i.bash} {
		if l != nil {
			l.pool.Close()
		}
	}
}

// silent is the host of a worker that makes no host calls.
type silent struct{}

func (silent) Emit(runtimes.Event) {}

func (silent) Call(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return nil, &runtimes.CallError{Code: "denied", Message: "Host calls are not available during an inspection."}
}
