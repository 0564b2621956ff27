// Command bench measures a real server. It compares the server with lower bounds of the machine: a minimal HTTP answer,
// a durable insert, plain interpreters, and a process in separate namespaces. Only ratios within one execution of the
// command are meaningful. The input varies, and every answer is compared with the expected one.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/atelier-run/atelier/scripts/load"
)

// options holds the values of the command line flags.
type options struct {
	binary string
	before string // earlier build for the comparison; "" for none
	only   []string
	span   time.Duration // duration of one measurement
	rounds int           // number of repetitions of measurements without a fixed duration
	quick  bool
	write  string

	history history // size of the registry in the registry's section
}

func main() {
	var o options
	flag.StringVar(&o.binary, "binary", "bin/atelier", "the server to measure")
	flag.StringVar(&o.before, "before", "", "a server of an earlier build, to compare small runs with")
	only := flag.String("only", "", "sections to measure, comma separated: js,python,bash,before,skills,gate,mcp,infer,projects,packages,loop,cold,socket,burst,start,memory,registry,studio,replicas,kafka,peers; all without it")
	flag.BoolVar(&o.quick, "quick", false, "about a minute for everything, with more noise")
	flag.StringVar(&o.write, "write", "", "also write the table as Markdown to this file; with -only, replace these sections there")
	alone := flag.Bool("bare", false, "be the HTTP server that the floor is measured with")
	flag.Parse()
	if *alone {
		if err := bare(); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	o.span, o.rounds, o.history = 4*time.Second, 10, history{agents: 10_000, runs: 1_000_000}
	if o.quick {
		o.span, o.rounds, o.history = time.Second, 3, history{agents: 1_000, runs: 100_000}
	}
	if *only != "" {
		o.only = strings.Split(*only, ",")
	}
	signal.Ignore(syscall.SIGPIPE) // otherwise `make bench | head` would end this process and leave the server behind
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// bench holds the state of one execution of this command: its server, the lower bounds and the results.
type bench struct {
	options
	server *load.Server
	floors floors
	table  table
	faults error // wrong and missing answers; the measurement continues, but the command fails at the end
}

func run(ctx context.Context, o options) (err error) {
	b := &bench{options: o}
	if b.server, err = load.Start(ctx, load.Options{Binary: o.binary}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.server.Stop()) }()
	if b.floors, err = measureFloors(ctx, o.span, b.server.Client); err != nil {
		return err
	}
	b.table.print(b.floors.section())
	for _, part := range []struct {
		name    string
		measure func(context.Context) (section, error)
	}{
		{"js", b.hello("javascript")}, {"python", b.hello("python")}, {"bash", b.hello("bash")}, {"before", b.earlier}, {"skills", b.skills}, {"gate", b.gate}, {"mcp", b.mcp}, {"infer", b.infer}, {"projects", b.projects}, {"packages", b.packages}, {"loop", b.loop},
		{"cold", b.cold}, {"socket", b.socket}, {"burst", b.burst}, {"start", b.start}, {"memory", b.memory}, {"registry", b.registry}, {"studio", b.studio}, {"replicas", b.replicas}, {"kafka", b.kafka}, {"peers", b.peers},
	} {
		if len(o.only) > 0 && !slices.Contains(o.only, part.name) || part.name == "before" && o.before == "" {
			continue
		}
		measured, err := part.measure(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
		b.table.print(measured)
	}
	if o.write != "" && ctx.Err() == nil {
		if len(o.only) > 0 {
			b.faults = errors.Join(b.faults, b.table.replace(o.write))
		} else {
			b.faults = errors.Join(b.faults, b.table.write(ctx, o.write, b.server.Client))
		}
	}
	return errors.Join(b.faults, ctx.Err())
}
