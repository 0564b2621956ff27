package inspect

import (
	"context"
	"encoding/json"
	"path"
	"strconv"
	"strings"

	"github.com/atelier-run/atelier/internal/fault"
	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/inspect/guest"
)

// Bounds of the programs that share a process of Python.
const (
	together      = 32
	togetherBytes = 4 << 20
	// mostFound is where the checker stops to look: what was found up to there may not be all.
	mostFound = 50
)

// CheckAll says of each program what Check would. Most of what the inspection of a small program in Python costs is the start of
// the interpreter, so one process looks at many. Programs under rules are none of them: nobody else's source should lie beside
// what decides whether the rules are kept.
func (i *Inspector) CheckAll(ctx context.Context, programs []Request) ([]Report, error) {
	reports := make([]Report, len(programs))
	var batch []int
	bytes := 0
	flush := func() error {
		defer func() { batch, bytes = nil, 0 }()
		return i.checkTogether(ctx, programs, batch, reports)
	}
	for n, p := range programs {
		if _, ok := p.Files[p.Entrypoint]; p.Language != runtimes.Python || p.Rules != nil || i.python == nil || !ok {
			var err error
			if reports[n], err = i.Check(ctx, p); err != nil {
				return nil, err
			}
			continue
		}
		size := 0
		for _, content := range p.Files {
			size += len(content)
		}
		if len(batch) == together || bytes+size > togetherBytes {
			if err := flush(); err != nil {
				return nil, err
			}
		}
		batch, bytes = append(batch, n), bytes+size
	}
	return reports, flush()
}

// checkTogether inspects programs of Python in one process, each in a folder of its own. If that does not end well, each has
// a process to itself: one of them may be what no parser bears.
func (i *Inspector) checkTogether(ctx context.Context, programs []Request, batch []int, reports []Report) error {
	if len(batch) > 1 {
		done, err := i.compileTogether(ctx, programs, batch, reports)
		if err != nil || done {
			return err
		}
	}
	for _, n := range batch {
		var err error
		if reports[n], err = i.Check(ctx, programs[n]); err != nil {
			return err
		}
	}
	return nil
}

func (i *Inspector) compileTogether(ctx context.Context, programs []Request, batch []int, reports []Report) (bool, error) {
	job := runtimes.Job{RunID: "inspect", Workspace: shared, Language: runtimes.Python, Files: map[string][]byte{}, Limits: limits()}
	var entries []string
	for at, n := range batch {
		for name, content := range programs[n].Files {
			job.Files[path.Join(strconv.Itoa(at), name)] = content
		}
		entries = append(entries, path.Join(strconv.Itoa(at), programs[n].Entrypoint))
	}
	job.Entrypoint = entries[0]
	outcome, err := i.compile(ctx, job, entries)
	if err != nil || outcome.Error != nil {
		return false, err
	}
	var found guest.Report
	if json.Unmarshal(outcome.Output, &found) != nil || len(found.Errors) >= mostFound || len(found.Warnings) >= mostFound {
		return false, nil
	}
	for at, n := range batch {
		folder := strconv.Itoa(at) + "/"
		reports[n] = Report{
			Errors: known(within(folder, found.Errors), programs[n]), Warnings: known(within(folder, found.Warnings), programs[n]), Names: found.Names[entries[at]],
		}
	}
	return true, nil
}

// within are the details about files of a folder, by their names in it.
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
