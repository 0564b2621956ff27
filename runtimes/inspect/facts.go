package inspect

import (
	"context"
	_ "embed" // the program that analyses Python
	"encoding/json"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/inspect/guest"
	"github.com/atelier-run/atelier/runtimes/worker"
)

//go:embed facts.py
var analysis string

// Facts holds the facts about a program. If facts are missing, Errors contains the reasons.
type Facts struct {
	Facts  []runtimes.Fact
	Cut    int // number of facts that are left out
	Errors []fault.Detail
}

// factsBytes is the maximum size of the answer of one analysis, in bytes.
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

// checkedFacts checks the positions of facts, because a worker's answer is untrusted. It replaces positions outside of
// the program's files with the start of the entrypoint.
func checkedFacts(facts []runtimes.Fact, req Request) []runtimes.Fact {
	facts = facts[:min(len(facts), runtimes.MaxFacts)]
	for n, f := range facts {
		if _, ok := req.Files[f.File]; !ok || f.Line < 1 || f.Column < 1 {
			facts[n].File, facts[n].Line, facts[n].Column = req.Entrypoint, 1, 1
		}
	}
	return facts
}

// analysisFile is the name of the analysis among the files of its run.
const analysisFile = "facts.py"

// pythonFacts analyses a program with the ast module of CPython. The analysis is itself a Python program that runs in
// the Python engine, because starting an interpreter for each analysis would take longer than the analysis.
func (i *Inspector) pythonFacts(ctx context.Context, job runtimes.Job) (runtimes.Outcome, error) {
	if i.programs == nil {
		return runtimes.Outcome{}, &fault.Error{Code: fault.RuntimeUnavailable, Message: "Python is not available on this server."}
	}
	files := map[string]string{}
	for name, content := range scripts(job, []string{job.Entrypoint}) {
		files[name] = latin1(content)
	}
	job.Files, job.Entrypoint, job.CodeDigest = map[string][]byte{analysisFile: []byte(analysis)}, analysisFile, analysisFile
	var err error
	// The first run gets no files, so that no untrusted source is parsed in the process that compiles the analysis.
	if !i.compiled.Load() {
		if job.Input, err = analysisInput(nil); err == nil {
			compiled, failed := i.programs.Run(ctx, job, silent{})
			i.compiled.Store(failed == nil && compiled.Error == nil) // if the run failed, the next analysis tries again
		}
	}
	if job.Input, err = analysisInput(files); err != nil {
		return runtimes.Outcome{}, err
	}
	job.KeepsNoCode = true
	return i.programs.Run(ctx, job, silent{})
}

func analysisInput(files map[string]string) ([]byte, error) {
	if files == nil {
		files = map[string]string{}
	}
	return json.Marshal(map[string]any{"files": files, "most": runtimes.MaxFacts})
}

// latin1 returns a string with one character from U+0000 to U+00FF for each byte. This is needed because a JSON string
// cannot contain source in encodings other than UTF-8.
func latin1(content []byte) string {
	all := make([]rune, len(content))
	for n, b := range content {
		all[n] = rune(b)
	}
	return string(all)
}
