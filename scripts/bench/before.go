package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/atelier-run/atelier/scripts/load"
)

// beforeTurns is the number of times that each of the two builds is measured.
const beforeTurns = 7

// earlier compares the CPU time and the rate of small runs with an earlier build. It measures the two builds
// alternately, so that a change of the machine's speed affects both.
func (b *bench) earlier(ctx context.Context) (s section, err error) {
	s.title = "Compared with an earlier build, in turns, 8 at once"
	before, err := load.Start(ctx, load.Options{Binary: b.before})
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, before.Stop()) }()
	for _, language := range []string{"javascript", "python", "bash"} {
		p := helloIn(language)
		if err := errors.Join(b.server.Ensure(ctx, p), before.Ensure(ctx, p)); err != nil {
			return s, err
		}
		var times, speeds []float64
		var sums [2]cell
		for turn := range beforeTurns {
			var cells [2]cell
			for n := range cells {
				n = (n + turn) % 2 // the builds alternate in being measured first
				server := []*load.Server{before, b.server}[n]
				ask := server.Checked(p)
				load.Closed(ctx, 8, b.span/8, ask) // this sample is not counted, because it warms up the server
				cells[n] = b.observeOf(server, func() *load.Sample { return load.Closed(ctx, 8, b.span/2, ask) })
				if len(cells[n].Times) == 0 {
					return s, fmt.Errorf("%s: no run was answered", language)
				}
			}
			times, speeds = append(times, cells[1].cpu/cells[0].cpu), append(speeds, cells[1].PerSecond()/cells[0].PerSecond())
			if turn == beforeTurns/2 {
				sums = cells
			}
		}
		slices.Sort(times)
		slices.Sort(speeds)
		s.rows = append(s.rows, row{
			what:     language,
			measured: fmt.Sprintf("%.2f ms CPU a run, before %.2f ms; %.0f/s, before %.0f/s", sums[1].cpu, sums[0].cpu, sums[1].PerSecond(), sums[0].PerSecond()),
			floor: fmt.Sprintf("%.2f × the CPU (%.2f to %.2f), %.2f × the runs a second, medians of %d turns",
				times[beforeTurns/2], times[beforeTurns/4], times[beforeTurns-1-beforeTurns/4], speeds[beforeTurns/2], beforeTurns),
		})
	}
	return s, ctx.Err()
}
