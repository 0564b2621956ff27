package doctor

import (
	"context"
	"fmt"
	"time"

	"github.com/atelier-run/atelier/runtimes/sandbox"
)

// controls runs an ordinary program in each language and checks that it works, because a sandbox that blocks everything
// would pass all other checks. It returns the engines that work; only these are checked further.
func (d *Doctor) controls(ctx context.Context) []Engine {
	var able []Engine
	for _, e := range d.Engines {
		if e.Unavailable != "" {
			d.add(Check{Group: Controls, Name: "an ordinary program", Language: e.Language, Verdict: Reduced, Evidence: "This language is not available here.", Fix: e.Unavailable})
			continue
		}
		if d.control(ctx, e) {
			able = append(able, e)
		}
	}
	return able
}

func (d *Doctor) control(ctx context.Context, e Engine) bool {
	t, wrong := hello(ctx, e)
	c := Check{Group: Controls, Name: "an ordinary program", Language: e.Language, Verdict: verdict(wrong == "")}
	c.Evidence = fmt.Sprintf("It printed, returned and exited in %s; isolation: %s.", milliseconds(t.took), t.outcome.Level)
	if wrong != "" {
		c.Evidence, c.Fix = "It failed: "+wrong, d.remedyOfEngine(e)
	}
	d.add(c)
	return wrong == ""
}

// remedyOfEngine returns the fix for a language in which no program runs.
func (d *Doctor) remedyOfEngine(e Engine) string {
	if level := d.Box.Level(); level.Level == sandbox.LevelNone && len(level.Lacks) > 0 {
		return level.Lacks[0].Remedy
	}
	if e.Interpreter == "" {
		return "Start the server with --log-level=debug and read the worker's last output in the log."
	}
	return fmt.Sprintf("Make sure that %s runs for an ordinary user with access to /usr only, or set another interpreter with --%s.", e.Interpreter, e.Language)
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}
