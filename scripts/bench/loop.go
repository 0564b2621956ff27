package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/atelier-run/atelier/scripts/load"
)

// loop measures CPU-bound JavaScript in each engine, and compares it with isolated-vm.
func (b *bench) loop(ctx context.Context) (section, error) {
	s := section{title: "CPU-bound JavaScript (a million rounds)"}
	peer, sample, err := b.loopOfPeer(ctx, &s)
	if err != nil {
		return s, err
	}
	for _, way := range []struct {
		name, runtime string
		must, aim     float64 // required ratio to the peer; 0 means no requirement
		clients       int     // number of clients; 0 means 5 requests per second
	}{
		{"goja, 5 a second", "goja", 0, 0, 0},
		{"node, prepared, 5 a second", "node", 2.5, 1.2, 0},
		{"node, prepared, 2 at once", "node", 0, 0, 2},
	} {
		p := load.Loop()
		p.Name, p.Runtime = "loop-"+way.runtime, way.runtime
		if err := b.server.Ensure(ctx, p); err != nil {
			s.rows = append(s.rows, row{what: way.name, measured: "left out", verdict: err.Error()})
			continue
		}
		ask := b.server.Checked(p)
		c := b.observe(func() *load.Sample {
			if way.clients == 0 {
				return load.Paced(ctx, 5, b.span, ask)
			}
			return load.Closed(ctx, way.clients, b.span, ask)
		})
		r := row{what: way.name, measured: c.String(), verdict: c.cost()}
		if sample > 0 {
			r.floor = fmt.Sprintf("%.1f × %s", c.At(0.5)/sample, peer)
		}
		if way.must > 0 && sample > 0 {
			r = bar{must: way.must * sample, aim: way.aim * sample, unit: "ms p50", of: fmt.Sprintf("%s × %s", short(way.must), peer)}.judge(r, c.At(0.5), c.cost())
		}
		s.rows = append(s.rows, r)
	}
	return s, ctx.Err()
}

// loopOfPeer measures isolated-vm. If isolated-vm is not available, it measures node:vm. If neither can run, it adds a
// row that names the missing dependency.
func (b *bench) loopOfPeer(ctx context.Context, s *section) (name string, p50 float64, err error) {
	program := load.Loop()
	program.Code = strings.TrimPrefix(program.Code, "export default ")
	for _, p := range []peer{{name: "isolated-vm", start: b.startIsolated}, {name: "bare node:vm", start: startContexts}} {
		err := within(ctx, p, func(client load.Client) error {
			sample := load.Closed(ctx, 1, b.span/2, asked(client, program))
			p50 = sample.At(0.5)
			s.rows = append(s.rows, row{what: p.name + ", 1 at once", measured: cell{Sample: sample}.String()})
			return sample.Fault
		})
		if err == nil {
			return p.name, p50, nil
		}
		s.rows = append(s.rows, row{what: p.name, measured: "left out", verdict: err.Error()})
	}
	return "", 0, ctx.Err()
}

func startContexts(ctx context.Context) (*exec.Cmd, error) {
	dir, err := cache("contexts")
	if err != nil {
		return nil, err
	}
	script := filepath.Join(dir, "server.js")
	if err := os.WriteFile(script, contextsJS, 0o600); err != nil {
		return nil, err
	}
	return exec.CommandContext(ctx, "node", script), nil
}
