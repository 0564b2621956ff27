package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/atelier-run/atelier/scripts/load"
)

// cell is a sample with the CPU time that was used during its measurement.
type cell struct {
	*load.Sample
	cpu    float64 // CPU time of the server and its child processes per run, in milliseconds
	others float64 // number of CPU cores used by processes other than the server and this process
}

func (c cell) String() string {
	text := fmt.Sprintf("p50 %.2f  p99 %.2f ms  %.0f/s", c.At(0.5), c.At(0.99), c.PerSecond())
	if c.Wrong > 0 {
		text += fmt.Sprintf("  %d WRONG", c.Wrong)
	}
	return text
}

// cost describes the CPU time per run as text, for rows that miss their target.
func (c cell) cost() string {
	if c.cpu <= 0 { // the CPU time is not known: when a fork server is replaced, the CPU time of its children is lost
		return "CPU a run not known, a fork server ended meanwhile"
	}
	return fmt.Sprintf("%.2f ms CPU a run, others used %.1f cores", c.cpu, c.others)
}

// most estimates the maximum number of runs per second, if the clients used no CPU time of this machine.
func (c cell) most() string {
	if c.cpu <= 0 {
		return c.cost()
	}
	return fmt.Sprintf("%s: %d processors do %.0f/s of these at most, clients left out", c.cost(), runtime.NumCPU(), 1000*float64(runtime.NumCPU())/c.cpu)
}

// observe calls take for a sample of the shared server, and measures the CPU time used during the sample.
func (b *bench) observe(take func() *load.Sample) cell { return b.observeOf(b.server, take) }

// observeOf is like observe for another server, which a section has started.
func (b *bench) observeOf(server *load.Server, take func() *load.Sample) cell {
	tree, all, own := load.LookAt(server.Pid()).CPU, load.Busy(), load.OwnCPU()
	c := cell{Sample: take()}
	tree, all, own = load.LookAt(server.Pid()).CPU-tree, load.Busy()-all, load.OwnCPU()-own
	c.cpu = load.Ms(tree) / float64(max(1, len(c.Times)))
	c.others = max(0, (all-tree-own).Seconds()/c.Span.Seconds())
	b.faults = errors.Join(b.faults, c.Fault)
	return c
}

// hello measures the smallest program of a language with every kind of request.
func (b *bench) hello(language string) func(context.Context) (section, error) {
	return func(ctx context.Context) (section, error) {
		p := helloIn(language)
		if err := b.server.Publish(ctx, p); err != nil {
			return section{}, err
		}
		ask := b.server.Checked(p)
		s := section{title: "Hello in " + language + ": HTTP, schemas, jail, durable record, all included"}
		for _, clients := range []int{1, 8, 50} {
			load.Closed(ctx, clients, time.Second, ask) // this sample is not counted, because another section measures cold pools
			c := b.observe(func() *load.Sample { return load.Closed(ctx, clients, b.span, ask) })
			r := row{what: fmt.Sprintf("%d at once", clients), measured: c.String()}
			s.rows = append(s.rows, b.verdict(language, clients, c, r))
		}
		for _, rate := range []float64{5, 50} {
			c := b.observe(func() *load.Sample { return load.Paced(ctx, rate, b.span, ask) })
			s.rows = append(s.rows, b.compared(row{what: fmt.Sprintf("%.0f a second", rate), measured: c.String()}, language, c))
		}
		return s, ctx.Err()
	}
}

func helloIn(language string) load.Program {
	for _, p := range load.Hello() {
		if p.Language == language {
			return p
		}
	}
	panic("no program in " + language) // the error is a bug in this package
}

// compared adds to a row the ratio of the measured time to the lower bound of the language.
func (b *bench) compared(r row, language string, c cell) row {
	f := b.floors
	switch language {
	case "javascript":
		r.floor = fmt.Sprintf("%.2f × (HTTP + insert)", c.At(0.5)/(f.http+f.insert))
	case "python":
		r.floor = fmt.Sprintf("%.2f × bare python", c.At(0.5)/f.python)
	default:
		r.floor = fmt.Sprintf("%.2f × bare bash", c.At(0.5)/f.bash)
	}
	return r
}

// verdict compares the value of a row with the required value.
func (b *bench) verdict(language string, clients int, c cell, r row) row {
	f := b.floors
	switch {
	case clients == 1:
		r = b.compared(r, language, c)
		bars := map[string]bar{
			"javascript": {must: 3 * (f.http + f.insert), aim: 1.5 * (f.http + f.insert), unit: "ms", of: "3 × (HTTP + insert)"},
			"python":     {must: 0.35 * f.python, aim: f.bash, unit: "ms", of: "0.35 × bare python"},
			"bash":       {must: 3 * f.bash, aim: 1.5 * f.bash, unit: "ms", of: "3 × bare bash"},
		}
		floors := map[string]string{
			"javascript": fmt.Sprintf("HTTP and insert %.2f ms", f.http+f.insert),
			"python":     fmt.Sprintf("a process in new namespaces %.2f ms", f.namespaces),
			"bash":       fmt.Sprintf("a process in new namespaces %.2f ms, the shell %.2f ms", f.namespaces, f.bash),
		}
		return bars[language].judge(r, c.At(0.5), c.cost()+"; floors: "+floors[language])
	case clients == 8 && language == "javascript":
		return bar{must: 5000, aim: 8000, least: true, unit: "/s"}.judge(r, c.PerSecond(), c.most())
	case clients == 8 && language == "python":
		return bar{must: 600, aim: 1000, least: true, unit: "/s"}.judge(r, c.PerSecond(), c.most())
	}
	r.verdict = c.cost()
	return r
}

// burst repeatedly requests fifty runs at once, in several languages.
func (b *bench) burst(ctx context.Context) (section, error) {
	const runs = 50
	programs := load.Hello()
	var calls []load.Call
	for _, p := range programs {
		if err := b.server.Ensure(ctx, p); err != nil {
			return section{}, err
		}
		calls = append(calls, b.server.Checked(p))
	}
	var refused load.Refusals
	c := b.observe(func() *load.Sample {
		return load.Bursts(ctx, b.rounds, runs, refused.Allow(func(ctx context.Context, n int) error { return calls[n%len(calls)](ctx, n) }))
	})
	r := row{what: fmt.Sprintf("%d bursts of %d", b.rounds, runs), measured: fmt.Sprintf("%s, %d lost, %d refused with Retry-After", c, c.Wrong, refused.Count())}
	return section{title: "Fifty runs at once, languages mixed", rows: []row{
		bar{must: 150, aim: 60, unit: "ms p99"}.judge(r, c.At(0.99), c.cost()),
	}}, ctx.Err()
}
