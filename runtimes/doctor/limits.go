package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/attacks"
)

// overtime is the maximum delay between a time limit and the end of the run.
const overtime = time.Second

// limit is a limit of runs, with a program that reaches it.
type limit struct {
	name    string
	program string // name of the program in the catalogue of attacks
	want    []runtimes.ErrorType
	says    string // text that the error's message or stderr must contain; set if the error type has several causes
	edit    func(*runtimes.Limits)
	cpu     bool // true for a limit of CPU time
}

func theLimits() []limit {
	small := func(l *runtimes.Limits) { l.MemoryBytes, l.DiskBytes = 64<<20, 8<<20 }
	return []limit{
		{name: "wall time", program: "sleep", want: []runtimes.ErrorType{runtimes.Timeout}, edit: func(l *runtimes.Limits) { l.TimeoutMs = 500 }},
		{name: "CPU time", program: "spin", want: []runtimes.ErrorType{runtimes.Timeout}, says: "CPU time", cpu: true, edit: func(l *runtimes.Limits) { l.CPUMs = 300 }},
		{name: "memory", program: "memory", want: []runtimes.ErrorType{runtimes.MemoryLimit}, edit: small},
		{name: "memory at once", program: "gulp", want: []runtimes.ErrorType{runtimes.MemoryLimit}, edit: small},
		{name: "processes", program: "forks", want: []runtimes.ErrorType{runtimes.ProcessLimit}, edit: func(l *runtimes.Limits) { l.Processes, l.TimeoutMs = 16, 3000 }},
		{name: "output", program: "flood", want: []runtimes.ErrorType{runtimes.OutputLimit}},
		{name: "result", program: "result", want: []runtimes.ErrorType{runtimes.OutputLimit}},
		{name: "disk", program: "disk", want: []runtimes.ErrorType{runtimes.DiskLimit}, edit: small},
		{name: "files on disk", program: "inodes", want: []runtimes.ErrorType{runtimes.DiskLimit}, edit: small},
		{name: "open files", program: "open", want: []runtimes.ErrorType{runtimes.RuntimeError}, says: "oo many open files"},
		{name: "recursion", program: "recursion", want: []runtimes.ErrorType{runtimes.RecursionLimit}},
	}
}

// limits runs a program for each limit. The run must end in time, with the error of the limit.
func (d *Doctor) limits(ctx context.Context, engines []Engine) {
	for _, e := range engines {
		for _, l := range theLimits() {
			if text := attacks.Source(e.Language, l.program); text != "" && ctx.Err() == nil {
				d.add(d.reach(ctx, e, l, text))
			}
		}
	}
}

func (d *Doctor) reach(ctx context.Context, e Engine, l limit, text string) Check {
	j := job(e, text, func(j *runtimes.Job) {
		if l.edit != nil {
			l.edit(&j.Limits)
		}
	})
	c := judgeLimit(l, j.Limits, run(ctx, e, j))
	c.Language = e.Language
	if c.Verdict == Pass {
		if _, wrong := hello(ctx, e); wrong != "" {
			c.Verdict, c.Evidence, c.Fix = Fail, c.Evidence+"; but the next run failed: "+wrong, ask
		}
	}
	return c
}

// judgeLimit returns the check for a run that should reach a limit.
func judgeLimit(l limit, limits runtimes.Limits, t trial) Check {
	c := Check{Group: Limits, Name: l.name, Verdict: Fail, Fix: ask}
	most := limits.Timeout() + overtime
	took, unit := t.outcome.Usage.Run, ""
	if l.cpu {
		most, took, unit = limits.CPU()+overtime, t.outcome.Usage.CPU, " of CPU time"
	}
	switch kind := t.kind(); {
	case t.err != nil:
		c.Evidence, c.Fix = "the server failed: "+t.err.Error(), "Read the server's log with --log-level=debug."
	case kind == "":
		c.Evidence = "the program was not stopped"
	case !slices.Contains(l.want, kind):
		c.Evidence = fmt.Sprintf("it ended with %s instead of %s: %s", kind, l.want[0], firstLine(t.outcome.Error.Message))
	case l.says != "" && !strings.Contains(t.outcome.Error.Message+t.stderr, l.says):
		c.Evidence = fmt.Sprintf("it ended with %s for another reason: %s", kind, firstLine(t.outcome.Error.Message))
	case took > most:
		c.Evidence = fmt.Sprintf("it ended with %s, but after %s%s (allowed: %s)", kind, took.Round(time.Millisecond), unit, most)
		c.Fix = "Run it again if this machine is busy. Otherwise: " + ask
	default:
		c.Verdict, c.Fix = Pass, ""
		c.Evidence = fmt.Sprintf("%s after %s%s", kind, took.Round(time.Millisecond), unit)
		if l.name == "memory" || l.name == "memory at once" {
			c.Evidence += fmt.Sprintf(", peak %d MiB", t.outcome.Usage.PeakMemory>>20)
		}
	}
	return c
}
