package inspect

import (
	"context"
	_ "embed" // the analysis of Python
	"encoding/json"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/inspect/guest"
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

// analysisFile is the name of the analysis among the files of its run.
const analysisFile = "facts.py"

// pythonFacts analyses with the ast module of CPython, in a program that runs like the programs of users. A new
// interpreter for each analysis would take longer than the analysis.
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
	if !i.compiled.Load() { // without files, so that the process that compiles the analysis parses no untrusted source
		if job.Input, err = analysisInput(nil); err == nil {
			compiled, failed := i.programs.Run(ctx, job, silent{})
			i.compiled.Store(failed == nil && compiled.Error == nil) // otherwise the next analysis tries again
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

// latin1 returns a string with the character U+0000 to U+00FF for each byte, because source in another encoding has no
// form in JSON.
func latin1(content []byte) string {
	all := make([]rune, len(content))
	for n, b := range content {
		all[n] = rune(b)
	}
	return string(all)
}
