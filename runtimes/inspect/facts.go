package inspect

import (
	"context"
	_ "embed" // the analysis of Python
	"encoding/json"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/frames"
	"github.com/atelier-run/atelier/runtimes/inspect/guest"
	"github.com/atelier-run/atelier/runtimes/sandbox/program"
	"github.com/atelier-run/atelier/runtimes/worker"
)

//go:embed facts.py
var analysis string

// Facts holds the facts about a program. Errors explain why there are none or not all.
type Facts struct {
	Facts  []runtimes.Fact
	Cut    int // number of facts that are left out
	Errors []fault.Detail
}

// factsBytes bounds the answer of one analysis.
const factsBytes = 16 << 20

// Facts lists the facts about a program without running it. It returns an error only if the server failed.
func (i *Inspector) Facts(ctx context.Context, req Request) (Facts, error) {
	job := runtimes.Job{RunID: "facts", Workspace: shared, Language: req.Language, Files: req.Files, Entrypoint: req.Entrypoint, Limits: limits()}
	job.Limits.OutputBytes = factsBytes
	var outcome runtimes.Outcome
	var err error
	switch req.Language {
	case runtimes.Python:
		outcome, err = i.pythonFacts(ctx, job)
	case runtimes.WASM:
		job.Limits.MemoryBytes = moduleMemory
		fallthrough
	default:
		outcome, err = i.parsers.Run(ctx, worker.Task{
			Job: job, Payload: guest.Job{Language: req.Language, Files: sources(req), Entrypoint: req.Entrypoint, Facts: true}, Death: death,
		}, silent{})
	}
	report, err := read(ctx, outcome, err, req)
	if err != nil || len(outcome.Output) == 0 {
		return Facts{Errors: report.Errors}, err
	}
	var found guest.Report
	if err := json.Unmarshal(outcome.Output, &found); err != nil {
		return Facts{}, &fault.Error{Code: fault.Internal, Message: "The analysis failed.", Err: err}
	}
	return Facts{Facts: checkedFacts(found.Facts, req), Cut: max(found.Cut, 0), Errors: report.Errors}, nil
}

// checkedFacts removes positions that are not in the program's files, because a worker's answer is untrusted.
func checkedFacts(facts []runtimes.Fact, req Request) []runtimes.Fact {
	facts = facts[:min(len(facts), runtimes.MaxFacts)]
	for n, f := range facts {
		if _, ok := req.Files[f.File]; !ok || f.Line < 1 || f.Column < 1 {
			facts[n].File, facts[n].Line, facts[n].Column = req.Entrypoint, 1, 1
		}
	}
	return facts
}

// pythonFacts analyses with the ast module of CPython.
func (i *Inspector) pythonFacts(ctx context.Context, job runtimes.Job) (runtimes.Outcome, error) {
	if i.python == nil {
		return runtimes.Outcome{}, &fault.Error{Code: fault.RuntimeUnavailable, Message: "Python is not available on this server."}
	}
	start, err := json.Marshal(map[string]any{"entries": []string{job.Entrypoint}, "most": runtimes.MaxFacts})
	if err != nil {
		return runtimes.Outcome{}, err
	}
	return i.python.pool.Run(ctx, worker.Task{
		Job: job,
		Payload: program.Job{
			Argv: []string{i.python.interpreter.Path, "-I", "-S", "-B", "-X", "utf8", "-c", analysis}, Env: program.Environment(),
			Files: scripts(job, []string{job.Entrypoint}), Start: start, Largest: job.Limits.OutputBytes, Rlimits: program.LimitsOf(job.Limits, pythonStack),
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
