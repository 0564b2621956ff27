package doctor

import (
	"context"
	"fmt"
	"slices"
	"time"
)

const (
	samples   = 20
	slowStart = time.Second // maximum acceptable time of a program that does nothing
)

// speed runs the ordinary program of each language several times in sequence.
func (d *Doctor) speed(ctx context.Context, engines []Engine) {
	for _, e := range engines {
		c := d.clock(ctx, e)
		c.Language = e.Language
		d.add(c)
	}
}

func (d *Doctor) clock(ctx context.Context, e Engine) Check {
	var starts, totals []time.Duration
	for range samples {
		t, wrong := hello(ctx, e)
		if wrong != "" {
			return Check{Group: Speed, Name: "start", Verdict: Fail, Evidence: "It failed: " + wrong, Fix: d.remedyOfEngine(e)}
		}
		starts, totals = append(starts, t.outcome.Usage.Start), append(totals, t.took)
	}
	return judgeSpeed(starts, totals)
}

func judgeSpeed(starts, totals []time.Duration) Check {
	slices.Sort(starts)
	slices.Sort(totals)
	c := Check{Group: Speed, Name: "start", Verdict: Pass, Evidence: fmt.Sprintf("start p50 %s, p95 %s; whole run p50 %s, p95 %s, of %d",
		milliseconds(percentile(starts, 50)), milliseconds(percentile(starts, 95)),
		milliseconds(percentile(totals, 50)), milliseconds(percentile(totals, 95)), len(totals))}
	if percentile(starts, 95) > slowStart {
		c.Verdict, c.Fix = Reduced, "Run it again on a machine that is less busy, or give the server more processors."
	}
	return c
}

func percentile(sorted []time.Duration, p int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)*p/100, len(sorted)-1)]
}
