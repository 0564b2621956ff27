package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/attacks"
)

// crash is a program that crashes its interpreter or its parser.
type crash struct {
	name, text string
	memory     int64
}

const nesting = 200_000

// crashesIn returns programs that crash an interpreter of a language.
func crashesIn(language runtimes.Language) []crash {
	// With much memory the stack overflows first; with little memory the memory limit is reached first.
	const little, much = 96 << 20, 512 << 20
	all := []crash{{"nested brackets", brackets(language), much}}
	for _, c := range []struct {
		name, program string
		memory        int64
	}{
		{"segmentation fault", "segfault", little},
		{"killing all visible processes", "massacre", little},
		{"native stack overflow", "stack", much},
		{"a text of 1 TiB", "tebibyte", little},
		{"running out of memory", "memory", little},
	} {
		if text := attacks.Source(language, c.program); text != "" {
			all = append(all, crash{c.name, text, c.memory})
		}
	}
	return all
}

func brackets(language runtimes.Language) string {
	switch language {
	case runtimes.Python:
		return "x = " + strings.Repeat("(", nesting)
	case runtimes.Bash:
		return strings.Repeat("(", nesting)
	default:
		return strings.Repeat("[", nesting)
	}
}

// crashes makes interpreters and parsers crash. The run must report an error, and the next run must work.
func (d *Doctor) crashes(ctx context.Context, engines []Engine) {
	for _, e := range engines {
		for _, c := range crashesIn(e.Language) {
			if ctx.Err() == nil {
				d.add(d.contain(ctx, e, c))
			}
		}
		if e.Language != Node { // not for Node: its programs are parsed by the same parser as those for goja
			d.parse(ctx, e)
		}
	}
}

func (d *Doctor) contain(ctx context.Context, e Engine, c crash) Check {
	t := run(ctx, e, job(e, c.text, func(j *runtimes.Job) {
		j.Limits.MemoryBytes, j.Limits.TimeoutMs = c.memory, 2*programTimeout.Milliseconds()
	}))
	_, wrong := hello(ctx, e)
	check := judgeCrash(c.name, t, wrong)
	check.Language = e.Language
	return check
}

// judgeCrash returns the check for a run that should crash. next is the error of the run after the crash, or "" if that
// run succeeded.
func judgeCrash(name string, t trial, next string) Check {
	c := Check{Group: Crashes, Name: name, Verdict: Fail, Fix: ask}
	switch {
	case t.err != nil:
		c.Evidence = "the server failed: " + t.err.Error()
	case t.outcome.Error == nil:
		c.Evidence = "nothing crashed, so the test is inconclusive"
	case t.kind() == runtimes.Timeout:
		c.Evidence = "it did not crash within its time"
	case next != "":
		c.Evidence = "the next run failed: " + next
	default:
		c.Verdict, c.Evidence = Pass, fmt.Sprintf("%s after %s; the next run works", t.kind(), t.took.Round(time.Millisecond))
	}
	return c
}

// parse passes the nested brackets to the inspection of programs, which parses them without running them.
func (d *Doctor) parse(ctx context.Context, e Engine) {
	if d.Inspect == nil {
		return
	}
	c := Check{Group: Crashes, Name: "nested brackets, only parsed", Language: e.Language, Verdict: Fail, Fix: ask}
	began := time.Now()
	look := func(text string) error {
		ctx, cancel := context.WithTimeout(ctx, programTimeout)
		defer cancel()
		name := entrypoint(e.Language)
		return d.Inspect(ctx, e.Language, map[string][]byte{name: []byte(text)}, name)
	}
	err := look(brackets(e.Language))
	took := time.Since(began).Round(time.Millisecond)
	if err != nil {
		c.Evidence = "the server failed: " + err.Error()
	} else if err := look(attacks.Source(e.Language, "hello")); err != nil {
		c.Evidence = "the next inspection failed: " + err.Error()
	} else {
		c.Verdict, c.Evidence = Pass, fmt.Sprintf("answered after %s; the next inspection works", took)
	}
	d.add(c)
}
