package inspect

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/inspect/guest"
)

// Limits of the programs that one Python process checks: their number and their total bytes.
const (
	together      = 32
	togetherBytes = 4 << 20
	// mostFound is the number of findings after which the checker stops. A list of that length may be incomplete.
	mostFound = 50
)

// Result is the result of Check for one of several programs.
type Result struct {
	Report Report
	Err    error // error of the server while it checked this program
}

// CheckAll returns the result of Check for each program. One process checks many Python programs, because starting the
// interpreter takes longer than checking a small program. Programs with rules are checked separately: another program
// in the same process could hide a violation of the rules.
func (i *Inspector) CheckAll(ctx context.Context, programs []Request) []Result {
	results := make([]Result, len(programs))
	var batch []int
	bytes := 0
	flush := func() {
		i.checkTogether(ctx, programs, batch, results)
		batch, bytes = nil, 0
	}
	for n, p := range programs {
		if _, ok := p.Files[p.Entrypoint]; p.Language != runtimes.Python || p.Rules != nil || i.python == nil || !ok {
			results[n] = i.alone(ctx, p)
			continue
		}
		size := 0
		for _, content := range p.Files {
			size += len(content)
		}
		if len(batch) == together || bytes+size > togetherBytes {
			flush()
		}
		batch, bytes = append(batch, n), bytes+size
	}
	flush()
	return results
}

func (i *Inspector) alone(ctx context.Context, program Request) Result {
	report, err := i.Check(ctx, program)
	return Result{Report: report, Err: err}
}

// checkTogether checks Python programs in one process, each in its own folder. If the process fails, checkTogether
// checks each program in a separate process, because one of the programs may have crashed the parser.
func (i *Inspector) checkTogether(ctx context.Context, programs []Request, batch []int, results []Result) {
	if len(batch) > 1 && i.compileTogether(ctx, programs, batch, results) {
		return
	}
	for _, n := range batch {
		results[n] = i.alone(ctx, programs[n])
	}
}

func (i *Inspector) compileTogether(ctx context.Context, programs []Request, batch []int, results []Result) bool {
	job := runtimes.Job{RunID: "inspect", Workspace: shared, Language: runtimes.Python, Files: map[string][]byte{}, Limits: limits()}
	var entries []string
	for at, n := range batch { // a name that leads out of its folder is not changed here, because the sandbox rejects it
		for name, content := range programs[n].Files {
			job.Files[folder(at)+name] = content
		}
		entries = append(entries, folder(at)+programs[n].Entrypoint)
	}
	job.Entrypoint = entries[0]
	outcome, err := i.compile(ctx, job, entries)
	if err != nil || outcome.Error != nil {
		return false
	}
	var found guest.Report
	if json.Unmarshal(outcome.Output, &found) != nil || len(found.Errors) >= mostFound || len(found.Warnings) >= mostFound {
		return false
	}
	for at, n := range batch {
		results[n].Report = Report{
			Errors: known(within(folder(at), found.Errors), programs[n]), Warnings: known(within(folder(at), found.Warnings), programs[n]), Names: found.Names[entries[at]],
		}
	}
	return true
}

// folder returns the folder of the program at an index among several programs.
func folder(at int) string { return strconv.Itoa(at) + "/" }

// within returns the details about files in a folder, with file names relative to the folder.
func within(folder string, details []fault.Detail) []fault.Detail {
	inside := []fault.Detail{}
	for _, d := range details {
		if name, ok := strings.CutPrefix(d.File, folder); ok {
			d.File = name
			inside = append(inside, d)
		}
	}
	return inside
}
