package doctor

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/attacks"
	"github.com/atelier-run/atelier/runtimes/sandbox"
)

// tenantPort is the port on which the first workspace's program listens. The port is always free, because every network
// namespace has its own ports.
const tenantPort = 28_433

// tenants runs programs of two workspaces at the same time. The first program opens a port and an abstract socket and
// takes locks. The second program tries to reach them.
func (d *Doctor) tenants(ctx context.Context, engines []Engine) {
	for _, e := range engines {
		text := attacks.Source(e.Language, "tenant")
		if text == "" {
			continue
		}
		for name, isolation := range map[string]runtimes.Isolation{"": "", ", strict": runtimes.Strict} {
			d.meet(ctx, e, text, name, isolation)
		}
	}
}

// meet runs the two programs with an isolation setting and records the checks.
func (d *Doctor) meet(ctx context.Context, e Engine, text, name string, isolation runtimes.Isolation) {
	abstract := "atelier-tenants-" + rand.Text()
	of := func(workspace string, first bool) runtimes.Job {
		return job(e, text, input(map[string]any{"first": first, "port": tenantPort, "name": abstract}), func(j *runtimes.Job) {
			j.Workspace, j.Isolation = Workspace+"-"+workspace, isolation
			j.Limits.TimeoutMs = runtimes.DefaultCeilings().TimeoutMs
		})
	}
	first, cancel := context.WithCancel(ctx)
	host, ended := newRecorder(), make(chan struct{})
	var offered trial
	go func() {
		defer close(ended)
		offered.outcome, offered.err = e.Runtime.Run(first, of("first", true), host)
	}()
	defer func() {
		cancel()
		<-ended
	}()
	host.await(ctx, "ready", ended)
	looked := run(ctx, e, of("second", false))
	why := looked.failure()
	select {
	case <-ended:
		why = "the first workspace's program ended: " + offered.failure()
	default:
	}
	for _, c := range judgeTenants(looked.stdout, why) {
		c.Name, c.Language = c.Name+name, e.Language
		if c.Verdict == Fail && why != "" {
			c.Fix = d.remedyOfEngine(e)
		}
		d.add(c)
	}
}

// judgeTenants returns the checks for the output of the second program, which has the same form as the output of a
// search. why is the reason if the output is incomplete, otherwise "".
func judgeTenants(stdout, why string) []Check {
	tried, reached := searched(stdout)
	var checks []Check
	for _, place := range []struct{ name, mechanism string }{
		{"ports", ""}, {"abstract sockets", sandbox.Seccomp}, {"locks", sandbox.Seccomp}, {"maps", ""},
	} {
		c := Check{Group: Canaries, Name: place.name + " between workspaces", Verdict: Fail, Mechanism: place.mechanism, Fix: ask}
		switch {
		case why != "":
			c.Evidence, c.Mechanism = "The program failed: "+why, ""
		case len(reached[place.name]) > 0:
			c.Evidence = "two workspaces can communicate by " + strings.Join(reached[place.name], ", ")
		case tried[place.name] == 0 && place.name == "maps":
			c.Evidence, c.Mechanism = "Unknown: programs have no /proc.", sandbox.Proc
		case tried[place.name] == 0:
			c.Evidence = "the program reported nothing"
		default:
			c.Verdict, c.Evidence, c.Fix = Pass, fmt.Sprintf("two workspaces cannot communicate by %s", plural(tried[place.name], "way", "ways")), ""
		}
		checks = append(checks, c)
	}
	return checks
}
