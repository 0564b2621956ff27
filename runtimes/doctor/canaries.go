package doctor

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"

	"github.com/atelier-run/atelier/runtimes"
	"github.com/atelier-run/atelier/runtimes/attacks"
)

// canaries creates secrets on the host and in another run. Then it runs programs that search for these secrets in all
// known ways.
func (d *Doctor) canaries(ctx context.Context, engines []Engine) {
	g, err := plantGarden(ctx)
	if err != nil {
		d.add(Check{Group: Canaries, Name: "canaries", Verdict: Fail, Evidence: err.Error(), Fix: "Make the folder for temporary files writable and enable the loopback interface."})
		return
	}
	defer func() { _ = g.close() }() // if the removal fails, only a temporary folder remains
	neighbours := newNeighbour(ctx, engines)
	defer neighbours.end()
	for _, e := range engines {
		if text := attacks.Source(e.Language, "canaries"); text != "" {
			d.search(ctx, e, text, g, neighbours)
		}
	}
}

func (d *Doctor) search(ctx context.Context, e Engine, text string, g *garden, n *neighbour) {
	g.visits.Store(0)
	text = strings.ReplaceAll(text, "@FILE@", g.file) // inserts the path into programs that need it in their source
	t := run(ctx, e, job(e, text, input(map[string]any{"file": g.file, "abstract": g.abstract, "tcp": g.tcp, "udp": g.udp, "addresses": addresses(), "usr": g.usr})))
	if wrong := t.failure(); wrong != "" {
		d.add(Check{Group: Canaries, Name: "a search", Language: e.Language, Verdict: Fail, Evidence: "The program failed: " + wrong, Fix: d.remedyOfEngine(e)})
		return
	}
	for _, c := range judgeSearch(t.stdout, found{secrets: map[string]string{"environment": d.Planted.Secret, "file": g.secret, usrCanary: g.secret, "other run": n.secret}, visits: g.visits.Load()}) {
		c.Language = e.Language
		if c.Name == "other run" && !n.alive() {
			c.Verdict, c.Evidence, c.Fix = Fail, "the other run ended before the search finished: "+n.why(), d.remedyOfEngine(e)
		}
		d.add(c)
	}
}

// found holds the planted secrets and how many connections the decoy listener received.
type found struct {
	secrets map[string]string
	visits  int64
}

// searched parses the output of a search. Its lines have the form "canary <tab> way <tab> refused|reached <tab>
// detail".
func searched(stdout string) (tried map[string]int, reached map[string][]string) {
	tried, reached = map[string]int{}, map[string][]string{}
	for line := range strings.Lines(stdout) {
		parts := strings.SplitN(strings.TrimRight(line, "\n"), "\t", 4)
		if len(parts) < 3 {
			continue
		}
		tried[parts[0]]++
		if parts[2] != "refused" {
			reached[parts[0]] = append(reached[parts[0]], parts[1])
		}
	}
	return tried, reached
}

// judgeSearch returns the checks for the output of a search. It does not rely on the program's report: a check also
// fails if a secret is anywhere in the output, or if a connection was counted.
func judgeSearch(stdout string, f found) []Check {
	tried, reached := searched(stdout)
	for name, secret := range f.secrets {
		if secret != "" && strings.Contains(stdout, secret) {
			reached[name] = append(reached[name], "its secret is in the output")
		}
	}
	if f.visits > 0 {
		reached["network"] = append(reached["network"], plural(int(f.visits), "visit", "visits")+" to a listener on the host")
	}
	var checks []Check
	for _, name := range []string{"environment", "file", usrCanary, "network", "abstract socket", "other run"} {
		switch {
		case len(reached[name]) > 0:
			checks = append(checks, Check{Group: Canaries, Name: name, Verdict: Fail, Evidence: "reached by " + strings.Join(cutList(reached[name], 6), ", "), Fix: ask})
		case tried[name] > 0:
			checks = append(checks, Check{Group: Canaries, Name: name, Verdict: Pass, Evidence: fmt.Sprintf("not reached by %s", plural(tried[name], "way", "ways"))})
		}
	}
	if len(checks) == 0 {
		checks = append(checks, Check{Group: Canaries, Name: "a search", Verdict: Fail, Evidence: "the program reported nothing", Fix: ask})
	}
	return checks
}

// neighbour is another run that contains a secret and is active during the search.
type neighbour struct {
	secret string
	cancel context.CancelFunc
	ended  chan struct{}
	host   *recorder
	trial  trial
	engine bool
}

func newNeighbour(ctx context.Context, engines []Engine) *neighbour {
	n := &neighbour{secret: rand.Text(), ended: make(chan struct{}), host: newRecorder(), cancel: func() {}}
	for _, e := range engines {
		text := attacks.Source(e.Language, "neighbour")
		if text == "" {
			continue
		}
		n.engine = true
		ctx, n.cancel = context.WithCancel(ctx)
		j := job(e, text, input(map[string]string{"secret": n.secret}), func(j *runtimes.Job) {
			j.Limits.TimeoutMs = runtimes.DefaultCeilings().TimeoutMs
			j.Environment = map[string]string{"NEIGHBOUR": n.secret}
		})
		go func() {
			defer close(n.ended)
			n.trial.outcome, n.trial.err = e.Runtime.Run(ctx, j, n.host)
		}()
		n.host.await(ctx, "ready", n.ended)
		return n
	}
	close(n.ended)
	return n
}

func (n *neighbour) alive() bool {
	select {
	case <-n.ended:
		return !n.engine
	default:
		stdout, _ := n.host.text()
		return strings.Contains(stdout, "ready")
	}
}

func (n *neighbour) why() string {
	select {
	case <-n.ended:
		return n.trial.failure()
	default:
		return "it did not start"
	}
}

func (n *neighbour) end() {
	n.cancel()
	<-n.ended
}
